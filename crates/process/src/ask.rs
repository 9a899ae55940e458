//! Questions: starts a program that ends by itself, such as `claude --version`, and gives its answer.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Bytes of an answer that are read.
const ANSWER: u64 = 4_096;

/// Starts a program that ends by itself, such as `claude --version`, and gives its standard output. This is
/// no run: nothing of it is kept. The program has exactly this environment, an empty input, a process group
/// of its own, and works at the root of the file system, where no settings of a project are. After `limit`,
/// or once its answer is long enough, it is killed with its group.
///
/// Errors: a sentence that says what went wrong.
pub fn ask(
    program: &Path,
    args: &[OsString],
    env: &BTreeMap<OsString, OsString>,
    limit: Duration,
) -> Result<String, String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a question of a moment is no run: there is nothing for a shim to outlive"
    )]
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .envs(env)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0);
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot start {}: {}", program.display(), text::os_message(&error)))?;
    let group = rustix::process::Pid::from_child(&child);
    let (tell, told) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut answer = Vec::new();
            let read = out.take(ANSWER).read_to_end(&mut answer);
            drop(tell.send(read.map(|_| answer)));
        });
    }
    let answer = told.recv_timeout(limit);
    // The leader is not reaped yet, so the group's id is still its own.
    // It may be gone by itself.
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    drop(child.wait());
    match answer {
        Ok(Ok(answer)) => Ok(String::from_utf8_lossy(&answer).into_owned()),
        Ok(Err(error)) => Err(format!("its answer cannot be read: {}", text::os_message(&error))),
        Err(_) => Err(format!("it did not answer within {} s", limit.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> Result<String, String> {
        let args = ["-c", script].map(OsString::from);
        ask(Path::new("/bin/sh"), &args, &BTreeMap::new(), limit)
    }

    #[test]
    fn an_answer_comes_and_a_silence_ends() {
        let long = Duration::from_secs(60);
        assert_eq!(sh("echo 1.2.3; exit 3", long).unwrap(), "1.2.3\n");
        assert_eq!(sh("pwd", long).unwrap(), "/\n");
        // A process that it has left in the background is killed too: it would keep the pipe open for ever.
        let error = sh(
            "(read x </dev/zero) & while :; do :; done",
            Duration::from_millis(200),
        )
        .unwrap_err();
        assert!(error.contains("did not answer"), "{error}");
        let missing = ask(Path::new("/no/such"), &[], &BTreeMap::new(), long).unwrap_err();
        assert!(missing.contains("/no/such"), "{missing}");
    }
}
