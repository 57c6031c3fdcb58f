//! Saying who is asking: SASL over Kafka's SaslHandshake and SaslAuthenticate.
//!
//! A broker that ends sessions (`connections.max.reauth.ms`) closes the connection; [`Cluster`](crate::Cluster) then
//! opens another, which authenticates anew. Called by [`Connection::open`], and by nobody else.

mod scram;

use milepost_wire::messages::sasl_authenticate::{SaslAuthenticateRequest, SaslAuthenticateResponse};
use milepost_wire::messages::sasl_handshake::{SaslHandshakeRequest, SaslHandshakeResponse};
use milepost_wire::{ApiKey, ErrorCode};

use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::security::{Login, Mechanism};
use scram::{Hash, Scram};

/// The first version after which the exchange is in frames of Kafka's own.
const FRAMES_FROM: i16 = 1;

/// Proves who is asking.
///
/// # Errors
/// When the broker lacks the mechanism or refuses, and when it cannot prove in turn that it knows the user.
pub(crate) fn authenticate(
    connection: &mut Connection,
    login: &Login,
    deadline: Deadline,
) -> Result<(), ClientError> {
    let address = connection.address().clone();
    let refuse = |why: String| ClientError::Authentication { address: address.clone(), why };
    let version = connection.version(ApiKey::SaslHandshake)?;
    if version < FRAMES_FROM {
        return Err(refuse("the broker is older than Kafka 1.0, and its SASL is not spoken".to_owned()));
    }
    let name = login.mechanism.name();
    let request = SaslHandshakeRequest { mechanism: name };
    let answer: SaslHandshakeResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    if answer.error_code != ErrorCode::None {
        let (code, spoken) = (answer.error_code, answer.mechanisms.join(", "));
        return Err(refuse(format!("{name} is not taken, but {spoken} [{code}]")));
    }
    match login.mechanism {
        Mechanism::Plain => {
            let token = [login.user.as_bytes(), login.password.as_bytes()].join(&0);
            let token = [&[0], token.as_slice()].concat();
            step(connection, &token, deadline).map(drop)
        }
        Mechanism::ScramSha256 => scram(connection, login, Hash::Sha256, deadline),
        Mechanism::ScramSha512 => scram(connection, login, Hash::Sha512, deadline),
    }
}

fn scram(
    connection: &mut Connection,
    login: &Login,
    hash: Hash,
    deadline: Deadline,
) -> Result<(), ClientError> {
    let address = connection.address().clone();
    let refuse = |why: &str| ClientError::Authentication { address: address.clone(), why: why.to_owned() };
    let nonce = scram::nonce().map_err(|_| refuse("the system gives no random numbers"))?;
    let scram = Scram::new(hash, &login.user, &nonce);
    let challenge = step(connection, scram.first().as_bytes(), deadline)?;
    let proof = scram.answer(&login.password, &challenge).map_err(refuse)?;
    let verdict = step(connection, proof.message.as_bytes(), deadline)?;
    proof.check(&verdict).map_err(refuse)
}

/// Sends bytes of the mechanism and gives those that come back.
fn step(connection: &mut Connection, bytes: &[u8], deadline: Deadline) -> Result<Vec<u8>, ClientError> {
    let address = connection.address().clone();
    let version = connection.version(ApiKey::SaslAuthenticate)?;
    let request = SaslAuthenticateRequest { auth_bytes: bytes };
    let answer: SaslAuthenticateResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    match answer.error_code {
        ErrorCode::None => Ok(answer.auth_bytes.to_vec()),
        code => {
            let said = answer.error_message.unwrap_or("the broker refuses");
            Err(ClientError::Authentication { address, why: format!("{said} [{code}]") })
        }
    }
}
