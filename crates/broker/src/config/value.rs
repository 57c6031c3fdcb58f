//! Values as text with a kind and a source, which is what Kafka's configuration APIs speak.

use std::collections::BTreeMap;

use super::settings::Setting;

/// What a value must look like. The names are those of Kafka's config types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// Free text.
    Text,
    /// A 32-bit number within bounds.
    Int {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// A 64-bit number within bounds.
    Long {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// A fraction from 0 to 1.
    Ratio,
    /// Words separated by commas, each from a set.
    List(&'static [&'static str]),
    /// One word from a set.
    OneOf(&'static [&'static str]),
}

impl Kind {
    /// Checks a value.
    ///
    /// # Errors
    /// What was expected instead, for people.
    pub fn check(self, value: &str) -> Result<(), String> {
        match self {
            Self::Text => Ok(()),
            Self::Boolean => match value {
                "true" | "false" => Ok(()),
                _ => Err("expected true or false".to_owned()),
            },
            Self::Int { min, max } | Self::Long { min, max } => match value.trim().parse::<i64>() {
                Ok(number) if (min..=max).contains(&number) => Ok(()),
                Ok(_) => Err(format!("expected a number from {min} to {max}")),
                Err(_) => Err("expected a whole number".to_owned()),
            },
            Self::Ratio => match value.trim().parse::<f64>() {
                Ok(number) if (0.0..=1.0).contains(&number) => Ok(()),
                _ => Err("expected a number from 0 to 1".to_owned()),
            },
            Self::List(words) => {
                let mut parts = value.split(',').map(str::trim).filter(|part| !part.is_empty());
                match parts.find(|part| !words.contains(part)) {
                    Some(part) => Err(format!("{part:?} is none of {}", words.join(", "))),
                    None => Ok(()),
                }
            }
            Self::OneOf(words) if words.contains(&value) => Ok(()),
            Self::OneOf(words) => Err(format!("expected one of {}", words.join(", "))),
        }
    }
}

/// Where a value came from, the strongest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The built-in default.
    Default,
    /// The configuration file.
    File,
    /// An environment variable.
    Environment,
    /// The command line.
    Flag,
}

/// The values that were set, by name. What is not here has its default.
#[derive(Clone, Debug, Default)]
pub struct Values(BTreeMap<&'static str, (String, Source)>);

impl Values {
    /// Sets a value unless a stronger source already did.
    pub(super) fn set(&mut self, setting: &'static Setting, value: String, source: Source) {
        match self.0.get(setting.name) {
            Some((_, stronger)) if *stronger > source => {}
            _ => {
                self.0.insert(setting.name, (value, source));
            }
        }
    }

    /// The value in force and where it came from.
    #[must_use]
    pub fn get(&self, setting: &Setting) -> (&str, Source) {
        match self.0.get(setting.name) {
            Some((value, source)) => (value, *source),
            None => (setting.default, Source::Default),
        }
    }
}
