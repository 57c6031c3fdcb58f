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
    /// What was expected instead, for people, in Kafka's words: administrators see them in Kafka's own tools.
    pub fn check(self, value: &str) -> Result<(), String> {
        match self {
            Self::Text => Ok(()),
            Self::Boolean => match value {
                "true" | "false" => Ok(()),
                _ => Err("Expected value to be either true or false".to_owned()),
            },
            Self::Int { min, max } | Self::Long { min, max } => match value.trim().parse::<i64>() {
                Ok(number) if number < min => Err(format!("Value must be at least {min}")),
                Ok(number) if number > max => Err(format!("Value must be no more than {max}")),
                Ok(_) => Ok(()),
                Err(_) if matches!(self, Self::Int { .. }) => Err("Not a number of type INT".to_owned()),
                Err(_) => Err("Not a number of type LONG".to_owned()),
            },
            Self::Ratio => match value.trim().parse::<f64>() {
                Ok(number) if number < 0.0 => Err("Value must be at least 0".to_owned()),
                Ok(number) if number > 1.0 => Err("Value must be no more than 1".to_owned()),
                Ok(number) if !number.is_nan() => Ok(()),
                _ => Err("Not a number of type DOUBLE".to_owned()),
            },
            Self::List(words) => {
                let mut parts = value.split(',').map(str::trim).filter(|part| !part.is_empty());
                if parts.all(|part| words.contains(&part)) { Ok(()) } else { Err(one_of(words)) }
            }
            Self::OneOf(words) if words.contains(&value.trim()) => Ok(()),
            Self::OneOf(words) => Err(one_of(words)),
        }
    }
}

fn one_of(words: &[&str]) -> String {
    format!("String must be one of: {}", words.join(", "))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_value_is_said_as_kafka_says_it() {
        let cases = [
            (Kind::Boolean, "maybe", "Expected value to be either true or false"),
            (Kind::Int { min: 1, max: 9 }, "0", "Value must be at least 1"),
            (Kind::Int { min: 1, max: 9 }, "10", "Value must be no more than 9"),
            (Kind::Int { min: 1, max: 9 }, "soon", "Not a number of type INT"),
            (Kind::Long { min: 1, max: 9 }, "1.5", "Not a number of type LONG"),
            (Kind::Ratio, "3", "Value must be no more than 1"),
            (Kind::Ratio, "-0.5", "Value must be at least 0"),
            (Kind::Ratio, "NaN", "Not a number of type DOUBLE"),
            (Kind::List(&["a", "b"]), "a,c", "String must be one of: a, b"),
            (Kind::OneOf(&["a", "b"]), "c", "String must be one of: a, b"),
        ];
        for (kind, value, why) in cases {
            assert_eq!(kind.check(value), Err(why.to_owned()), "{kind:?} {value}");
        }
        let good = [(Kind::Ratio, "0.5"), (Kind::List(&["a", "b"]), ""), (Kind::OneOf(&["a"]), " a ")];
        for (kind, value) in good {
            assert_eq!(kind.check(value), Ok(()), "{kind:?} {value}");
        }
    }
}
