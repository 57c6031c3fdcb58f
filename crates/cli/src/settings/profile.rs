//! Profiles: named clusters in a TOML file, below `[profiles.NAME]`, under the names of Kafka's clients.

use std::path::{Path, PathBuf};

use super::{Said, read};
use crate::failure::Failure;

/// What a path in a profile may be called besides Kafka's names: a properties file to begin with.
pub(super) const CLIENT_CONFIG: &str = "client.config";

/// Where the file is: in `$XDG_CONFIG_HOME/milepost`, else in `~/.config/milepost`.
pub(crate) fn config_path() -> Option<PathBuf> {
    Some(super::client::home_folder("XDG_CONFIG_HOME", ".config")?.join("milepost").join("config.toml"))
}

/// What a profile says.
pub(crate) fn profile(path: &Path, name: &str) -> Result<Said, Failure> {
    parse(&read(path)?, name).map_err(|why| Failure::Usage(format!("{}: {why}", path.display())))
}

/// The names of all profiles.
pub(crate) fn profiles(path: &Path) -> Result<Vec<String>, Failure> {
    let all = tables(&read(path)?).map_err(|why| Failure::Usage(format!("{}: {why}", path.display())))?;
    Ok(all.into_iter().map(|(name, _)| name).collect())
}

fn parse(text: &str, name: &str) -> Result<Said, String> {
    let profiles = tables(text)?;
    let Some(profile) = profiles.get(name).and_then(toml::Value::as_table) else {
        let known: Vec<&str> = profiles.keys().map(String::as_str).collect();
        return Err(format!("there is no [profiles.{name}]; it has: {}", known.join(", ")));
    };
    let mut said = Said::new();
    flatten("", profile, &mut said)?;
    Ok(said)
}

fn tables(text: &str) -> Result<toml::Table, String> {
    let mut document: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
    match document.remove("profiles") {
        Some(toml::Value::Table(profiles)) => Ok(profiles),
        _ => Ok(toml::Table::new()),
    }
}

/// `security.protocol` is a table in a table for TOML.
fn flatten(above: &str, table: &toml::Table, said: &mut Said) -> Result<(), String> {
    for (key, value) in table {
        let name = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            toml::Value::Table(below) => flatten(&name, below, said)?,
            toml::Value::String(text) => drop(said.insert(name, text.clone())),
            toml::Value::Integer(number) => drop(said.insert(name, number.to_string())),
            toml::Value::Boolean(flag) => drop(said.insert(name, flag.to_string())),
            _ => return Err(format!("{name} is neither text, a number, true nor false")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[profiles.prod]\nbootstrap.servers = \"a:9092\"\nsecurity.protocol = \"SASL_SSL\"\n\
        \"sasl.username\" = \"u\"\n[profiles.test]\nbootstrap.servers = \"b:1\"\n";

    #[test]
    fn a_profile_has_the_names_of_kafkas_clients() {
        let said = parse(FILE, "prod").unwrap();
        assert_eq!((said["bootstrap.servers"].as_str(), said["sasl.username"].as_str()), ("a:9092", "u"));
        assert_eq!(said.len(), 3);
    }

    #[test]
    fn a_profile_that_is_not_there_names_those_that_are() {
        assert!(parse(FILE, "no").unwrap_err().ends_with("it has: prod, test"));
        assert!(parse("[profiles.a]\nx = [1]\n", "a").unwrap_err().contains("x is neither"));
    }
}
