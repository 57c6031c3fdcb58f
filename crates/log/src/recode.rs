//! `compression.type`: a client's batch compressed as the topic asks. Where the topic says `producer`, or the batch is
//! compressed so already, it stays as it came.

use milepost_batch::{BatchView, Codec, HeaderChange, recompress, set_max_timestamp};
use milepost_model::Timestamp;

use crate::error::AppendError;
use crate::partition::PartitionLog;

impl PartitionLog {
    /// The batch as the topic wants it compressed, if it came otherwise. It is checked as it came, and then record by
    /// record, since it is open: what is stored must not be believed by a header that this broker wrote.
    pub(crate) fn recode(&self, bytes: &[u8], now: Timestamp) -> Result<Option<Vec<u8>>, AppendError> {
        let Some(compression) = self.config.compression else { return Ok(None) };
        let (batch, rest) = BatchView::parse(bytes).map_err(AppendError::NotABatch)?;
        if !rest.is_empty() {
            return Err(AppendError::MoreThanOneBatch);
        }
        if batch.codec() == Ok(compression.codec) {
            return Ok(None);
        }
        let _as_it_came = self.validate(&batch, self.config.max_message_bytes, now)?;
        let mut plain = recompress(&batch, Codec::None.into()).map_err(AppendError::NotABatch)?;
        let (view, _) = BatchView::parse(&plain).map_err(AppendError::NotABatch)?;
        // Its size counts as it came and as it will be stored.
        let valid = self.validate(&view, usize::MAX, now)?;
        if valid.change == HeaderChange::MaxTimestamp {
            set_max_timestamp(&mut plain, valid.max_timestamp);
        }
        if compression.codec == Codec::None {
            return Ok(Some(plain));
        }
        let (view, _) = BatchView::parse(&plain).map_err(AppendError::NotABatch)?;
        recompress(&view, compression).map(Some).map_err(AppendError::NotABatch)
    }
}
