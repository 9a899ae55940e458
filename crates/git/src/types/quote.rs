//! Git's quoting of paths.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Any path as one line in git's C style; always quoted, so that no name can be mistaken for something else.
pub(crate) fn c_style(path: &Path) -> Vec<u8> {
    let mut out = vec![b'"'];
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b' '..=b'~' => out.push(byte),
            _ => out.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    out.push(b'"');
    out
}

/// The text that git has put in quotes, from between them.
#[must_use]
pub fn unquoted(quoted: &str) -> String {
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted.bytes();
    while let Some(byte) = rest.next() {
        let escaped = match byte {
            b'\\' => rest.next(),
            _ => None,
        };
        bytes.push(match escaped {
            None => byte,
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'v') => 11,
            Some(b'f') => 12,
            Some(b'r') => b'\r',
            Some(digit @ b'0'..=b'3') => {
                let more = rest.by_ref().take(2);
                more.fold(digit - b'0', |value, digit| (value << 3) | (digit & 7))
            }
            Some(other) => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A value for git's configuration file, quoted.
pub(crate) fn config_value(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars().filter(|c| !c.is_control()) {
        if c == '"' || c == '\\' {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

/// A value for git's configuration file with all that it has, quoted.
pub(crate) fn config_text(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
        .replace('\t', "\\t");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn every_byte_stays_on_one_line() {
        let path = Path::new(OsStr::from_bytes(b"a\nb\"\\\xff"));
        assert_eq!(c_style(path), b"\"a\\012b\\\"\\\\\\377\"");
        assert_eq!(unquoted("\\303\\251\\t\\\"\\\\\\r x"), "é\t\"\\\r x");
        assert_eq!(config_value("a\"b\n"), "\"a\\\"b\"");
        assert_eq!(config_text("sed \"s/\\t/;/\"\n"), r#""sed \"s/\\t/;/\"\n""#);
    }
}
