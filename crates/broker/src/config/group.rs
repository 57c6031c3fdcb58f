//! The table of settings that one group may have of its own, and the typed values a coordinator needs.

use std::collections::BTreeMap;

use milepost_groups::GroupConfig;

use super::settings::broker_setting;
use super::topic::VALUE_BYTES_MAX;
use super::value::{Kind, Values};

/// One setting of a group.
#[derive(Debug)]
pub struct GroupSetting {
    /// Its name, as Kafka spells it.
    pub name: &'static str,
    /// What a value must look like.
    pub kind: Kind,
    /// The broker setting that gives the default.
    pub synonym: &'static str,
    /// The broker settings that bound it.
    bounds: (&'static str, &'static str),
    /// What it does.
    pub documentation: &'static str,
}

const INT_MAX: i64 = i32::MAX as i64;

/// Every setting of a group that has an effect, sorted by name.
pub const GROUP_SETTINGS: &[GroupSetting] = &[
    GroupSetting {
        name: "consumer.assignment.interval.ms",
        kind: Kind::Int { min: 0, max: INT_MAX },
        synonym: "group.consumer.assignment.interval.ms",
        bounds: ("group.consumer.min.assignment.interval.ms", "group.consumer.max.assignment.interval.ms"),
        documentation: "How long after an assignment of the consumer group the next one is made at the earliest.",
    },
    GroupSetting {
        name: HEARTBEAT_INTERVAL,
        kind: Kind::Int { min: 1, max: INT_MAX },
        synonym: "group.consumer.heartbeat.interval.ms",
        bounds: ("group.consumer.min.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms"),
        documentation: "How often a member of the consumer group is told to say that it is alive.",
    },
    GroupSetting {
        name: SESSION_TIMEOUT,
        kind: Kind::Int { min: 1, max: INT_MAX },
        synonym: "group.consumer.session.timeout.ms",
        bounds: ("group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms"),
        documentation: "How long a member of the consumer group may be silent.",
    },
];

const SESSION_TIMEOUT: &str = "consumer.session.timeout.ms";
const HEARTBEAT_INTERVAL: &str = "consumer.heartbeat.interval.ms";

/// Settings that Kafka knows and that have nothing to act on here.
const OF_OTHER_GROUPS: [&str; 3] = ["share.", "streams.", "errors.deadletterqueue."];

/// A group's own values over the broker's.
#[derive(Clone, Copy, Debug)]
pub struct GroupSettings<'a> {
    own: &'a BTreeMap<String, String>,
    broker: &'a Values,
}

impl<'a> GroupSettings<'a> {
    /// The view of a group's configuration.
    #[must_use]
    pub fn new(own: &'a BTreeMap<String, String>, broker: &'a Values) -> Self {
        Self { own, broker }
    }

    /// The value that is set, the group's own or the broker's.
    #[must_use]
    pub fn get(&self, setting: &GroupSetting) -> &'a str {
        self.own
            .get(setting.name)
            .map_or_else(|| self.broker.get(broker_setting(setting.synonym)).0, String::as_str)
    }

    fn number(&self, name: &str) -> i64 {
        let setting = find(name).expect("the name is in the table of group settings");
        parse(self.get(setting))
    }

    /// The group's own values, as a coordinator needs them. The broker may have got other bounds since they were set: they
    /// are kept within those.
    #[must_use]
    pub fn config(&self) -> GroupConfig {
        let own = |name: &str| {
            let setting = find(name).expect("the name is in the table of group settings");
            let (min, max) = bounds(setting, self.broker);
            self.own.get(name).map(|value| parse(value).max(min).min(max))
        };
        let ms = |name: &str| own(name).and_then(|ms| u64::try_from(ms).ok());
        GroupConfig {
            session_ms: ms(SESSION_TIMEOUT),
            heartbeat_interval_ms: own(HEARTBEAT_INTERVAL).and_then(|ms| i32::try_from(ms).ok()),
            assignment_interval_ms: ms("consumer.assignment.interval.ms"),
        }
    }
}

