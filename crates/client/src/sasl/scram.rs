//! SCRAM (RFC 5802, RFC 7677) as a calculation: messages in, messages out. The primitives are those of `ring`, which TLS
//! brings along anyway.
//!
//! Names and passwords are taken as they are, in UTF-8: Kafka's brokers do not normalise them (SASLprep) either.

use std::num::NonZeroU32;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::{digest, hmac, pbkdf2};

/// What a broker may ask for; below, a password is too cheap to guess, above, a hostile broker could keep us busy.
const ITERATIONS: std::ops::RangeInclusive<u32> = 4096..=1_000_000;
/// Random bytes in a nonce.
const NONCE_BYTES: usize = 24;
/// The header of a client that binds no channel and acts for nobody else: `n,,`, and the same in base64.
const NO_BINDING: &str = "n,,";
const NO_BINDING_CODED: &str = "biws";

/// Which hash the mechanism is named after.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hash {
    Sha256,
    Sha512,
}

impl Hash {
    fn hmac(self) -> hmac::Algorithm {
        match self {
            Self::Sha256 => hmac::HMAC_SHA256,
            Self::Sha512 => hmac::HMAC_SHA512,
        }
    }

    fn pbkdf2(self) -> pbkdf2::Algorithm {
        match self {
            Self::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
            Self::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
        }
    }

    fn digest(self, bytes: &[u8]) -> digest::Digest {
        match self {
            Self::Sha256 => digest::digest(&digest::SHA256, bytes),
            Self::Sha512 => digest::digest(&digest::SHA512, bytes),
        }
    }

    fn sign(self, key: &[u8], message: &[u8]) -> hmac::Tag {
        hmac::sign(&hmac::Key::new(self.hmac(), key), message)
    }
}

/// A fresh nonce.
pub(super) fn nonce() -> Result<String, getrandom::Error> {
    let mut bytes = [0; NONCE_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(BASE64.encode(bytes))
}

/// The client's side, before the challenge.
#[derive(Debug)]
pub(super) struct Scram {
    hash: Hash,
    nonce: String,
    /// The client's first message without its header.
    bare: String,
}

/// The client's side, after it.
#[derive(Debug)]
pub(super) struct Proof {
    /// What shows that the password is known.
    pub(super) message: String,
    hash: Hash,
    server_key: hmac::Tag,
    signed: String,
}

impl Scram {
    pub(super) fn new(hash: Hash, user: &str, nonce: &str) -> Self {
        let user = user.replace('=', "=3D").replace(',', "=2C");
        Self { hash, nonce: nonce.to_owned(), bare: format!("n={user},r={nonce}") }
    }

    /// The message that begins the exchange.
    pub(super) fn first(&self) -> String {
        format!("{NO_BINDING}{}", self.bare)
    }

    /// The answer to the broker's challenge, or what is wrong with it.
    pub(super) fn answer(&self, password: &str, challenge: &[u8]) -> Result<Proof, &'static str> {
        let challenge = std::str::from_utf8(challenge).map_err(|_| "the broker's challenge is not text")?;
        let field = |name: &str| challenge.split(',').find_map(|part| part.strip_prefix(name));
        let nonce = field("r=").ok_or("the broker's challenge has no nonce")?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err("the broker's challenge answers somebody else");
        }
        let salt = field("s=").and_then(|salt| BASE64.decode(salt).ok());
        let salt = salt.ok_or("the broker's challenge has no salt")?;
        let iterations = field("i=").and_then(|count| count.parse().ok());
        let iterations = iterations
            .filter(|count| ITERATIONS.contains(count))
            .and_then(NonZeroU32::new)
            .ok_or("the broker asks for a number of iterations that is not done")?;
        let mut salted = vec![0; self.hash.hmac().digest_algorithm().output_len()];
        pbkdf2::derive(self.hash.pbkdf2(), iterations, &salt, password.as_bytes(), &mut salted);
        let client_key = self.hash.sign(&salted, b"Client Key");
        let stored_key = self.hash.digest(client_key.as_ref());
        let last = format!("c={NO_BINDING_CODED},r={nonce}");
        let signed = format!("{},{challenge},{last}", self.bare);
        let signature = self.hash.sign(stored_key.as_ref(), signed.as_bytes());
        let proof: Vec<u8> =
            client_key.as_ref().iter().zip(signature.as_ref()).map(|(key, sign)| key ^ sign).collect();
        Ok(Proof {
            message: format!("{last},p={}", BASE64.encode(proof)),
            hash: self.hash,
            server_key: self.hash.sign(&salted, b"Server Key"),
            signed,
        })
    }
}

impl Proof {
    /// Whether the broker's last message shows that it knows the user too.
    pub(super) fn check(&self, verdict: &[u8]) -> Result<(), &'static str> {
        let verdict = std::str::from_utf8(verdict).map_err(|_| "the broker's last word is not text")?;
        let signature = verdict.split(',').find_map(|part| part.strip_prefix("v="));
        let signature = signature.and_then(|coded| BASE64.decode(coded).ok());
        let signature = signature.ok_or("the broker does not show that it knows the user")?;
        let key = hmac::Key::new(self.hash.hmac(), self.server_key.as_ref());
        hmac::verify(&key, self.signed.as_bytes(), &signature)
            .map_err(|_| "the broker does not know the user's password; is it the right one?")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The example of RFC 7677, section 3.
    const NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const CHALLENGE: &[u8] =
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const ANSWER: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
        p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
    const VERDICT: &[u8] = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    #[test]
    fn the_exchange_is_that_of_the_rfc() {
        let scram = Scram::new(Hash::Sha256, "user", NONCE);
        assert_eq!(scram.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let proof = scram.answer("pencil", CHALLENGE).unwrap();
        assert_eq!(proof.message, ANSWER);
        assert_eq!(proof.check(VERDICT), Ok(()));
    }

    #[test]
    fn a_broker_that_does_not_know_the_user_is_not_believed() {
        let scram = Scram::new(Hash::Sha256, "user", NONCE);
        let proof = scram.answer("pen", CHALLENGE).unwrap();
        assert!(proof.check(VERDICT).is_err());
        for verdict in [b"e=other-error".as_slice(), b"v=", b"v=!", b"\xff", b""] {
            assert!(proof.check(verdict).is_err(), "{verdict:?}");
        }
    }

    #[test]
    fn a_challenge_that_is_none_is_refused() {
        let scram = Scram::new(Hash::Sha512, "a=b,c", NONCE);
        assert_eq!(scram.first(), format!("n,,n=a=3Db=2Cc,r={NONCE}"));
        for challenge in [
            format!("r={NONCE},s=W22Z,i=4096"),
            "r=somebody-else,s=W22Z,i=4096".to_owned(),
            format!("r={NONCE}x,s=!,i=4096"),
            format!("r={NONCE}x,s=W22Z,i=1"),
            format!("r={NONCE}x,s=W22Z,i=2000000000"),
            format!("r={NONCE}x,i=4096"),
            String::new(),
        ] {
            assert!(scram.answer("pencil", challenge.as_bytes()).is_err(), "{challenge}");
        }
    }
}
