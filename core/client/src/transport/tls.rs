//! TLS over a TCP connection, by rustls.

use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::error::{Error, Result};
use crate::options::Options;

/// The settings of TLS connections: the authorities of the options, or the system's, and the certificate of the client.
///
/// # Errors
/// The options have no certificate or no key in PEM, or the system has no authorities.
pub(crate) fn config(options: &Options) -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    match &options.tls_authorities {
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|error| Error::Invalid(error.to_string().into()))?;
                roots.add(certificate).map_err(|error| Error::Invalid(error.to_string().into()))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err(Error::Invalid("TLS without a certificate that is trusted".into()));
    }
    let settings = ClientConfig::builder().with_root_certificates(roots);
    let Some((certificates, key)) = &options.tls_identity else {
        return Ok(Arc::new(settings.with_no_client_auth()));
    };
    let invalid = |error: String| Error::Invalid(error.into());
    let certificates =
        CertificateDer::pem_slice_iter(certificates).collect::<std::result::Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| invalid(error.to_string()))?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| invalid(error.to_string()))?;
    let settings = settings.with_client_auth_cert(certificates, key);
    Ok(Arc::new(settings.map_err(|error| invalid(error.to_string()))?))
}

/// Encrypts a connection to `host`, whose certificate must be for that name.
///
/// # Errors
/// The certificate is not trusted or for another name, or the connection fails.
pub(crate) async fn encrypt(
    stream: TcpStream,
    host: &str,
    options: &Options,
) -> Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, format!("{host:?} is no name for TLS")))?;
    Ok(TlsConnector::from(config(options)?).connect(name, stream).await?)
}
