"""Gives the segments of our partitions to a Kafka broker that was stopped, as README.md says it is done by hand."""

import os
import shutil

# What a broker makes anew from the segments, or that speaks of those it had.
MADE_ANEW = (".index", ".timeindex", ".txnindex", ".snapshot", "leader-epoch-checkpoint")
# With these a broker would not look at the segments.
TRUSTED = (".kafka_cleanshutdown", "recovery-point-offset-checkpoint", "log-start-offset-checkpoint")


def give(ours, kafka, topics):
    """Puts our segments in the place of the broker's own. `topics`: {topic: number of partitions}."""
    for topic, partitions in topics.items():
        for partition in range(partitions):
            give_partition(ours, kafka, f"{topic}-{partition}")
    for name in TRUSTED:
        os.remove(os.path.join(kafka.data, name))


def give_partition(ours, kafka, partition):
    folder = os.path.join(kafka.data, partition)
    for name in os.listdir(folder):
        if name.endswith((*MADE_ANEW, ".log")):
            os.remove(os.path.join(folder, name))
    source = os.path.join(ours.data, partition)
    names = [name for name in os.listdir(source) if name.endswith(".log")] if os.path.exists(source) else []
    for name in names:
        shutil.copy(os.path.join(source, name), os.path.join(folder, f"{int(name[:-4]):020}.log"))
    if not names:
        open(os.path.join(folder, f"{0:020}.log"), "wb").close()
