//! Certificates: read at the start, and again on SIGHUP.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

/// Why certificates cannot be used. For a person; names the file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(String);

/// Whether clients must show a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum AuthClients {
    /// Clients without one are refused.
    Yes,
    /// A certificate that a client shows must be valid.
    Optional,
    /// Clients are not asked for one.
    No,
}

/// The files of a server that speaks TLS; all in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The server's certificate and those between it and the root, in this order.
    pub certificate: PathBuf,
    /// Its key: PKCS #8, PKCS #1 or SEC 1.
    pub key: PathBuf,
    /// The authorities that sign clients' certificates.
    pub authority: Option<PathBuf>,
    /// Whether clients must show a certificate.
    pub auth_clients: AuthClients,
}

/// The certificates in use.
pub struct Tls {
    files: TlsFiles,
    config: RwLock<Arc<ServerConfig>>,
}

impl AuthClients {
    /// The word of CONFIG GET.
    pub fn word(self) -> &'static str {
        match self {
            AuthClients::Yes => "yes",
            AuthClients::Optional => "optional",
            AuthClients::No => "no",
        }
    }
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read or used; the error names it.
    pub fn load(files: TlsFiles) -> Result<Tls, TlsError> {
        let config = RwLock::new(configure(&files)?);
        Ok(Tls { files, config })
    }

    /// Reads the files again. Existing connections keep their certificates.
    ///
    /// # Errors
    /// A file cannot be read or used; the certificates in use stay.
    pub fn reload(&self) -> Result<(), TlsError> {
        *self.config.write() = configure(&self.files)?;
        Ok(())
    }

    /// Begins handshakes with the certificates now in use.
    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.read().clone())
    }
}

fn unusable(path: &Path, error: impl Display) -> TlsError {
    TlsError(format!("{}: {error}", path.display()))
}

fn configure(files: &TlsFiles) -> Result<Arc<ServerConfig>, TlsError> {
    let certificates = certificates(&files.certificate)?;
    let key = private_key(&files.key)?;
    let builder = match &files.authority {
        Some(path) if files.auth_clients != AuthClients::No => {
            let verifier = WebPkiClientVerifier::builder(Arc::new(roots(path)?));
            let verifier = match files.auth_clients {
                AuthClients::Optional => verifier.allow_unauthenticated(),
                _ => verifier,
            };
            ServerConfig::builder()
                .with_client_cert_verifier(verifier.build().map_err(|error| unusable(path, error))?)
        }
        _ => ServerConfig::builder().with_no_client_auth(),
    };
    let config =
        builder.with_single_cert(certificates, key).map_err(|error| unusable(&files.certificate, error))?;
    Ok(Arc::new(config))
}

/// The configuration of a client: it trusts this authority only, or those of the system, and shows the certificate with its key if there is one.
///
/// # Errors
/// A file cannot be read or used; the error names it.
pub fn client_config(
    authority: Option<&Path>,
    identity: Option<(&Path, &Path)>,
) -> Result<ClientConfig, TlsError> {
    let roots = match authority {
        Some(path) => roots(path)?,
        None => roots_of_system()?,
    };
    let config = ClientConfig::builder().with_root_certificates(roots);
    match identity {
        None => Ok(config.with_no_client_auth()),
        Some((certificate, key)) => config
            .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
            .map_err(|error| unusable(certificate, error)),
    }
}

/// The authorities that this system trusts.
fn roots_of_system() -> Result<RootCertStore, TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    match (usable, found.errors.first()) {
        (0, Some(error)) => Err(TlsError(format!("the system's certificates: {error}"))),
        (0, None) => Err(TlsError("the system has no certificates of authorities".into())),
        _ => Ok(roots),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| unusable(path, error))
}

fn roots(path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| unusable(path, error))?;
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => {
            Err(TlsError(format!("{}: there is no certificate in it", path.display())))
        }
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(TlsError(format!("{}: {error}", path.display()))),
    }
}
