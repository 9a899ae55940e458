//! Carrying out a call of git, and its result.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};

use super::call::{Call, Input, Settings};
use super::settings::{AS_THE_USERS, IN_THE_CHECKOUT, PROTOCOLS, USERS_GLOBAL};
use super::trial::{self, may_say_lacking};
use super::watch::{End, end_group, watch};
use crate::error::{Error, Result};
use crate::types::oid::Oid;
use crate::types::shortened::shortened;

/// The result of a call.
pub(crate) struct Output {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    /// Whether git reported that the machine has no more of something, and that is true.
    lacking: bool,
    status: ExitStatus,
    command: String,
}

impl Call {
    /// Runs the call; any exit code is an answer.
    pub(crate) fn run(self) -> Result<Output> {
        let mut stdout = Vec::new();
        let mut output = self.execute(&mut |bytes| {
            stdout.extend_from_slice(bytes);
            Ok(())
        })?;
        output.stdout = stdout;
        Ok(output)
    }

    /// Runs the call; any exit code but 0 is an error.
    pub(crate) fn ok(self) -> Result<Vec<u8>> {
        let output = self.run()?;
        if output.code == Some(0) {
            Ok(output.stdout)
        } else {
            Err(output.failed())
        }
    }

    /// Runs the call and writes its standard output to `file`.
    pub(crate) fn ok_into(self, file: &mut File) -> Result<()> {
        let output = self.execute(&mut |bytes| file.write_all(bytes))?;
        if output.code == Some(0) {
            Ok(())
        } else {
            Err(output.failed())
        }
    }

