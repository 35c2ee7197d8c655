//! Sockets of the operating system.

use std::io;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

use super::Transport;
use crate::error::Result;
use crate::options::Options;

/// An idle connection is probed after this time, and given up after three probes without an answer.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(15);

const KEEPALIVE_EVERY: Duration = Duration::from_secs(5);

/// Bytes that the peer does not acknowledge for so long mean that it is gone.
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(30);

/// The connection as it is, or with TLS if the options want it.
pub(crate) async fn encrypted(
    stream: TcpStream,
    host: &str,
    options: &Options,
) -> Result<Box<dyn Transport>> {
    if !options.tls {
        return Ok(Box::new(stream));
    }
    #[cfg(feature = "tls")]
    return Ok(Box::new(super::tls::encrypt(stream, host, options).await?));
    #[cfg(not(feature = "tls"))]
    {
        let _ = host;
        Err(crate::error::Error::Invalid("this build of the client has no TLS (feature `tls`)".into()))
    }
}

/// A connection that sends small requests at once and notices when its peer is gone.
pub(crate) async fn connect_tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    let socket = SockRef::from(&stream);
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_AFTER);
    #[cfg(any(target_os = "linux", target_os = "macos", target_os = "windows"))]
    let keepalive = keepalive.with_interval(KEEPALIVE_EVERY);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED_MAX))?;
    Ok(stream)
}
