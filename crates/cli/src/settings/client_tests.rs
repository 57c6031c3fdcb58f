use super::*;

fn said(pairs: &[(&str, &str)]) -> Said {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

const JAAS: &str = "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"al ice\" password='se;cret';";

#[test]
fn java_and_librdkafka_say_the_same_in_their_own_words() {
    let java = said(&[
        ("bootstrap.servers", "a:1"),
        ("security.protocol", "SASL_PLAINTEXT"),
        ("sasl.mechanism", "SCRAM-SHA-512"),
        ("sasl.jaas.config", JAAS),
        ("acks", "all"),
    ]);
    let rdkafka = said(&[
        ("metadata.broker.list", "a:1"),
        ("security.protocol", "sasl_plaintext"),
        ("sasl.mechanisms", "SCRAM-SHA-512"),
        ("sasl.username", "al ice"),
        ("sasl.password", "se;cret"),
    ]);
    for said in [java, rdkafka] {
        let understood = understand(&said).unwrap();
        assert_eq!(understood.bootstrap.as_deref(), Some("a:1"));
        let login = understood.security.login.unwrap();
        assert_eq!((login.mechanism, login.user.as_str()), (Mechanism::ScramSha512, "al ice"));
        assert_eq!(login.password, "se;cret");
        assert!(!format!("{login:?}").contains("cret"), "a password is never printed");
        assert!(understood.security.tls.is_none());
    }
}

#[test]
fn nothing_said_means_nothing_protected() {
    let understood = understand(&Said::new()).unwrap();
    assert!(understood.security.tls.is_none() && understood.security.login.is_none());
    // What is said of SASL does not count where the protocol does not ask for it, as with Kafka's own clients.
    assert!(understand(&said(&[("sasl.mechanism", "GSSAPI")])).is_ok());
}

#[test]
fn what_cannot_be_done_is_refused_rather_than_left_out() {
    let bad: [(&[(&str, &str)], &str); 8] = [
        (&[("security.protocol", "TLS")], "is none of"),
        (&[("security.protocol", "SASL_SSL"), ("ssl.ca.pem", "x")], "no PEM certificate"),
        (&[("security.protocol", "SASL_PLAINTEXT")], "sasl.mechanism is missing"),
        (&[("security.protocol", "SASL_PLAINTEXT"), ("sasl.mechanism", "GSSAPI")], "is not spoken"),
        (&[("security.protocol", "SASL_PLAINTEXT"), ("sasl.mechanism", "PLAIN")], "sasl.username is missing"),
        (&[("security.protocol", "SSL"), ("enable.ssl.certificate.verification", "false")], "is not done"),
        (&[("security.protocol", "SSL"), ("ssl.truststore.location", "t.jks")], "is a JKS store"),
        (&[("security.protocol", "SSL"), ("ssl.key.password", "p")], "encrypted private key"),
    ];
    for (pairs, words) in bad {
        let error = understand(&said(pairs)).unwrap_err();
        assert!(error.contains(words), "{pairs:?}: {error}");
    }
}
