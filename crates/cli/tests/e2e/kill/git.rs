//! git, as a person runs it.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs git in `dir` and gives what it printed; panics when it fails.
pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let (good, out, err) = try_git(dir, args);
    assert!(good, "git {args:?} in {}:\n{out}{err}", dir.display());
    out
}

/// Runs git in `dir`: whether it went well, what it printed, and what it complained of.
pub(crate) fn try_git(dir: &Path, args: &[&str]) -> (bool, String, String) {
    let out = command(dir).args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.success(), text(&out.stdout), text(&out.stderr))
}

/// git with nobody's settings but the repository's.
pub(crate) fn command(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(dir)
        .stdin(Stdio::null())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", dir.join("../home"))
        .env("GIT_CONFIG_NOSYSTEM", "1");
    command
}
