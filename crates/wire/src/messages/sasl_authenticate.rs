//! SaslAuthenticate (36): one step of the exchange that the mechanism prescribes.

use crate::error_code::ErrorCode;

messages! {
    /// The client's bytes.
    pub struct SaslAuthenticateRequest<'a>: request of SaslAuthenticate {
        auth_bytes: &'a [u8] [0..],
    }

    /// The server's bytes, or the error.
    pub struct SaslAuthenticateResponse<'a>: response of SaslAuthenticate {
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
        auth_bytes: &'a [u8] [0..],
        /// How long the connection stays authenticated; 0 means for ever.
        session_lifetime_ms: i64 [1..; ignorable],
    }
}
