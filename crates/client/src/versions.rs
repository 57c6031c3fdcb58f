//! Which version of each API is spoken with a broker: the highest that both sides know.

use std::collections::BTreeMap;

use milepost_wire::messages::api_versions::ApiVersion;
use milepost_wire::{ADVERTISED, ApiKey, KNOWN};

use crate::address::Address;
use crate::error::ClientError;

/// The versions of a broker's APIs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions {
    /// The lowest and highest version, by the API's number.
    of: BTreeMap<i16, (i16, i16)>,
}

/// The highest version that this client speaks, where that is below what the messages can say.
///
/// From these on a topic is named by its id alone. People, and this client with them, name topics by name: an id of a
/// topic that is deleted and made anew would need a second look-up in the middle of everything, and every broker
/// since Kafka 2.0 serves the versions below.
fn highest(api: ApiKey) -> i16 {
    let max = api.range().max;
    match api {
        ApiKey::Fetch | ApiKey::Produce => max.min(12),
        ApiKey::OffsetCommit | ApiKey::OffsetFetch => max.min(9),
        _ => max,
    }
}

impl Versions {
    /// From the answer to ApiVersions. An API that we do not know is of no interest.
    pub(crate) fn of(answer: &[ApiVersion]) -> Self {
        let is_known = |code: i16| ADVERTISED.iter().chain(KNOWN).any(|range| range.key.code() == code);
        let known = answer.iter().filter(|api| is_known(api.api_key));
        Self { of: known.map(|api| (api.api_key, (api.min_version, api.max_version))).collect() }
    }

    /// Whether the broker serves it in any version.
    pub(crate) fn has(&self, api: ApiKey) -> bool {
        self.of.contains_key(&api.code())
    }

    /// The highest version that both sides speak.
    pub(crate) fn common(&self, api: ApiKey, address: &Address) -> Result<i16, ClientError> {
        let ours = (api.range().min_served, highest(api));
        let none = |theirs: String| ClientError::NoVersion { address: address.clone(), api, ours, theirs };
        let Some(&(min, max)) = self.of.get(&api.code()) else { return Err(none("no version".to_owned())) };
        let version = max.min(ours.1);
        if version < min.max(ours.0) {
            return Err(none(format!("versions {min} to {max}")));
        }
        Ok(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broker(api: ApiKey, min_version: i16, max_version: i16) -> Versions {
        Versions::of(&[ApiVersion { api_key: api.code(), min_version, max_version }])
    }

    fn common(api: ApiKey, min: i16, max: i16) -> Option<i16> {
        let address = "a:1".parse().unwrap();
        broker(api, min, max).common(api, &address).ok()
    }

    #[test]
    fn the_highest_common_version_is_taken() {
        // Kafka 2.0, then 4.x, then a broker of the future.
        assert_eq!(common(ApiKey::Metadata, 0, 6), Some(6));
        assert_eq!(common(ApiKey::Metadata, 0, 13), Some(13));
        assert_eq!(common(ApiKey::Metadata, 5, 99), Some(13));
        assert_eq!(common(ApiKey::Metadata, 14, 99), None);
        // Produce of versions 0 to 2 is advertised by some and spoken by nobody.
        assert_eq!(common(ApiKey::Produce, 0, 2), None);
        assert_eq!(common(ApiKey::Produce, 0, 3), Some(3));
    }

    #[test]
    fn versions_that_know_topics_by_id_alone_are_not_taken() {
        assert_eq!(common(ApiKey::Fetch, 4, 18), Some(12));
        assert_eq!(common(ApiKey::OffsetFetch, 1, 10), Some(9));
    }

    #[test]
    fn an_api_that_the_broker_lacks_is_named() {
        let address = "a:1".parse().unwrap();
        let error = Versions::default().common(ApiKey::DeleteTopics, &address).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a:1 speaks DeleteTopics in no version, and this program in versions 1 to 6"
        );
    }
}
