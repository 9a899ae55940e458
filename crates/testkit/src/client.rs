//! The pinned client, as `cargo xtask clients` installs it.

use std::fs;
use std::path::{Path, PathBuf};

/// Its program. A test without it fails: it would prove nothing.
pub fn program() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    let installed = root.join("target/clients/claude");
    let lock = |folder: &Path| fs::read(folder.join("package-lock.json")).ok();
    assert!(
        lock(&installed).is_some() && lock(&installed) == lock(&root.join("clients/claude")),
        "Claude Code is not installed as clients/claude pins it: run `cargo xtask clients`"
    );
    installed.join("claude")
}

/// The variables that keep it on this machine and in this folder, with a key that is none.
pub fn variables(folder: &Path, url: &str) -> Vec<(&'static str, String)> {
    let below = |name: &str| folder.join(name).display().to_string();
    vec![
        ("ANTHROPIC_BASE_URL", url.to_owned()),
        ("ANTHROPIC_API_KEY", "sk-ant-no-key".to_owned()),
        ("CLAUDE_CONFIG_DIR", below("home/.claude")),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_TELEMETRY", "1".to_owned()),
        ("DISABLE_ERROR_REPORTING", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TERM", "dumb".to_owned()),
        ("TMPDIR", below("tmp")),
    ]
}
