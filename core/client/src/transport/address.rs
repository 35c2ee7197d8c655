//! The way to each address.

use super::Transport;
use super::tcp::{connect_tcp, encrypted};
use crate::error::{Error, Result};
use crate::options::{Address, Options};

/// Connects to the server that the options name.
pub(crate) async fn connect(options: &Options) -> Result<Box<dyn Transport>> {
    match &options.address {
        Address::Tcp { host, port } => {
            let stream = connect_tcp(host, *port).await?;
            encrypted(stream, host, options).await
        }
        #[cfg(unix)]
        Address::Unix(path) => Ok(Box::new(tokio::net::UnixStream::connect(path).await?)),
        #[cfg(feature = "web-socket")]
        Address::WebSocket(url) => super::web_socket::connect(url, options).await,
        Address::Sentinel { master, sentinels } => super::sentinel::connect(master, sentinels, options).await,
        #[cfg(feature = "embedded")]
        Address::Directory(_) | Address::Memory => match &options.store {
            Some(store) => Ok(Box::new(super::embedded::connect(store))),
            None => Err(Error::Invalid("a store in this process is opened by Client::connect".into())),
        },
        #[allow(unreachable_patterns, reason = "with all features there is a way to each")]
        other => Err(Error::Invalid(format!("this build of the client has no way to {other:?}").into())),
    }
}
