//! Where a broker listens, and lists of such places as people write them.

use std::fmt;
use std::str::FromStr;

use crate::error::ClientError;

/// The port that is meant when none is said.
const DEFAULT_PORT: u16 = 9092;
/// The most bootstrap addresses taken; a list of more is a mistake.
const BOOTSTRAP_ADDRESSES_MAX: usize = 100;

/// A host, by name or number, and a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Without the brackets of an IPv6 number.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl Address {
    /// What a broker said in its metadata; its port is a 32-bit number there.
    pub(crate) fn advertised(host: &str, port: i32) -> Option<Self> {
        let port = u16::try_from(port).ok().filter(|port| *port > 0)?;
        (!host.is_empty()).then(|| Self { host: host.to_owned(), port })
    }

    /// Reads `HOST:PORT,HOST:PORT`; a port that is not said is 9092.
    ///
    /// # Errors
    /// [`ClientError::BadAddress`] with the part that is none.
    pub fn parse_list(said: &str) -> Result<Vec<Self>, ClientError> {
        let bad = |why| ClientError::BadAddress { said: said.to_owned(), why };
        let parts: Vec<&str> = said.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        match parts.len() {
            0 => Err(bad("it names no address")),
            1..=BOOTSTRAP_ADDRESSES_MAX => parts.into_iter().map(str::parse).collect(),
            _ => Err(bad("it names too many addresses")),
        }
    }
}

impl FromStr for Address {
    type Err = ClientError;

    fn from_str(said: &str) -> Result<Self, ClientError> {
        let bad = |why| ClientError::BadAddress { said: said.to_owned(), why };
        let (host, port) = match said.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']').ok_or_else(|| bad("the bracket is not closed"))?;
                let port = match after {
                    "" => None,
                    _ => Some(
                        after.strip_prefix(':').ok_or_else(|| bad("a colon should follow the bracket"))?,
                    ),
                };
                (host, port)
            }
            None => match said.split_once(':') {
                Some((_, port)) if port.contains(':') => {
                    return Err(bad("a number of IPv6 goes into brackets: [::1]:9092"));
                }
                Some((host, port)) => (host, Some(port)),
                None => (said, None),
            },
        };
        if host.is_empty() || host.contains(char::is_whitespace) {
            return Err(bad("the host is missing"));
        }
        let port = match port {
            None => DEFAULT_PORT,
            Some(port) => port
                .parse()
                .ok()
                .filter(|port| *port > 0)
                .ok_or_else(|| bad("the port is no number from 1 to 65535"))?,
        };
        Ok(Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(host: &str, port: u16) -> Address {
        Address { host: host.to_owned(), port }
    }

    #[test]
    fn addresses_are_read_as_people_write_them() {
        assert_eq!("localhost".parse::<Address>().unwrap(), address("localhost", 9092));
        assert_eq!("10.0.0.1:1234".parse::<Address>().unwrap(), address("10.0.0.1", 1234));
        assert_eq!("[::1]:1234".parse::<Address>().unwrap(), address("::1", 1234));
        assert_eq!("[::1]".parse::<Address>().unwrap().to_string(), "[::1]:9092");
        let list = Address::parse_list("a:1, b:2,").unwrap();
        assert_eq!(list, [address("a", 1), address("b", 2)]);
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for said in ["", ":9092", "a:", "a:0", "a:70000", "a:b", "::1", "[::1", "[::1]9092", "a b:1"] {
            assert!(said.parse::<Address>().is_err(), "{said:?}");
        }
        assert!(Address::parse_list(" , ").is_err());
        assert!(Address::parse_list(&"a,".repeat(BOOTSTRAP_ADDRESSES_MAX + 1)).is_err());
    }
}
