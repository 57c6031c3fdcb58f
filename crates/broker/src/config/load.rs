//! Where values come from: a TOML file, the environment, the command line; later ones win.

use std::path::Path;

use super::settings::{BROKER_SETTINGS, Setting};
use super::typed::BrokerSettings;
use super::unserved::{Unserved, unserved};
use super::value::{Source, Values};

/// Environment variables that set something begin with this.
const ENVIRONMENT_PREFIX: &str = "MILEPOST_";

/// Why the configuration was refused.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No such setting.
    #[error("unknown setting {name:?} ({place}){}", suggestion(.nearest))]
    Unknown {
        /// What was said.
        name: String,
        /// Where.
        place: String,
        /// The nearest known name.
        nearest: Option<&'static str>,
    },
    /// It asks for what this server does not do.
    #[error("{name} ({place}) is refused: {why}")]
    Refused {
        /// What was said.
        name: String,
        /// Where.
        place: String,
        /// The reason.
        why: &'static str,
    },
    /// The value does not fit.
    #[error("{name}={value}: {why}")]
    Value {
        /// The setting.
        name: String,
        /// The value.
        value: String,
        /// What is wrong with it.
        why: String,
    },
    /// The file cannot be read.
    #[error("cannot read the configuration file {path}: {why}")]
    File {
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// A `--set` without `=`.
    #[error("{said:?} is not key=value")]
    NotAPair {
        /// What was said.
        said: String,
    },
}

fn suggestion(nearest: &Option<&'static str>) -> String {
    nearest.map(|name| format!("; did you mean {name:?}?")).unwrap_or_default()
}

/// Gathers values from all sources.
#[derive(Debug, Default)]
pub struct Loader {
    values: Values,
    /// What was said and has no effect, for people.
    notices: Vec<String>,
}

impl Loader {
    /// Reads a TOML file: keys as Kafka spells them (`group.max.size = 100`), or nested tables of them.
    ///
    /// # Errors
    /// [`ConfigError`] when it cannot be read, is no TOML, or says something unknown.
    pub fn file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let fail = |why: String| ConfigError::File { path: path.display().to_string(), why };
        let text = std::fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| fail(error.to_string()))?;
        let mut pairs = Vec::new();
        flatten(String::new(), &toml::Value::Table(table), &mut pairs);
        for (name, value) in pairs {
            self.set(&name, value, Source::File, &format!("in {}", path.display()))?;
        }
        Ok(())
    }

    /// Takes `MILEPOST_GROUP_MAX_SIZE=100` and the like from the environment given.
    ///
    /// # Errors
    /// [`ConfigError`] when a variable with our prefix names no setting.
    pub fn environment(
        &mut self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<(), ConfigError> {
        for (variable, value) in variables {
            let Some(rest) = variable.strip_prefix(ENVIRONMENT_PREFIX) else { continue };
            let name = rest.to_ascii_lowercase().replace('_', ".");
            self.set(
                &name,
                value,
                Source::Environment,
                &format!("from the environment variable {variable}"),
            )?;
        }
        Ok(())
    }

    /// Takes one `key=value` of the command line.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn flag(&mut self, said: &str) -> Result<(), ConfigError> {
        let (name, value) =
            said.split_once('=').ok_or_else(|| ConfigError::NotAPair { said: said.to_owned() })?;
        self.set(name.trim(), value.trim().to_owned(), Source::Flag, "on the command line")
    }

    /// The settings in force.
    ///
    /// # Errors
    /// [`ConfigError`] where values contradict each other.
    pub fn finish(self) -> Result<BrokerSettings, ConfigError> {
        let notices = self.notices;
        BrokerSettings::from_values(self.values).map(|settings| BrokerSettings { notices, ..settings })
    }

    fn set(&mut self, name: &str, value: String, source: Source, place: &str) -> Result<(), ConfigError> {
        if let Some(entry) = unserved(name) {
            let (name, place) = (name.to_owned(), place.to_owned());
            return match entry.treatment {
                Unserved::Refused => Err(ConfigError::Refused { name, place, why: entry.why }),
                Unserved::WithoutEffect => {
                    self.notices.push(format!("{name} ({place}) has no effect: {}", entry.why));
                    Ok(())
                }
            };
        }
        let setting = find(name).ok_or_else(|| ConfigError::Unknown {
            name: name.to_owned(),
            place: place.to_owned(),
            nearest: nearest(name),
        })?;
        setting.kind.check(&value).map_err(|why| ConfigError::Value {
            name: name.to_owned(),
            value: value.clone(),
            why,
        })?;
        self.values.set(setting, value, source);
        Ok(())
    }
}