/// Checks what shall be set for a group.
///
/// # Errors
/// What is wrong, in Kafka's words.
pub fn check_group_configs(own: &BTreeMap<String, String>, broker: &Values) -> Result<(), String> {
    for (name, value) in own {
        check_group_config(name, value, broker)?;
    }
    let settings = GroupSettings::new(own, broker);
    let is_named = own.contains_key(SESSION_TIMEOUT) || own.contains_key(HEARTBEAT_INTERVAL);
    if is_named && settings.number(SESSION_TIMEOUT) <= settings.number(HEARTBEAT_INTERVAL) {
        return Err(format!("{SESSION_TIMEOUT} must be greater than {HEARTBEAT_INTERVAL}"));
    }
    Ok(())
}

fn check_group_config(name: &str, value: &str, broker: &Values) -> Result<(), String> {
    let Some(setting) = find(name) else {
        if OF_OTHER_GROUPS.iter().any(|prefix| name.starts_with(prefix)) {
            return Err(format!(
                "{name} has no effect: this broker has neither share groups nor streams groups"
            ));
        }
        return Err(format!("Unknown group config name: {name}"));
    };
    if value.len() > VALUE_BYTES_MAX {
        return Err(format!("The value of {name} is longer than {VALUE_BYTES_MAX} bytes"));
    }
    setting
        .kind
        .check(value)
        .map_err(|why| format!("Invalid value {value} for configuration {name}: {why}"))?;
    let (min, max) = bounds(setting, broker);
    if (min..=max).contains(&parse(value)) {
        Ok(())
    } else {
        Err(format!("{name} must be in the range {min} to {max} inclusive."))
    }
}

fn bounds(setting: &GroupSetting, broker: &Values) -> (i64, i64) {
    let bound = |name| parse(broker.get(broker_setting(name)).0);
    (bound(setting.bounds.0), bound(setting.bounds.1))
}

fn parse(value: &str) -> i64 {
    value.trim().parse().expect("the value was checked when it was set")
}

fn find(name: &str) -> Option<&'static GroupSetting> {
    GROUP_SETTINGS.iter().find(|setting| setting.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{GROUP_SETTINGS, GroupSettings, check_group_configs};
    use crate::config::{Values, broker_setting};

    fn configs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn every_name_of_the_broker_is_one() {
        for setting in GROUP_SETTINGS {
            for name in [setting.synonym, setting.bounds.0, setting.bounds.1] {
                assert_eq!(broker_setting(name).name, name);
            }
        }
    }

    #[test]
    fn what_is_set_wrongly_is_refused_in_kafkas_words() {
        let cases = [
            ("consumer.session.timeout.ms", "x", "Not a number of type INT"),
            ("consumer.session.timeout.ms", "44999", "must be in the range 45000 to 60000 inclusive."),
            ("consumer.heartbeat.interval.ms", "15001", "must be in the range 5000 to 15000 inclusive."),
            ("consumer.assignment.interval.ms", "-1", "Value must be at least 0"),
            ("share.session.timeout.ms", "45000", "neither share groups nor streams groups"),
            ("consumer.speed", "1", "Unknown group config name: consumer.speed"),
        ];
        for (name, value, why) in cases {
            let refused = check_group_configs(&configs(&[(name, value)]), &Values::default()).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn what_is_set_rightly_is_taken() {
        let own = configs(&[
            ("consumer.session.timeout.ms", " 60000 "),
            ("consumer.heartbeat.interval.ms", "15000"),
            ("consumer.assignment.interval.ms", "0"),
        ]);
        assert_eq!(check_group_configs(&own, &Values::default()), Ok(()));
        let config = GroupSettings::new(&own, &Values::default()).config();
        assert_eq!(config.session_ms, Some(60_000));
        assert_eq!(config.heartbeat_interval_ms, Some(15_000));
        assert_eq!(config.assignment_interval_ms, Some(0));
        let narrower = configs(&[("consumer.session.timeout.ms", "70000")]);
        let config = GroupSettings::new(&narrower, &Values::default()).config();
        assert_eq!(config.session_ms, Some(60_000), "the bounds may have changed since");
        assert_eq!(config.heartbeat_interval_ms, None);
    }
}
