//! SaslHandshake (17): the mechanism by which a connection will authenticate.

use crate::error_code::ErrorCode;

messages! {
    /// The mechanism that the client wants.
    pub struct SaslHandshakeRequest<'a>: request of SaslHandshake {
        mechanism: &'a str [0..],
    }

    /// Whether it is spoken, and all that are.
    pub struct SaslHandshakeResponse<'a>: response of SaslHandshake {
        error_code: ErrorCode [0..],
        mechanisms: Vec<&'a str> [0..],
    }
}
