//! The data folder itself: whether it is ours, and of which format.

use std::io;

use super::io_error;
use super::names::{
    FORMAT, FORMAT_TEMPORARY, FORMAT_TEXT, JOURNAL, JournalName, LOST_AND_FOUND, damaged_path,
};
use crate::AcquireError;
use crate::file_system::{FileSystem, Listed, OpenMode, read_whole, write_all};

/// A format file is never bigger.
const MAX_FORMAT_BYTES: u64 = 4096;

/// Checks that the folder is ours and of this format, and makes a new one ours.
///
/// A folder that holds other things is refused: files in it that nothing names would be taken for garbage.
pub(super) fn check_format(system: &dyn FileSystem) -> Result<(), AcquireError> {
    let failed = |action: &str, path: &str, error| io_error(system, action, path, error);
    match system.open(FORMAT, OpenMode::Existing) {
        Ok(file) => {
            let text = read_whole(&*file, MAX_FORMAT_BYTES).map_err(|error| failed("read", FORMAT, error))?;
            if text != FORMAT_TEXT.as_bytes() {
                return Err(version(format!("{:?}", String::from_utf8_lossy(&text).trim_end())));
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let listed = system.list("").map_err(|error| failed("list", "", error))?;
            if let Some(foreign) = listed.iter().find_map(foreign) {
                return Err(version(format!("no {FORMAT}, but other things ({foreign})")));
            }
            make_ours(system).map_err(|error| failed("write", FORMAT, error))?;
        }
        Err(error) => return Err(failed("open", FORMAT, error)),
    }
    system.create_directory(JOURNAL).map_err(|error| failed("make the folder", JOURNAL, error))?;
    system.sync_directory("").map_err(|error| failed("sync the folder", "", error))
}

fn version(found: String) -> AcquireError {
    AcquireError::Version {
        found,
        expected: format!("{:?} in {FORMAT}, or an empty folder", FORMAT_TEXT.trim_end()),
    }
}

fn foreign(entry: &Listed) -> Option<&str> {
    let (Listed::Directory(name) | Listed::File(name)) = entry;
    let harmless = name.starts_with('.') || name == FORMAT_TEMPORARY || name == LOST_AND_FOUND;
    (!harmless).then_some(name)
}

fn make_ours(system: &dyn FileSystem) -> io::Result<()> {
    let file = system.open(FORMAT_TEMPORARY, OpenMode::Emptied)?;
    write_all(&*file, FORMAT_TEXT.as_bytes(), 0)?;
    file.sync_data()?;
    system.rename(FORMAT_TEMPORARY, FORMAT)?;
    system.sync_directory("")
}

/// Renames journal files whose damage was accepted, so that the next start does not meet them again; they are kept
/// for people.
pub(super) fn put_aside(system: &dyn FileSystem, numbers: &[u64]) -> Result<(), AcquireError> {
    for number in numbers {
        let path = JournalName::Numbered(*number).path();
        system
            .rename(&path, &damaged_path(*number))
            .and_then(|()| system.sync_directory(JOURNAL))
            .map_err(|error| io_error(system, "put aside", &path, error))?;
    }
    Ok(())
}