fn find(name: &str) -> Option<&'static Setting> {
    BROKER_SETTINGS.iter().find(|setting| setting.name == name)
}

/// The known name that reads most like `name`, if any comes near.
fn nearest(name: &str) -> Option<&'static str> {
    const SIMILAR_ENOUGH: f64 = 0.75;
    BROKER_SETTINGS
        .iter()
        .map(|setting| (strsim::jaro_winkler(name, setting.name), setting.name))
        .filter(|(score, _)| *score >= SIMILAR_ENOUGH)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, name)| name)
}

fn flatten(prefix: String, value: &toml::Value, pairs: &mut Vec<(String, String)>) {
    match value {
        toml::Value::Table(table) => {
            for (key, inner) in table {
                let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                flatten(name, inner, pairs);
            }
        }
        toml::Value::String(text) => pairs.push((prefix, text.clone())),
        toml::Value::Array(items) => {
            let words: Vec<String> = items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                .collect();
            pairs.push((prefix, words.join(",")));
        }
        other => pairs.push((prefix, other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::config::settings::broker_setting;

    #[test]
    fn a_flag_wins_over_the_environment_and_that_over_the_file() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "group.max.size = 7\nnum.partitions = 3\n\"node.id\" = 9").unwrap();
        let mut loader = Loader::default();
        loader.flag("num.partitions=5").unwrap();
        loader.environment([("MILEPOST_NUM_PARTITIONS".to_owned(), "4".to_owned())].into_iter()).unwrap();
        loader.file(file.path()).unwrap();
        let settings = loader.finish().unwrap();
        assert_eq!(settings.num_partitions, 5);
        assert_eq!(settings.node_id, 9);
        assert_eq!(settings.values.get(broker_setting("group.max.size")), ("7", Source::File));
    }

    #[test]
    fn an_unknown_key_names_the_nearest_known_one() {
        let error = Loader::default().flag("num.partition=3").unwrap_err().to_string();
        assert!(error.contains("did you mean \"num.partitions\"?"), "{error}");
        assert!(Loader::default().flag("novalue").is_err());
    }

    #[test]
    fn what_is_not_served_is_refused_with_the_reason_or_said_to_have_no_effect() {
        for name in
            ["group.share.max.size", "group.streams.session.timeout.ms", "offsets.commit.required.acks"]
        {
            let error = Loader::default().flag(&format!("{name}=1")).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("is refused: "), "{error}");
        }
        let mut loader = Loader::default();
        loader.flag("group.coordinator.threads=4").unwrap();
        let notices = loader.finish().unwrap().notices;
        assert_eq!(notices.len(), 1);
        assert!(notices[0].starts_with("group.coordinator.threads (on the command line) has no effect: "));
    }

    #[test]
    fn settings_that_ask_for_more_than_one_node_gives_are_refused() {
        for said in [
            "offsets.topic.replication.factor=3",
            "group.coordinator.append.linger.ms=5",
            "offsets.topic.compression.codec=5",
            "group.coordinator.rebalance.protocols=classic,streams",
            "group.coordinator.rebalance.protocols=share",
        ] {
            assert!(Loader::default().flag(said).is_err(), "{said}");
        }
        let mut loader = Loader::default();
        loader.flag("group.coordinator.rebalance.protocols=consumer").unwrap();
        assert!(loader.finish().unwrap_err().to_string().contains("classic"));
    }

    #[test]
    fn a_value_outside_its_bounds_is_refused_with_the_bound_it_breaks() {
        let error = Loader::default().flag("num.partitions=0").unwrap_err().to_string();
        assert!(error.contains("at least 1"), "{error}");
        let mut loader = Loader::default();
        loader.flag("group.min.session.timeout.ms=5000").unwrap();
        loader.flag("group.max.session.timeout.ms=4000").unwrap();
        assert!(loader.finish().is_err());
    }
}
