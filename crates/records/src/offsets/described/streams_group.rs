//! Streams groups (KIP-1071). Type 18 was given up before any release wrote it.

use super::schema::Kind::{
    I8, I16, I32, I64, List, NullableList, NullableStructure, NullableText, Structure, Text, U16,
};
use super::schema::{Schema, field, tagged};
use super::{About, RecordType};

const PAIR: Schema = &[field("key", Text), field("value", Text)];
const ENDPOINT: Schema = &[field("host", Text), field("port", U16)];
const TASK_IDS: Schema = &[field("subtopologyId", Text), field("partitions", List(&I32))];
const OWNED_TASK_IDS: Schema = &[
    field("subtopologyId", Text),
    field("partitions", List(&I32)),
    tagged("assignmentEpochs", NullableList(&I32), 0, None),
];
const TOPIC_INFO: Schema = &[
    field("name", Text),
    field("partitions", I32),
    field("replicationFactor", I16),
    field("topicConfigs", List(&Structure(PAIR))),
];
const COPARTITION_GROUP: Schema = &[
    field("sourceTopics", List(&I16)),
    field("sourceTopicRegex", List(&I16)),
    field("repartitionSourceTopics", List(&I16)),
];
const SUBTOPOLOGY: Schema = &[
    field("subtopologyId", Text),
    field("sourceTopics", List(&Text)),
    field("sourceTopicRegex", List(&Text)),
    field("stateChangelogTopics", List(&Structure(TOPIC_INFO))),
    field("repartitionSinkTopics", List(&Text)),
    field("repartitionSourceTopics", List(&Structure(TOPIC_INFO))),
    field("copartitionGroups", List(&Structure(COPARTITION_GROUP))),
];

pub(super) const TYPES: &[RecordType] = &[
    RecordType {
        code: 17,
        name: "StreamsGroupMetadata",
        about: About::Group,
        value: &[
            field("epoch", I32),
            field("metadataHash", I64),
            tagged("validatedTopologyEpoch", I32, 0, Some(-1)),
            tagged("lastAssignmentConfigs", NullableList(&Structure(PAIR)), 1, None),
            tagged("storedDescriptionTopologyEpoch", I32, 2, Some(-1)),
            tagged("failedDescriptionTopologyEpoch", I32, 3, Some(-1)),
        ],
    },
    RecordType {
        code: 19,
        name: "StreamsGroupMemberMetadata",
        about: About::Member,
        value: &[
            field("instanceId", NullableText),
            field("rackId", NullableText),
            field("clientId", Text),
            field("clientHost", Text),
            field("rebalanceTimeoutMs", I32),
            field("topologyEpoch", I32),
            field("processId", Text),
            field("userEndpoint", NullableStructure(ENDPOINT)),
            field("clientTags", List(&Structure(PAIR))),
        ],
    },
    RecordType {
        code: 20,
        name: "StreamsGroupTargetAssignmentMetadata",
        about: About::Group,
        value: &[field("assignmentEpoch", I32), tagged("assignmentTimestamp", I64, 0, Some(0))],
    },
    RecordType {
        code: 21,
        name: "StreamsGroupTargetAssignmentMember",
        about: About::Member,
        value: &[
            field("activeTasks", List(&Structure(TASK_IDS))),
            field("standbyTasks", List(&Structure(TASK_IDS))),
            field("warmupTasks", List(&Structure(TASK_IDS))),
        ],
    },
    RecordType {
        code: 22,
        name: "StreamsGroupCurrentMemberAssignment",
        about: About::Member,
        value: &[
            field("memberEpoch", I32),
            field("previousMemberEpoch", I32),
            field("state", I8),
            field("activeTasks", List(&Structure(OWNED_TASK_IDS))),
            field("standbyTasks", List(&Structure(OWNED_TASK_IDS))),
            field("warmupTasks", List(&Structure(OWNED_TASK_IDS))),
            field("activeTasksPendingRevocation", List(&Structure(OWNED_TASK_IDS))),
            field("standbyTasksPendingRevocation", List(&Structure(OWNED_TASK_IDS))),
            field("warmupTasksPendingRevocation", List(&Structure(OWNED_TASK_IDS))),
        ],
    },
    RecordType {
        code: 23,
        name: "StreamsGroupTopology",
        about: About::Group,
        value: &[field("epoch", I32), field("subtopologies", List(&Structure(SUBTOPOLOGY)))],
    },
];
