//! Any bytes as a request frame. A panic, an endless loop or a greedy allocation is a finding: put its input into
//! `corpus/decode_request`, where an ordinary test of `milepost-wire` will try it for ever.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|frame: &[u8]| {
    let _ = milepost_wire::decode_request(frame);
});
