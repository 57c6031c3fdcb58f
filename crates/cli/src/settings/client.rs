//! What names and values mean: where the cluster is, TLS, SASL. The names are those of Java's clients and of librdkafka.

use std::path::{Path, PathBuf};

use milepost_client::{Login, Mechanism, NameCheck, Roots, Security, Tls, TlsOptions};

use super::profile::CLIENT_CONFIG;
use super::{Said, properties};
use crate::failure::Failure;

/// What was understood.
#[derive(Debug, Default)]
pub(crate) struct ClientSettings {
    /// Where the cluster is.
    pub(crate) bootstrap: Option<String>,
    /// What the program calls itself.
    pub(crate) client_id: Option<String>,
    /// How connections are protected.
    pub(crate) security: Security,
}

/// A folder of the user's, as the XDG base directory specification names it.
pub(crate) fn home_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let said = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    said.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(below_home)))
}

impl ClientSettings {
    /// Understands names and values. Names that say nothing about how to connect are passed over: such a file also has
    /// what consumers and producers need.
    pub(crate) fn of(mut said: Said) -> Result<Self, Failure> {
        if let Some(path) = said.remove(CLIENT_CONFIG) {
            let mut below = properties(Path::new(&path))?;
            below.append(&mut said);
            said = below;
        }
        understand(&said).map_err(Failure::Usage)
    }
}

fn understand(said: &Said) -> Result<ClientSettings, String> {
    let first = |names: &[&str]| names.iter().find_map(|name| said.get(*name)).cloned();
    let protocol = first(&["security.protocol"]).unwrap_or_else(|| "PLAINTEXT".to_owned());
    let (encrypted, authenticated) = match protocol.to_ascii_uppercase().as_str() {
        "PLAINTEXT" => (false, false),
        "SSL" => (true, false),
        "SASL_PLAINTEXT" => (false, true),
        "SASL_SSL" => (true, true),
        _ => {
            return Err(format!(
                "security.protocol={protocol} is none of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"
            ));
        }
    };
    let tls = if encrypted { Some(tls(said)?) } else { None };
    let login = if authenticated { Some(login(said)?) } else { None };
    Ok(ClientSettings {
        bootstrap: first(&["bootstrap.servers", "metadata.broker.list"]),
        client_id: first(&["client.id"]),
        security: Security { tls, login },
    })
}

fn login(said: &Said) -> Result<Login, String> {
    let name = said.get("sasl.mechanism").or_else(|| said.get("sasl.mechanisms"));
    let name = name.ok_or("sasl.mechanism is missing")?;
    let mechanism = Mechanism::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(name));
    let mechanism = mechanism.ok_or_else(|| {
        format!("sasl.mechanism={name} is not spoken, but PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512")
    })?;
    let jaas = said.get("sasl.jaas.config");
    let part = |name: &str| {
        let plain = said.get(&format!("sasl.{name}")).cloned();
        plain.or_else(|| jaas_option(jaas?, name)).ok_or_else(|| format!("sasl.{name} is missing"))
    };
    Ok(Login { mechanism, user: part("username")?, password: part("password")? })
}

/// The value of an option in `…LoginModule required username="u" password="p";`.
fn jaas_option(jaas: &str, name: &str) -> Option<String> {
    let mut rest = jaas;
    loop {
        let at = rest.find(name)?;
        let before = rest[..at].chars().next_back();
        let value = rest[at + name.len()..].trim_start().strip_prefix('=').map(str::trim_start);
        rest = &rest[at + name.len()..];
        let Some(value) = value.filter(|_| before.is_none_or(char::is_whitespace)) else { continue };
        let quoted = |quote: char| value.strip_prefix(quote)?.split_once(quote).map(|(inside, _)| inside);
        let plain = || value.split([' ', ';', '\t', '\n']).next();
        return quoted('"').or_else(|| quoted('\'')).or_else(plain).map(str::to_owned);
    }
}

fn tls(said: &Said) -> Result<Tls, String> {
    if said
        .get("enable.ssl.certificate.verification")
        .is_some_and(|value| value.eq_ignore_ascii_case("false"))
    {
        return Err(
            "enable.ssl.certificate.verification=false is not done: name the CA that signed the brokers' \
                    certificates (ssl.ca.location)"
                .to_owned(),
        );
    }
    if said.get("ssl.key.password").is_some_and(|password| !password.is_empty()) {
        return Err(
            "an encrypted private key is not read; decrypt it into a file that only you can read".to_owned()
        );
    }
    let roots = match pem(said, &["ssl.ca.pem", "ssl.truststore.certificates"], "ssl.ca.location")? {
        Some(pem) => Roots::Pem(pem),
        None => store(said, "truststore")?.map_or(Roots::System, Roots::Pem),
    };
    let certificates =
        pem(said, &["ssl.certificate.pem", "ssl.keystore.certificate.chain"], "ssl.certificate.location")?;
    let key = pem(said, &["ssl.key.pem", "ssl.keystore.key"], "ssl.key.location")?;
    let identity = match (certificates, key) {
        (Some(certificates), Some(key)) => Some((certificates, key)),
        (None, None) => store(said, "keystore")?.map(|both| (both.clone(), both)),
        _ => return Err("a client's certificate and its key belong together".to_owned()),
    };
    let name_check = match said.get("ssl.endpoint.identification.algorithm").map(String::as_str) {
        None | Some("https" | "HTTPS") => NameCheck::Required,
        Some("" | "none") => NameCheck::Skipped,
        Some(other) => return Err(format!("ssl.endpoint.identification.algorithm={other} is not known")),
    };
    Tls::new(&TlsOptions { roots, identity, name_check }).map_err(|error| error.to_string())
}

/// PEM that stands in the settings, or in a file that they name.
fn pem(said: &Said, inline: &[&str], location: &str) -> Result<Option<Vec<u8>>, String> {
    if let Some(text) = inline.iter().find_map(|name| said.get(*name)) {
        return Ok(Some(text.clone().into_bytes()));
    }
    said.get(location).map(|path| file(path)).transpose()
}

/// A store of Java's, if it is of the kind that is a PEM file.
fn store(said: &Said, which: &str) -> Result<Option<Vec<u8>>, String> {
    let Some(path) = said.get(&format!("ssl.{which}.location")) else { return Ok(None) };
    match said.get(&format!("ssl.{which}.type")) {
        Some(kind) if kind.eq_ignore_ascii_case("PEM") => file(path).map(Some),
        kind => {
            let kind = kind.map_or("JKS", String::as_str);
            Err(format!(
                "ssl.{which}.location is a {kind} store, and only PEM files are read (ssl.{which}.type=PEM)"
            ))
        }
    }
}

fn file(path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{path}: {error}"))
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
