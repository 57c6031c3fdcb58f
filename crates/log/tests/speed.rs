//! How fast the append path is; run by hand with `--release --ignored --nocapture`.

mod support;

use milepost_log::{AppendOrigin, FirstBatch, IsolationLevel, PartitionConfig};
use milepost_model::Offset;
use milepost_storage::MemoryDisk;
use support::*;

#[test]
#[ignore = "a measurement, not a check"]
#[expect(clippy::disallowed_types, reason = "it measures")]
fn ten_thousand_small_appends_a_round() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let ids: Vec<_> = (0..50).map(|number| create(&mut set, number, PartitionConfig::default())).collect();
    let one = batch(&[&[0; 100]]);
    for origin in [AppendOrigin::Coordinator, AppendOrigin::Client] {
        let start = std::time::Instant::now();
        const ROUNDS: usize = 20;
        for _ in 0..ROUNDS {
            for number in 0..10_000 {
                set.append(ids[number % ids.len()], &one, origin, now(1)).expect("appends");
            }
            settle(&mut set, now(1));
        }
        let each = start.elapsed().as_nanos() / (ROUNDS as u128 * 10_000);
        println!("{origin:?}: {each} ns an append, rounds included");
    }
    let start = std::time::Instant::now();
    let (mut from, mut bytes) = (Offset(0), 0);
    while from < set.log(ids[0]).expect("is there").high_watermark() {
        let read = set
            .read(ids[0], from, 1 << 20, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted)
            .expect("reads");
        bytes += read.len();
        from = from.plus((read.len() / one.len()) as i64);
    }
    println!("read: {} MB/s", bytes as u128 * 1000 / start.elapsed().as_nanos().max(1));
}
