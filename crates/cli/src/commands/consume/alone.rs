//! Reading without a group: from where one is told, and nothing is committed.

use std::collections::BTreeMap;
use std::time::Duration;

use milepost_client::offsets;
use milepost_client::{ClientError, Isolation, Reader, start};
use milepost_model::PartitionIndex;

use super::Consume;
use super::printer::{Appetite, Printer};
use crate::failure::Failure;

/// How long to wait for records before looking at whether anybody still reads.
const WAIT: Duration = Duration::from_millis(500);

pub(super) fn run(consume: &Consume) -> Result<(), Failure> {
    let mut cluster = consume.cluster.connect()?;
    let isolation = Isolation::from(consume.isolation);
    let only = consume.partition.map(PartitionIndex);
    let partitions = start::partitions(&mut cluster, &consume.topics, only)?;
    let ends = if consume.until_end {
        let asked = partitions.iter().map(|one| (one.clone(), isolation.end())).collect();
        let ends = offsets::list(&mut cluster, &asked)?;
        ends.into_iter().filter_map(|(one, end)| Some((one, end?))).collect()
    } else {
        BTreeMap::new()
    };
    let mut reader = Reader::new(cluster.options(), isolation);
    reader.assign(start::positions(&mut cluster, &partitions, consume.from)?);
    let mut printer = Printer::new(&consume.format, consume.count);
    while !(consume.until_end && reader.has_reached(&ends)) {
        let polled = match reader.poll(&mut cluster, WAIT) {
            Ok(polled) => polled,
            Err(ClientError::Stopped) => return consume.stopped(),
            Err(error) => return Err(error.into()),
        };
        if printer.print(&polled)? == Appetite::Enough {
            break;
        }
    }
    Ok(())
}
