//! Share groups (KIP-932).

use super::schema::Kind::{I8, I32, I64, Id, List, NullableText, Structure, Text};
use super::schema::{Schema, field, tagged};
use super::{About, RecordType};

const TOPIC_PARTITIONS: Schema = &[field("topicId", Id), field("partitions", List(&I32))];
const TOPIC_PARTITIONS_INFO: Schema =
    &[field("topicId", Id), field("topicName", Text), field("partitions", List(&I32))];
const TOPIC_INFO: Schema = &[field("topicId", Id), field("topicName", Text)];

pub(super) const TYPES: &[RecordType] = &[
    RecordType {
        code: 10,
        name: "ShareGroupMemberMetadata",
        about: About::Member,
        value: &[
            field("rackId", NullableText),
            field("clientId", Text),
            field("clientHost", Text),
            field("subscribedTopicNames", List(&Text)),
        ],
    },
    RecordType {
        code: 11,
        name: "ShareGroupMetadata",
        about: About::Group,
        value: &[field("epoch", I32), field("metadataHash", I64)],
    },
    RecordType {
        code: 12,
        name: "ShareGroupTargetAssignmentMetadata",
        about: About::Group,
        value: &[field("assignmentEpoch", I32), tagged("assignmentTimestamp", I64, 0, Some(0))],
    },
    RecordType {
        code: 13,
        name: "ShareGroupTargetAssignmentMember",
        about: About::Member,
        value: &[field("topicPartitions", List(&Structure(TOPIC_PARTITIONS)))],
    },
    RecordType {
        code: 14,
        name: "ShareGroupCurrentMemberAssignment",
        about: About::Member,
        value: &[
            field("memberEpoch", I32),
            field("previousMemberEpoch", I32),
            field("state", I8),
            field("assignedPartitions", List(&Structure(TOPIC_PARTITIONS))),
        ],
    },
    RecordType {
        code: 15,
        name: "ShareGroupStatePartitionMetadata",
        about: About::Group,
        value: &[
            field("initializingTopics", List(&Structure(TOPIC_PARTITIONS_INFO))),
            field("initializedTopics", List(&Structure(TOPIC_PARTITIONS_INFO))),
            field("deletingTopics", List(&Structure(TOPIC_INFO))),
        ],
    },
];
