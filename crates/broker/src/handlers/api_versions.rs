//! ApiVersions (18), versions 0–5: what this broker serves.
//!
//! A version above ours is answered in the format of version 0 with UNSUPPORTED_VERSION and our own range, so that a
//! newer client can try again; no other API answers an unsupported version. Of Kafka's features those are listed that
//! are there: group.version 1 means consumer groups (KIP-848), transaction.version 2 that each transaction has an epoch of
//! its own (KIP-890).

use milepost_wire::messages::api_versions::{
    ApiVersion, ApiVersionsRequest, ApiVersionsResponse, FinalizedFeatureKey, SupportedFeatureKey,
};
use milepost_wire::{ADVERTISED, ApiKey, ErrorCode};

use super::{Context, Handled};
use crate::node::{Node, RequestKey};

/// Kafka's features that are there, and the level of each.
const FEATURES: &[(&str, i16)] = &[("group.version", 1), ("transaction.version", 2)];

/// The first version whose clients can read a feature's level 0.
const LEVEL_0_FROM: i16 = 4;

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &ApiVersionsRequest<'_>) -> Handled {
    let version = context.key.version;
    let error = if version >= 3
        && !(is_software_word(request.client_software_name)
            && is_software_word(request.client_software_version))
    {
        ErrorCode::InvalidRequest
    } else if version >= 5 {
        cluster_check(node, request)
    } else {
        ErrorCode::None
    };
    let api_keys = if error == ErrorCode::InvalidRequest { Vec::new() } else { advertised() };
    node.connections.respond(
        context.key,
        &ApiVersionsResponse {
            error_code: error,
            api_keys,
            supported_features: supported_features(version),
            finalized_features_epoch: 0,
            finalized_features: finalized_features(),
            ..ApiVersionsResponse::default()
        },
    );
    Ok(())
}

/// Answers a version that is not served, in version 0.
pub(crate) fn refuse_version(node: &mut Node, key: RequestKey) {
    let own = advertised().into_iter().filter(|range| range.api_key == ApiKey::ApiVersions.code()).collect();
    node.connections.respond(
        key,
        &ApiVersionsResponse {
            error_code: ErrorCode::UnsupportedVersion,
            api_keys: own,
            ..ApiVersionsResponse::default()
        },
    );
}

/// KIP-1242: a client that says which cluster and node it means is told when it is not this one.
fn cluster_check(node: &Node, request: &ApiVersionsRequest<'_>) -> ErrorCode {
    let named_node = (request.node_id >= 0).then_some(request.node_id);
    match (request.cluster_id, named_node) {
        (None, None) => ErrorCode::None,
        (Some(cluster), Some(id))
            if node.metadata.image().cluster_id() == Some(cluster) && id == node.settings.node_id =>
        {
            ErrorCode::None
        }
        (Some(_), Some(_)) => ErrorCode::RebootstrapRequired,
        _ => ErrorCode::InvalidRequest,
    }
}

/// The levels this server could run at. Clients of older versions cannot read a level 0, so they are told nothing
/// (KAFKA-17492).
fn supported_features(version: i16) -> Vec<SupportedFeatureKey<'static>> {
    if version < LEVEL_0_FROM {
        return Vec::new();
    }
    let one = |&(name, max_version): &(&'static str, i16)| SupportedFeatureKey {
        name,
        min_version: 0,
        max_version,
    };
    FEATURES.iter().map(one).collect()
}

/// The levels it runs at.
fn finalized_features() -> Vec<FinalizedFeatureKey<'static>> {
    let one = |&(name, level): &(&'static str, i16)| FinalizedFeatureKey {
        name,
        max_version_level: level,
        min_version_level: level,
    };
    FEATURES.iter().map(one).collect()
}

fn advertised() -> Vec<ApiVersion> {
    ADVERTISED
        .iter()
        .map(|range| ApiVersion {
            api_key: range.key.code(),
            min_version: range.min_advertised,
            max_version: range.max,
        })
        .collect()
}

/// `[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?`, which Kafka asks of software names and versions.
fn is_software_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::is_software_word;

    #[test]
    fn software_words_are_what_kafka_accepts() {
        for good in ["a", "librdkafka", "2.15.0", "apache-kafka-java", "v2.15.0-RC1"] {
            assert!(is_software_word(good), "{good}");
        }
        for bad in ["", "-a", "a-", "a b", "a_b", "é"] {
            assert!(!is_software_word(bad), "{bad}");
        }
    }
}
