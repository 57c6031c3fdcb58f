"""What a client cannot do, and why. This is the one place that says so.

A story names what it needs with `@pytest.mark.needs("…")`. It is skipped for a client that lacks it, with the reason,
and the table of clients in README.md shows the reason below itself. Nothing here may be used to hide a failure: each
entry is about the client, and holds against a Kafka broker as well.
"""

# What stories may need; a misspelt need is an error.
STATIC_MEMBERS = "static members"
COOPERATIVE = "cooperative rebalancing"
ASYNC_COMMIT = "an asynchronous commit that is answered"
COMMIT_METADATA = "metadata of a commit"
STAYS_MEMBER = "staying a member while the server is away"
COMMIT_EPOCH = "the leader epoch of a commit"
REFUSED_COMMIT = "a commit of its own that is refused"
RESET_NONE = "the reset policy \"none\""
BAD_TOPIC_NAMES = "asking for a topic name that Kafka refuses"
TOPIC_ADMIN = "administration of topics"
GROUP_ADMIN = "administration of groups"
ALTER_OFFSETS = "altering the offsets of a group"
DELETE_GROUPS = "deleting groups"
DELETE_OFFSETS = "deleting offsets of a group"
RANGE_ASSIGNOR = "sharing partitions by the assignor \"range\""
FRAMED_SNAPPY = "reading snappy as Kafka's Java client writes it"
CODECS = ("gzip", "snappy", "lz4", "zstd")

ALL = {
    STATIC_MEMBERS,
    COOPERATIVE,
    ASYNC_COMMIT,
    COMMIT_METADATA,
    STAYS_MEMBER,
    COMMIT_EPOCH,
    REFUSED_COMMIT,
    RESET_NONE,
    BAD_TOPIC_NAMES,
    TOPIC_ADMIN,
    GROUP_ADMIN,
    ALTER_OFFSETS,
    DELETE_GROUPS,
    DELETE_OFFSETS,
    RANGE_ASSIGNOR,
    FRAMED_SNAPPY,
    *CODECS,
}

PLUGIN = "a plugin of others brings it"

# {client: {what it lacks: why}}. A client that is not here lacks nothing.
LACKS = {
    "librdkafka": {
        DELETE_OFFSETS: "the Python face of librdkafka has no call for it",
    },
    "aiokafka": {
        RANGE_ASSIGNOR: "unless told otherwise it offers \"roundrobin\" alone",
        COOPERATIVE: "its assignors are of the eager protocol",
        COMMIT_EPOCH: "its OffsetCommit is of a version without it",
        ALTER_OFFSETS: "its admin client has no call for it",
        DELETE_GROUPS: "its admin client has no call for it",
        DELETE_OFFSETS: "its admin client has no call for it",
    },
    "kafkajs": {
        RANGE_ASSIGNOR: "it has one of its own, \"RoundRobinAssigner\"",
        STATIC_MEMBERS: "it has no setting for group.instance.id",
        COOPERATIVE: "its assignors are of the eager protocol",
        COMMIT_EPOCH: "its OffsetCommit is of a version without it",
        RESET_NONE: "a consumer starts at the beginning or at the end",
        DELETE_OFFSETS: "its admin client has no call for it",
        "snappy": PLUGIN,
        "lz4": PLUGIN,
        "zstd": PLUGIN,
    },
    "platformatic": {
        RANGE_ASSIGNOR: "unless told otherwise it offers \"roundrobin\" alone",
        FRAMED_SNAPPY: "it reads bare blocks of snappy only",
        COOPERATIVE: "its assignors are of the eager protocol",
        COMMIT_METADATA: "its commit takes none",
        REFUSED_COMMIT: "it joins the group again by itself and repeats the commit, which its new generation may make",
        "zstd": "it takes zstd from Node, which has it from 22.15 on",
    },
    "confluent-js": {
        REFUSED_COMMIT: "its commit is done when it is queued; the answer reaches only its log",
        RESET_NONE: "it logs the error, tries again and tells the program nothing",
        ALTER_OFFSETS: "its admin client has no call for it",
        DELETE_OFFSETS: "its admin client has no call for it",
        "zstd": "built from source, it has the codecs whose libraries the machine has",
    },
    "sarama": {
        ASYNC_COMMIT: "it commits when asked and waits, or by itself",
        COMMIT_EPOCH: "it commits with the epoch that it was given when the session began",
        RESET_NONE: "a group without a commit begins at the oldest or the newest record, whatever else is set",
    },
    "kafka-go": {
        STATIC_MEMBERS: "its Reader has no group.instance.id",
        COOPERATIVE: "its group balancers are of the eager protocol",
        ASYNC_COMMIT: "its Reader commits when asked and waits, or by itself",
        COMMIT_METADATA: "its Reader commits offsets alone",
        COMMIT_EPOCH: "its OffsetCommit is of a version without it",
        REFUSED_COMMIT: "after a rebalance its Reader sends the commit under the generation that it has by then",
        STAYS_MEMBER: "a heartbeat that fails makes it leave, join anew, and read again from the last commit",
        RESET_NONE: "a group without a commit begins at the first or the last record",
    },
    "rdkafka": {
        ASYNC_COMMIT: "its callback hears only of automatic commits",
        COMMIT_EPOCH: "its offsets have no leader epoch",
        ALTER_OFFSETS: "its admin client has no call for it",
        DELETE_OFFSETS: "its admin client has no call for it",
    },
    "krafka": {
        BAD_TOPIC_NAMES: "it looks at the name itself, and sends nothing",
    },
    "kcat": {
        COMMIT_EPOCH: "it commits by itself alone",
        REFUSED_COMMIT: "it commits by itself alone",
        TOPIC_ADMIN: "it is a producer and consumer",
        GROUP_ADMIN: "it is a producer and consumer",
    },
}


def reason(client, need):
    """Why the client lacks it, or None if it has it."""
    assert need in ALL, f"no such capability: {need}"
    return LACKS.get(client, {}).get(need)
