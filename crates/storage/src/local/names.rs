//! The names in a data folder that are the engine's own.

/// Locked while an engine is open.
pub(super) const LOCK: &str = ".lock";
/// Says the format of the folder.
pub(super) const FORMAT: &str = "milepost.format";
/// [`FORMAT`] while it is made.
pub(super) const FORMAT_TEMPORARY: &str = "milepost.format.tmp";
/// What [`FORMAT`] holds.
pub(super) const FORMAT_TEXT: &str = "milepost data folder, format 1\n";
/// The reserve file.
pub(super) const RESERVE: &str = ".reserve";
/// The checkpoint document.
pub(super) const CHECKPOINT: &str = "checkpoint";
/// [`CHECKPOINT`] while it is made.
pub(super) const CHECKPOINT_TEMPORARY: &str = "checkpoint.tmp";
/// The folder of the journal files.
pub(super) const JOURNAL: &str = "journal";
/// Made by file systems in their root; never ours, never touched.
pub(super) const LOST_AND_FOUND: &str = "lost+found";

/// What a file in the journal folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JournalName {
    /// A file in use, of this number.
    Numbered(u64),
    /// A file made ahead or kept for reuse.
    Spare(u64),
    /// A file that was being made.
    Temporary(u64),
}

impl JournalName {
    pub(super) fn parse(name: &str) -> Option<Self> {
        let (digits, kind) = name.split_once('.')?;
        if digits.len() != 20 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number = digits.parse().ok()?;
        match kind {
            "journal" => Some(Self::Numbered(number)),
            "spare" => Some(Self::Spare(number)),
            "tmp" => Some(Self::Temporary(number)),
            _ => None,
        }
    }

    pub(super) fn path(self) -> String {
        let (number, kind) = match self {
            Self::Numbered(number) => (number, "journal"),
            Self::Spare(number) => (number, "spare"),
            Self::Temporary(number) => (number, "tmp"),
        };
        format!("{JOURNAL}/{number:020}.{kind}")
    }
}

/// Where a journal file is put aside whose header is damaged, when its loss was accepted.
pub(super) fn damaged_path(number: u64) -> String {
    format!("{JOURNAL}/{number:020}.damaged")
}

/// Whether a folder or file name may be a segment's: one level, not hidden, not one of the engine's own.
pub(crate) fn is_segment_part(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && !name.contains('/')
        && name != JOURNAL
        && name != LOST_AND_FOUND
}
