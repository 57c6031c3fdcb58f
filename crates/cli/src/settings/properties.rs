//! The lines of a properties file. Java and librdkafka write `name=value`; Java also continues lines that end in a
//! backslash, and escapes characters with it, which Windows paths in librdkafka's files do not: a backslash is taken for an
//! escape only before what Java would escape.

use super::Said;

/// Reads all lines; a name that is said twice means the later.
pub(super) fn parse(text: &str) -> Said {
    let mut said = Said::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start().to_owned();
        if line.starts_with(['#', '!']) {
            continue;
        }
        while line.ends_with('\\') && !line.ends_with("\\\\") {
            line.pop();
            match lines.next() {
                Some(next) => line.push_str(next.trim_start()),
                None => break,
            }
        }
        if let Some((name, value)) = split(&line) {
            said.insert(name, value);
        }
    }
    said
}

fn split(line: &str) -> Option<(String, String)> {
    let end = line.find(['=', ':']).or_else(|| line.find(char::is_whitespace))?;
    let name = line[..end].trim();
    (!name.is_empty()).then(|| (name.to_owned(), unescape(line[end + 1..].trim())))
}

fn unescape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('n')) => {
                out.push('\n');
                characters.next();
            }
            ('\\', Some(escaped @ ('\\' | '=' | ':' | '#' | '!' | '"' | ' '))) => {
                out.push(*escaped);
                characters.next();
            }
            (other, _) => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_files_are_read() {
        let said = parse(
            "# a comment\n! another\n\nbootstrap.servers=a:9092,b:9092\nsecurity.protocol = SASL_SSL\n\
             sasl.jaas.config=org.apache.Plain required \\\n    username=\"u\" \\\n    password=\"p\";\n\
             ssl.ca.location=/etc/ca.pem\nssl.key.pem=-----BEGIN\\nabc\nname only\n=nothing\n",
        );
        assert_eq!(said["bootstrap.servers"], "a:9092,b:9092");
        assert_eq!(said["security.protocol"], "SASL_SSL");
        assert_eq!(said["sasl.jaas.config"], "org.apache.Plain required username=\"u\" password=\"p\";");
        assert_eq!(said["ssl.key.pem"], "-----BEGIN\nabc");
        assert_eq!(said["name"], "only");
        assert_eq!(said.len(), 6);
    }

    #[test]
    fn a_backslash_is_an_escape_only_where_java_escapes() {
        let said = parse("a=C\\:\\\\x\nb=D:\\ca.pem\n");
        assert_eq!(said["a"], "C:\\x");
        assert_eq!(said["b"], "D:\\ca.pem");
    }
}
