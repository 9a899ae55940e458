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
        assert_eq!(config_value("a\"b\n"), "\"a\\\"b\"");
        assert_eq!(config_text("sed \"s/\\t/;/\"\n"), r#""sed \"s/\\t/;/\"\n""#);
    }
}
