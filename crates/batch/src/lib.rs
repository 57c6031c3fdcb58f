//! Record batch v2 as bytes: view, check, stamp, open and build.
//!
//! A batch is kept as the bytes a client sent. [`BatchView`] reads its header in place, [`stamp`] writes the fields
//! that only a broker knows, [`validate_client_batch`] decides whether a client's batch may be appended, and
//! [`Records`] opens one where a record must be read. Only where a topic asks for another codec is one made anew
//! ([`recompress`]). [`BatchBuilder`] makes the batches of the coordinators.
//!
//! This room must never know a request, a file or a clock, and must never trust a length: bad bytes become an error,
//! never a panic, and what they decompress to is bounded by [`MAX_DECOMPRESSED_BYTES`]. `log`, `coordinator` and the
//! tools that read segments call it.

mod builder;
mod codec;
mod control;
mod error;
mod layout;
mod recompress;
mod record;
mod retain;
mod sequence;
mod stamp;
mod validate;
mod varint;
mod view;

pub use builder::{BatchBuilder, BatchOptions, BuilderFull, MAX_BUILT_RECORDS_BYTES};
pub use codec::{Codec, MAX_DECOMPRESSED_BYTES};
pub use control::{ControlType, Marker, build_marker};
pub use error::{BatchError, Malformed};
pub use layout::{HEADER_BYTES, TimestampType};
pub use recompress::{Compression, recompress};
pub use record::{Header, Headers, RecordIter, RecordView, Records};
pub use retain::{Retained, retain_records};
pub use sequence::{sequence_after, sequence_minus, sequence_plus};
pub use stamp::{set_log_append_time, set_max_timestamp, stamp};
pub use validate::{
    AppendRules, HeaderChange, InvalidBatch, KeyRule, MAX_RECORD_FAULTS, RecordFault, RecordFaultReason,
    TimestampRange, ValidBatch, validate_client_batch,
};
pub use view::BatchView;
