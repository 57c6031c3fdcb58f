//! How to reach and convince a cluster, from a file: a properties file of a Java or librdkafka client, or a profile of our
//! own, which has the same names.

mod client;
mod profile;
mod properties;

use std::collections::BTreeMap;

pub(crate) use client::{ClientSettings, home_folder};
pub(crate) use profile::{config_path, profile, profiles};

use crate::failure::Failure;

/// Names and values as they stand in a file.
pub(crate) type Said = BTreeMap<String, String>;

/// What a properties file says.
pub(crate) fn properties(path: &std::path::Path) -> Result<Said, Failure> {
    let text = read(path)?;
    Ok(properties::parse(&text))
}

/// A text file that somebody named.
fn read(path: &std::path::Path) -> Result<String, Failure> {
    const FILE_BYTES_MAX: u64 = 1 << 20;
    let failed = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
    let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if size > FILE_BYTES_MAX {
        return Err(failed(format!("{size} bytes are more than a file of settings has")));
    }
    std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))
}