    /// Runs the call and passes each line of its output to `see`, without keeping any; a long line is cut
    /// off.
    pub(crate) fn ok_lines(self, see: &mut dyn FnMut(&[u8])) -> Result<()> {
        const LINE: usize = 4 << 10;
        let mut line = Vec::new();
        let output = self.output_limit(u64::MAX).execute(&mut |mut bytes| {
            while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
                line.extend_from_slice(&bytes[..end.min(LINE)]);
                see(&line);
                line.clear();
                bytes = &bytes[end + 1..];
            }
            let room = LINE.saturating_sub(line.len());
            line.extend_from_slice(&bytes[..bytes.len().min(room)]);
            Ok(())
        })?;
        if output.code == Some(0) {
            Ok(())
        } else {
            Err(output.failed())
        }
    }

    /// Runs the call and reads one line that is an object id.
    pub(crate) fn ok_oid(self) -> Result<Oid> {
        Oid::from_bytes(self.ok()?.trim_ascii())
    }

    /// Starts the call as a process that stays up: it answers on standard output what it reads on standard
    /// input, and its standard error is dropped.
    pub(crate) fn stay(self) -> Result<Child> {
        let mut process = self.prepared();
        process.stdin(Stdio::piped()).stderr(Stdio::null());
        process.spawn().map_err(|source| Error::Spawn {
            command: self.described(),
            source,
        })
    }

    fn described(&self) -> String {
        let mut text = self.subcommand.to_owned();
        for arg in &self.args {
            text.push(' ');
            text.push_str(&arg.to_string_lossy());
        }
        let clean: String = text
            .chars()
            .map(|c| if c.is_control() { '?' } else { c })
            .collect();
        shortened(&clean, 200)
    }

    fn execute(mut self, sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>) -> Result<Output> {
        let mut output = self.carry_out(sink)?;
        output.lacking = output.code != Some(0)
            && may_say_lacking(&output.stderr)
            && self.is_lacking(&trial::Places::of(&self));
        Ok(output)
    }

    pub(super) fn carry_out(&mut self, sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>) -> Result<Output> {
        let command = self.described();
        let spawning = |source: std::io::Error| Error::Spawn {
            command: command.clone(),
            source,
        };
        let stdin = match std::mem::replace(&mut self.input, Input::None) {
            Input::File(file) => Stdio::from(file),
            Input::None => match &self.lock {
                Some(lock) => Stdio::from(lock.try_clone().map_err(spawning)?),
                None => Stdio::null(),
            },
        };
        let mut process = self.prepared();
        if self.silent {
            process.stdout(match &self.lock {
                Some(lock) => Stdio::from(lock.try_clone().map_err(spawning)?),
                None => Stdio::null(),
            });
        }
        let mut child = process.stdin(stdin).spawn().map_err(spawning)?;
        // From here on the child alone has this copy of the lock.
        drop(process);
        let watched = watch(&mut child, self.deadline, self.limit, sink);
        let end = match watched {
            Ok(End::Exited(stderr)) => Ok(stderr),
            Ok(End::TooLong) => Err(Error::Deadline {
                command: command.clone(),
                after: self.deadline,
            }),
            Ok(End::TooMuch) => Err(Error::OutputTooLarge {
                command: command.clone(),
                limit: self.limit,
            }),
            Err(source) => Err(Error::Spawn {
                command: command.clone(),
                source,
            }),
        };
        if end.is_err() {
            end_group(&mut child);
        }
        let status = child.wait().map_err(spawning)?;
        let stderr = String::from_utf8_lossy(&end?)
            .trim()
            .replace(AS_THE_USERS, "")
            .replace(IN_THE_CHECKOUT, "");
        Ok(Output {
            code: status.code(),
            stdout: Vec::new(),
            stderr,
            lacking: false,
            status,
            command,
        })
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that starts git")]
    fn prepared(&self) -> std::process::Command {
        let mut process = std::process::Command::new(&*self.git.program);
        process
            .env_clear()
            .current_dir(&self.cwd)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // A Ctrl-C in the terminal is for crew to handle; and a filter that git starts must end with git.
        process.process_group(0);
        let always = [
            // Messages and numbers are read, so they are in one language.
            ("LC_ALL", "C"),
            // Replacements and grafts show other commits than those that everybody else has.
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_GRAFT_FILE", "/dev/null"),
            // Nobody is there to answer, to read on, or to write.
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", ""),
            ("GIT_PAGER", "cat"),
            ("GIT_EDITOR", "false"),
            ("GIT_SEQUENCE_EDITOR", "false"),
            // A look must not take the index's lock from the user's git.
            ("GIT_OPTIONAL_LOCKS", "0"),
            // A file may be called `*` or `:(top)`.
            ("GIT_LITERAL_PATHSPECS", "1"),
            // No call needs another host, also not for an object that a partial clone left there.
            ("GIT_ALLOW_PROTOCOL", ""),
            ("GIT_PROTOCOL_FROM_USER", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            // Advice is for a person at a terminal.
            ("GIT_ADVICE", "0"),
        ];
        process.envs(always);
        let around = &self.git.surroundings;
        if self.settings == Settings::Own || self.settings == Settings::Files {
            process.envs([
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("GIT_CONFIG_SYSTEM", "/dev/null"),
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_ATTR_NOSYSTEM", "1"),
            ]);
        }
        if self.settings != Settings::Own {
            process.env("PATH", &around.path);
            match &around.home {
                Some(home) => process.env("HOME", home),
                None => process.env("GIT_CONFIG_GLOBAL", "/dev/null"),
            };
            if let Some(config) = &around.config_home {
                process.env("XDG_CONFIG_HOME", config);
            }
        }
        let mut pairs = Vec::new();
        if self.settings == Settings::Users || self.settings == Settings::Remote {
            process.envs(around.config_files.iter().map(|(name, value)| (name, value)));
            pairs.extend(&around.config);
        }
        if self.settings == Settings::Remote {
            process.envs(around.to_remotes.0.iter().map(|(name, value)| (name, value)));
            process.envs([
                ("GIT_ALLOW_PROTOCOL", PROTOCOLS),
                // Nobody is there to be asked for a password.
                ("SSH_ASKPASS", ""),
                ("SSH_ASKPASS_REQUIRE", "never"),
                ("GCM_INTERACTIVE", "never"),
            ]);
        }
        if self.settings == Settings::Files {
            // Its filters read the settings from the files from which the user's git reads them.
            let global = around
                .config_files
                .iter()
                .find(|(name, _)| *name == "GIT_CONFIG_GLOBAL");
            process.env(USERS_GLOBAL, global.map_or(OsStr::new(""), |(_, file)| file));
        }
        pairs.extend(&self.file_settings);
        process.envs(self.env.iter().map(|(name, value)| (name, value)));
        // Not as arguments, which everybody on the machine can read.
        process.env("GIT_CONFIG_COUNT", pairs.len().to_string());
        for (number, (key, value)) in pairs.into_iter().enumerate() {
            process
                .env(format!("GIT_CONFIG_KEY_{number}"), key)
                .env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        process.args(&self.before);
        for pair in &self.config {
            process.arg("-c").arg(pair);
        }
        process.arg(self.subcommand).args(&self.args);
        process
    }
}

impl Output {
    pub(crate) fn failed(self) -> Error {
        let stderr = if self.stderr.is_empty() {
            "it said nothing".to_owned()
        } else {
            shortened(&self.stderr, 2000)
        };
        Error::Failed {
            command: self.command,
            status: self.status.into(),
            stderr,
            lacking: self.lacking,
        }
    }

    /// The output without the newline at its end, as a path: a path may end in blanks.
    pub(crate) fn path(&self) -> PathBuf {
        let bytes = self.stdout.strip_suffix(b"\n").unwrap_or(&self.stdout);
        PathBuf::from(OsStr::from_bytes(bytes))
    }
}
