//! Names of files that usually hold a secret: a key or a password that must not come into a repository by
//! accident.

/// Ends of the names of files that show how a file with secrets looks, and hold none.
const TEMPLATES: [&str; 6] = [
    ".example",
    ".sample",
    ".template",
    ".dist",
    ".defaults",
    ".schema",
];
/// Ends of the names of files with private keys.
const KEYS: [&str; 4] = [".pem", ".key", ".p12", ".pfx"];
/// The names of private keys of ssh, which may have an addition.
const SSH: [&str; 4] = ["id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"];
/// Whole names of files with passwords.
const PASSWORDS: [&str; 3] = [".netrc", ".pgpass", ".git-credentials"];

/// Whether the last part of a path is a usual name for a file with secrets. `path`: with `/` between its
/// parts. Neither templates (`.env.example`) nor public keys are meant.
#[must_use]
pub fn is_secret_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let is_template = TEMPLATES.iter().any(|end| name.ends_with(end));
    let is_public = name.ends_with(".pub") || name.ends_with(".pub.pem");
    if is_template || is_public {
        return false;
    }
    let has_key = KEYS
        .iter()
        .any(|end| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty()));
    let is_of_ssh = SSH
        .iter()
        .filter_map(|key| name.strip_prefix(key))
        .any(|more| more.is_empty() || more.starts_with(['.', '_', '-']));
    name == ".env" || name.starts_with(".env.") || has_key || is_of_ssh || PASSWORDS.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_environments_are_secret_and_templates_and_public_keys_are_not() {
        let secret = [
            ".env",
            "app/.env.local",
            "tls/server.key",
            "a.PEM",
            "id_rsa",
            ".ssh/id_ed25519_work",
            "x.p12",
            ".netrc",
        ];
        for path in secret {
            assert!(is_secret_file(path), "{path}");
        }
        let plain = [
            ".env.example",
            ".env.sample",
            "env",
            ".envrc",
            "id_rsa.pub",
            "id_rsafety.rs",
            "key.rs",
            ".key",
            "keys/readme",
        ];
        for path in plain {
            assert!(!is_secret_file(path), "{path}");
        }
    }
}
