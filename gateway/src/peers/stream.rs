//! The bytes of a link: plain, or under TLS by the certificates with which the server goes to the cluster.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::web::tls::{AuthClients, Tls, TlsFiles, client_config};

/// A stream of either kind.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// TLS of both ends of a link.
pub(super) struct LinkTls {
    accepts: Tls,
    connects: TlsConnector,
}

impl LinkTls {
    /// Reads the authority, the certificate and its key.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(super) fn load((authority, certificate, key): &(PathBuf, PathBuf, PathBuf)) -> io::Result<LinkTls> {
        let files = TlsFiles {
            certificate: certificate.clone(),
            key: key.clone(),
            authority: Some(authority.clone()),
            auth_clients: AuthClients::Yes,
        };
        let config = client_config(Some(authority), Some((certificate, key))).map_err(io::Error::other)?;
        let accepts = Tls::load(files).map_err(io::Error::other)?;
        Ok(LinkTls { accepts, connects: TlsConnector::from(Arc::new(config)) })
    }
}

/// The stream of a link that was accepted.
pub(super) async fn accepted(tls: Option<&LinkTls>, stream: TcpStream) -> io::Result<Box<dyn Stream>> {
    stream.set_nodelay(true)?;
    match tls {
        None => Ok(Box::new(stream)),
        Some(tls) => Ok(Box::new(tls.accepts.acceptor().accept(stream).await?)),
    }
}

/// The stream of a link that is made to this address.
pub(super) async fn connected(tls: Option<&LinkTls>, address: &str) -> io::Result<Box<dyn Stream>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    match tls {
        None => Ok(Box::new(stream)),
        Some(tls) => {
            let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
            let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
            let name = ServerName::try_from(host).map_err(io::Error::other)?;
            Ok(Box::new(tls.connects.connect(name, stream).await?))
        }
    }
}
