//! The hard state as text, so that two of them can be compared and a difference can be read.

use std::fmt::Write;

use super::{Hard, HardGroup};

impl Hard {
    /// Everything the state holds, in an order of its own: equal texts mean equal states.
    ///
    /// Positions of the last write are left out. They are not state but what answers wait for, and compaction may
    /// drop the tombstone that was last.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::new();
        for group_id in self.group_ids() {
            if let Some(group) = self.group(&group_id) {
                group.describe(&mut text);
            }
        }
        for (producer, offsets) in self.pending.producers() {
            for (key, pending) in offsets {
                line(
                    &mut text,
                    format_args!(
                        "pending producer={} group={:?} {}:{} at={} {:?}",
                        producer.0, key.group, key.topic, key.partition, pending.position, pending.committed
                    ),
                );
            }
        }
        text
    }
}

impl HardGroup {
    fn describe(&self, text: &mut String) {
        line(text, format_args!("group {:?}", self.id));
        if let Some(classic) = &self.classic {
            line(
                text,
                format_args!(
                    "  generation={} type={:?} protocol={:?} leader={:?} since={:?}",
                    classic.generation.0,
                    classic.protocol_type,
                    classic.protocol,
                    classic.leader,
                    classic.state_timestamp.map(|time| time.0)
                ),
            );
            for member in classic.members.iter() {
                line(text, format_args!("  {member:?}"));
            }
        }
        if let Some(consumer) = &self.consumer {
            line(text, format_args!("  {consumer:?}"));
        }
        for topic in self.topics() {
            for entry in topic.entries() {
                line(
                    text,
                    format_args!(
                        "  {}:{} at={} {:?}",
                        topic.topic(),
                        entry.partition(),
                        entry.position(),
                        entry.committed()
                    ),
                );
            }
        }
    }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing into a string does not fail");
}
