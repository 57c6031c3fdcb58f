//! How connections are protected: TLS, and who says that they are asking.
//!
//! Certificates and keys come in as the text of PEM files; reading files is the caller's business.

use std::fmt;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
};

use crate::error::ClientError;

/// What holds for every connection to a cluster. By default neither.
#[derive(Clone, Debug, Default)]
pub struct Security {
    /// Encrypts, and checks who answers.
    pub tls: Option<Tls>,
    /// Says who is asking.
    pub login: Option<Login>,
}

/// A user, by one of SASL's mechanisms.
#[derive(Clone)]
pub struct Login {
    /// How the password is shown to be known.
    pub mechanism: Mechanism,
    /// Who.
    pub user: String,
    /// Their password. It is never printed.
    pub password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("mechanism", &self.mechanism)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// The mechanisms of SASL that are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// The password as it is, so only inside TLS.
    Plain,
    /// SCRAM-SHA-256: each side proves to the other that it knows the password.
    ScramSha256,
    /// The same with SHA-512.
    ScramSha512,
}

impl Mechanism {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Plain, Self::ScramSha256, Self::ScramSha512];

    /// Its name on the wire and in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

/// Which certificates are trusted to say who a broker is.
#[derive(Clone, Debug, Default)]
pub enum Roots {
    /// Those that the system trusts.
    #[default]
    System,
    /// Those in the text of a PEM file, and no others.
    Pem(Vec<u8>),
}

/// Whether the certificate must be for the name that was connected to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameCheck {
    /// It must.
    #[default]
    Required,
    /// Any that a trusted authority has signed will do.
    Skipped,
}

/// What TLS is made of.
#[derive(Clone, Debug, Default)]
pub struct TlsOptions {
    /// Who is trusted.
    pub roots: Roots,
    /// The client's own certificates and key, as the text of PEM files, for brokers that ask for them.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether the broker's name is checked.
    pub name_check: NameCheck,
}

/// TLS, ready for connections.
#[derive(Clone)]
pub struct Tls(Arc<ClientConfig>);

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// From certificates and keys.
    ///
    /// # Errors
    /// [`ClientError::Tls`] when they are none, or nobody at all is trusted.
    pub fn new(options: &TlsOptions) -> Result<Self, ClientError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = Arc::new(roots(&options.roots)?);
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(&error))?;
        let builder = match options.name_check {
            NameCheck::Required => builder.with_root_certificates(roots),
            NameCheck::Skipped => {
                let inner = WebPkiServerVerifier::builder_with_provider(roots, provider)
                    .build()
                    .map_err(|error| ClientError::Tls(error.to_string()))?;
                builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyName(inner)))
            }
        };
        let config = match &options.identity {
            None => builder.with_no_client_auth(),
            Some((certificates, key)) => {
                let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| {
                    ClientError::Tls(format!(
                        "the private key cannot be read (an encrypted one is not): {error}"
                    ))
                })?;
                builder
                    .with_client_auth_cert(certificates_of(certificates)?, key)
                    .map_err(|error| failed(&error))?
            }
        };
        Ok(Self(Arc::new(config)))
    }

    pub(crate) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }
}

fn failed(error: &TlsError) -> ClientError {
    ClientError::Tls(error.to_string())
}

fn certificates_of(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, ClientError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(found) if found.is_empty() => {
            Err(ClientError::Tls("there is no PEM certificate in it".to_owned()))
        }
        Ok(found) => Ok(found),
        Err(error) => Err(ClientError::Tls(format!("the certificates cannot be read: {error}"))),
    }
}

fn roots(roots: &Roots) -> Result<RootCertStore, ClientError> {
    let mut store = RootCertStore::empty();
    match roots {
        // A system may hold certificates that nobody can use any more; those it lacks are missed at the handshake.
        Roots::System => {
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if store.is_empty() {
                return Err(ClientError::Tls("the system trusts no certificate; name a CA file".to_owned()));
            }
        }
        Roots::Pem(pem) => {
            for certificate in certificates_of(pem)? {
                store.add(certificate).map_err(|error| failed(&error))?;
            }
        }
    }
    Ok(store)
}

/// Checks everything of a certificate but the name it is for, as `ssl.endpoint.identification.algorithm=` asks for.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        match self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(TlsError::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls12_signature(message, cert, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls13_signature(message, cert, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
