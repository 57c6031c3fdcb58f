//! How a cluster is talked to.

use std::time::Duration;

use crate::security::Security;
use crate::stop::Stop;

/// What holds for every connection to a cluster.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name that the program gives itself in every request.
    pub client_id: String,
    /// How long one connection attempt may take.
    pub connect_timeout: Duration,
    /// How long one operation may take, attempts and waits included.
    pub timeout: Duration,
    /// Whether connections are encrypted, and who says that they are asking.
    pub security: Security,
    /// Ends all waiting.
    pub stop: Stop,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            client_id: "milepost".to_owned(),
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(30),
            security: Security::default(),
            stop: Stop::default(),
        }
    }
}
