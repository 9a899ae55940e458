//! The one builder through which git is run.

mod trial;
mod watch;

pub(crate) use trial::may_say_lacking;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use self::watch::{End, end_group, watch};
use crate::error::{Error, Result, shortened};
use crate::identity::{Identity, Time};
use crate::oid::Oid;
use crate::quote;
use crate::version::Version;

/// A call that names no other deadline ends after this.
const DEADLINE: Duration = Duration::from_secs(60);
/// Bytes of standard output that a call may print unless it says otherwise.
const OUTPUT_LIMIT: u64 = 64 << 20;

/// Pinned on every call: nothing that a configuration file says about these counts (security.md R-2).
const PINS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=",
    "credential.helper=",
    "core.quotePath=false",
    "core.warnAmbiguousRefs=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.filesRefLockTimeout=1000",
    "core.packedRefsTimeout=5000",
    "core.fsync=all",
    "core.fsyncMethod=fsync",
    "core.createObject=link",
    "core.multiPackIndex=true",
    "safe.bareRepository=explicit",
    "protocol.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "submodule.recurse=false",
    "color.ui=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "pack.threads=1",
    "merge.renames=true",
    "merge.directoryRenames=conflict",
    "merge.conflictStyle=merge",
    "merge.renormalize=false",
    "diff.renames=true",
];

/// Pinned on calls that must give the same bytes whatever the user's settings are: workspaces and merges.
const RAW_PINS: &[&str] = &[
    "core.autocrlf=false",
    "core.eol=lf",
    "core.safecrlf=false",
    "core.fileMode=true",
    "core.symlinks=true",
    "core.attributesFile=/dev/null",
    "core.sparseCheckout=false",
];

/// What of the caller's environment git gets to see, as values.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The PATH in which git is looked for, and in which the user's own filters are (only in calls that write the
    /// user's checkout or a check checkout).
    pub path: OsString,
    /// The user's home, for their git settings in those same calls; `None`: none are read.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, likewise.
    pub config_home: Option<PathBuf>,
}

/// A git program that is new enough, and how crew runs it.
///
/// Every call: the absolute program found once; a cleared environment; an explicit `GIT_DIR` (except to find the
/// repository at all); no replace objects, grafts, hooks, file-system monitor, prompts, pager, editor, network
/// protocols or automatic maintenance; everything written is fsynced; a deadline (60 s unless a call says otherwise),
/// after which the whole process group gets TERM and then KILL; bounded output; options ended before any name. The
/// system's and user's settings are read only where the user's own checkout or a check checkout is written, since
/// their filters and line endings belong there.
#[derive(Clone, Debug)]
pub struct Git {
    program: Arc<Path>,
    version: Version,
    surroundings: Arc<Surroundings>,
    deadline: Duration,
}

impl Git {
    /// Finds `git` in the absolute folders of `surroundings.path` and checks its version.
    ///
    /// # Errors
    /// [`Error::GitMissing`], [`Error::GitTooOld`], [`Error::GitVersion`].
    pub fn find(surroundings: Surroundings) -> Result<Self> {
        let program = std::env::split_paths(&surroundings.path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join("git"))
            .find(|file| {
                file.metadata()
                    .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
            })
            .ok_or(Error::GitMissing)?;
        let mut git = Self {
            program: program.into(),
            version: Version::MINIMUM,
            surroundings: Arc::new(surroundings),
            deadline: DEADLINE,
        };
        let mut ask = git.call("version");
        ask.config.clear();
        let said = ask.deadline(Duration::from_secs(10)).output_limit(4096).run()?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let Some(found) = Version::parse(&text) else {
            let output = if text.trim().is_empty() { said.stderr } else { text };
            return Err(Error::GitVersion {
                program: git.program.to_path_buf(),
                output: shortened(&output, 200),
            });
        };
        if found < Version::MINIMUM {
            let program = git.program.to_path_buf();
            return Err(Error::GitTooOld {
                program,
                found,
                needed: Version::MINIMUM,
            });
        }
        git.version = found;
        Ok(git)
    }

    /// The same git with another deadline for the calls that do not set their own.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The program's absolute path.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// A call without a repository.
    pub(crate) fn call(&self, subcommand: &'static str) -> Call {
        Call {
            git: self.clone(),
            subcommand,
            args: Vec::new(),
            before: Vec::new(),
            config: PINS.iter().chain(RAW_PINS).map(|pin| (*pin).to_owned()).collect(),
            env: Vec::new(),
            input: Input::None,
            cwd: PathBuf::from("/"),
            deadline: self.deadline,
            limit: OUTPUT_LIMIT,
            needs: 0,
            settings: Settings::Own,
            lock: None,
            silent: false,
        }
    }
}

/// Whose settings count in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settings {
    /// Crew's pins and the repository's own file.
    Own,
    /// Those and the user's and system's: their filters, line endings and ignore rules.
    Users,
}

enum Input {
    None,
    /// Already written to an anonymous file: no thread feeds it and no pipe can fill up.
    File(File),
}

/// One call of git being put together.
///
/// Without input, the child's stdin is the repository's lock, when crew holds it (rule 5): an orphan then keeps the
/// lock until it ends. With input it cannot be, so calls with input only read, write objects, or write an index that
/// nobody else uses; refs and the user's files are never changed by them, but by those whose standard output is the lock
/// instead ([`Call::silent`]).
pub(crate) struct Call {
    git: Git,
    subcommand: &'static str,
    args: Vec<OsString>,
    before: Vec<OsString>,
    config: Vec<String>,
    env: Vec<(&'static str, OsString)>,
    input: Input,
    cwd: PathBuf,
    deadline: Duration,
    limit: u64,
    /// Bytes that it writes, where that is known.
    needs: u64,
    settings: Settings,
    lock: Option<Arc<File>>,
    silent: bool,
}

/// How a call ended.
pub(crate) struct Output {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    /// The machine had no more of something, and git said so.
    lacking: bool,
    status: ExitStatus,
    command: String,
}

impl Call {
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name, value.as_ref().to_owned()));
        self
    }

    /// How many bytes it writes, for finding out whether the disk is too full for it.
    pub(crate) fn needs(mut self, bytes: u64) -> Self {
        self.needs = bytes;
        self
    }

    /// Sets one more configuration value, stronger than any file's and the pins'.
    pub(crate) fn config(mut self, pair: &str) -> Self {
        self.config.push(pair.to_owned());
        self
    }

    pub(crate) fn git_dir(self, dir: &Path) -> Self {
        self.env("GIT_DIR", dir)
    }

    /// Files are looked for and written under `dir`; the call also runs there.
    pub(crate) fn work_tree(mut self, dir: &Path) -> Self {
        dir.clone_into(&mut self.cwd);
        self.env("GIT_WORK_TREE", dir)
    }

    pub(crate) fn cwd(mut self, dir: &Path) -> Self {
        dir.clone_into(&mut self.cwd);
        self
    }

    pub(crate) fn index(self, file: &Path) -> Self {
        self.env("GIT_INDEX_FILE", file)
    }

    /// The index is one that can be made again, so it need not survive a power cut; objects must, together.
    pub(crate) fn throwaway_index(self, file: &Path) -> Self {
        self.index(file)
            .config("core.fsync=all,-index")
            .config("core.fsyncMethod=batch")
    }

    /// One more object store to read from.
    pub(crate) fn alternate(self, objects: &Path) -> Self {
        let quoted = quote::c_style(objects);
        self.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsString::from_vec(quoted))
    }

    /// Attributes come from this tree instead of the files around (rule 8).
    pub(crate) fn attributes_from(mut self, tree: &str) -> Self {
        self.before.push(format!("--attr-source={tree}").into());
        self
    }

    pub(crate) fn committer(self, who: &Identity, when: Option<Time>) -> Self {
        let call = self
            .env("GIT_COMMITTER_NAME", &who.name)
            .env("GIT_COMMITTER_EMAIL", &who.email);
        match when {
            Some(time) => call.env("GIT_COMMITTER_DATE", time.as_git()),
            None => call,
        }
    }

    pub(crate) fn author(self, who: &Identity, when: Time) -> Self {
        self.env("GIT_AUTHOR_NAME", &who.name)
            .env("GIT_AUTHOR_EMAIL", &who.email)
            .env("GIT_AUTHOR_DATE", when.as_git())
    }

    /// Reads the user's settings, for calls about the user's checkout or a check checkout.
    pub(crate) fn users_settings(mut self) -> Self {
        self.settings = Settings::Users;
        self.config.retain(|pair| !RAW_PINS.contains(&pair.as_str()));
        self
    }

    /// Does not refuse to *find* a bare repository; for the search only, so that it can be told from no repository.
    pub(crate) fn may_find_bare(mut self) -> Self {
        self.config
            .retain(|pair| !pair.starts_with("safe.bareRepository"));
        self
    }

    pub(crate) fn lock(mut self, lock: Option<&Arc<File>>) -> Self {
        self.lock = lock.cloned();
        self
    }

    pub(crate) fn input(mut self, bytes: &[u8]) -> Result<Self> {
        let failed = |source: std::io::Error| Error::Spawn {
            command: self.subcommand.to_owned(),
            source,
        };
        let fd = rustix::fs::memfd_create("crew-git-input", rustix::fs::MemfdFlags::CLOEXEC)
            .map_err(|errno| failed(errno.into()))?;
        let mut file = File::from(fd);
        file.write_all(bytes)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .map_err(failed)?;
        self.input = Input::File(file);
        Ok(self)
    }

    /// Gives `file`, from its present position on, as standard input.
    pub(crate) fn input_file(mut self, file: File) -> Self {
        self.input = Input::File(file);
        self
    }

    /// The call prints nothing, and its standard output is the repository's lock: for one that takes input and changes
    /// refs, so that it keeps the lock as every other does.
    pub(crate) fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    pub(crate) fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    pub(crate) fn output_limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Runs it; any exit is an answer.
    pub(crate) fn run(self) -> Result<Output> {
        let mut stdout = Vec::new();
        let mut output = self.execute(&mut |bytes| {
            stdout.extend_from_slice(bytes);
            Ok(())
        })?;
        output.stdout = stdout;
        Ok(output)
    }

    /// Runs it; any exit but 0 is an error.
    pub(crate) fn ok(self) -> Result<Vec<u8>> {
        let output = self.run()?;
        if output.code == Some(0) {
            Ok(output.stdout)
        } else {
            Err(output.failed())
        }
    }

    /// Runs it; its standard output goes to `file`.
    pub(crate) fn ok_into(self, file: &mut File) -> Result<()> {
        let output = self.execute(&mut |bytes| file.write_all(bytes))?;
        if output.code == Some(0) {
            Ok(())
        } else {
            Err(output.failed())
        }
    }

    /// Runs it and shows each line of its output, without keeping any; a long one is cut off.
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

    /// Runs it and reads one line that is an object id.
    pub(crate) fn ok_oid(self) -> Result<Oid> {
        Oid::from_bytes(self.ok()?.trim_ascii())
    }

    /// Starts it and leaves it up: it reads what it is asked and prints what it has to say. Of errors it says nothing.
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

    fn carry_out(&mut self, sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>) -> Result<Output> {
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
        // The copy of the lock that the builder has is the child's alone.
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
        let stderr = String::from_utf8_lossy(&end?).trim().to_owned();
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
        // A Ctrl-C in the terminal is crew's to handle; and a filter that git starts must end with it.
        process.process_group(0);
        let always = [
            ("LC_ALL", "C"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_GRAFT_FILE", "/dev/null"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", ""),
            ("GIT_PAGER", "cat"),
            ("GIT_EDITOR", "false"),
            ("GIT_SEQUENCE_EDITOR", "false"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_LITERAL_PATHSPECS", "1"),
            ("GIT_ALLOW_PROTOCOL", ""),
            ("GIT_PROTOCOL_FROM_USER", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_ADVICE", "0"),
        ];
        process.envs(always);
        match self.settings {
            Settings::Own => {
                process.envs([
                    ("GIT_CONFIG_NOSYSTEM", "1"),
                    ("GIT_CONFIG_SYSTEM", "/dev/null"),
                    ("GIT_CONFIG_GLOBAL", "/dev/null"),
                    ("GIT_ATTR_NOSYSTEM", "1"),
                ]);
            }
            Settings::Users => {
                let around = &self.git.surroundings;
                process.env("PATH", &around.path);
                match &around.home {
                    Some(home) => process.env("HOME", home),
                    None => process.env("GIT_CONFIG_GLOBAL", "/dev/null"),
                };
                if let Some(config) = &around.config_home {
                    process.env("XDG_CONFIG_HOME", config);
                }
            }
        }
        process.envs(self.env.iter().map(|(name, value)| (name, value)));
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
        let status = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "unknown end".to_owned(),
        };
        let stderr = if self.stderr.is_empty() {
            "it said nothing".to_owned()
        } else {
            shortened(&self.stderr, 2000)
        };
        Error::Failed {
            command: self.command,
            status,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Deadline;

    fn fake(script: &str) -> (tempfile::TempDir, Git) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("git");
        let text =
            format!("#!/bin/sh\ncase \"$*\" in *version) echo git version 2.45.0; exit;; esac\n{script}\n");
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let home = Some(PathBuf::from("/the-users-home"));
        let git = Git::find(Surroundings {
            path: folder.path().into(),
            home,
            config_home: None,
        })
        .unwrap();
        (folder, git)
    }

    /// The naive version inherits the environment: `GIT_DIR`, `GIT_CONFIG_COUNT`, `GIT_SSH_COMMAND` and the rest count.
    #[test]
    fn a_call_sees_only_what_crew_gives_it() {
        let (_folder, git) = fake(
            "while read -r line; do echo \"$line\"; done < /proc/self/environ; tr '\\0' '\\n' < /proc/$$/environ; echo ARGS \"$@\"",
        );
        let mut path = git.surroundings.path.clone();
        path.push(":/usr/bin:/bin");
        let git = Git {
            surroundings: Arc::new(Surroundings {
                path,
                ..(*git.surroundings).clone()
            }),
            ..git
        };
        let said = git
            .call("x")
            .users_settings()
            .git_dir(Path::new("/g"))
            .arg("a")
            .ok()
            .unwrap();
        let users = String::from_utf8_lossy(&said).into_owned();
        assert!(
            users.contains("HOME=/the-users-home") && users.contains("GIT_DIR=/g"),
            "{users}"
        );

        let (_folder, git) = fake("/usr/bin/env; echo ARGS \"$@\"");
        let said = git.call("status").git_dir(Path::new("/g")).arg("a").ok().unwrap();
        let text = String::from_utf8_lossy(&said).into_owned();
        let (env, args) = text.split_once("ARGS ").unwrap();
        let names: std::collections::BTreeSet<&str> = env
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, _)| name)
            .collect();
        for name in &names {
            let known =
                name.starts_with("GIT_") || matches!(*name, "LC_ALL" | "PWD" | "_" | "SHLVL" | "OLDPWD");
            assert!(known, "{name} got through");
        }
        for name in [
            "GIT_NO_REPLACE_OBJECTS",
            "GIT_TERMINAL_PROMPT",
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_NOSYSTEM",
        ] {
            assert!(names.contains(name), "{name} is missing");
        }
        for pin in [
            "core.hooksPath=/dev/null",
            "core.fsmonitor=false",
            "core.fsync=all",
            "protocol.allow=never",
            "gc.auto=0",
            "safe.bareRepository=explicit",
        ] {
            assert!(args.contains(&format!("-c {pin} ")), "{pin} is missing");
        }
        assert!(args.trim().ends_with("status a"));
    }

    #[test]
    fn output_without_end_is_cut_off() {
        let (_folder, git) = fake("while :; do echo 0123456789012345678901234567890123456789; done");
        let said = git.call("x").output_limit(1 << 20).run();
        assert!(matches!(
            said,
            Err(Error::OutputTooLarge { limit: 1_048_576, .. })
        ));
    }

    #[test]
    fn a_deaf_child_is_killed_with_its_children() {
        let (folder, git) = fake("trap '' TERM; /bin/sleep 600 & echo $! > \"${0%/*}/pid\"; wait; wait");
        let said = git.call("x").deadline(Duration::from_millis(500)).run();
        assert!(matches!(said, Err(Error::Deadline { .. })));
        let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
        let deadline = Deadline::after(Duration::from_secs(20));
        let lives = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            !stat.is_empty() && !stat.contains(") Z ")
        };
        while lives() {
            assert!(!deadline.left().is_zero(), "the grandchild lives on");
            crate::clock::pause(Duration::from_millis(10));
        }
    }

    /// An agent chooses the names of its files, and git says them.
    #[test]
    fn names_in_what_git_says_are_not_taken_for_a_lack() {
        let said = "error: x: No space left on device: unsupported file type\nfatal: Unable to process path write error";
        let words = format!("printf '%s\\n' '{said}' >&2; exit 128");
        let (folder, git) = fake(&format!("case \"$*\" in *hash-object*) exit 0;; esac; {words}"));
        let of_files = |git: &Git, folder: &Path| git.call("x").git_dir(folder).work_tree(folder);
        let failed = of_files(&git, folder.path()).ok().unwrap_err();
        assert!(!failed.is_passing(), "{failed}");
        let too_much = of_files(&git, folder.path()).needs(1 << 60).ok().unwrap_err();
        assert!(too_much.is_passing(), "{too_much}");
        let of_objects = git.call("x").git_dir(folder.path()).ok().unwrap_err();
        assert!(of_objects.is_passing(), "{of_objects}");

        let (folder, git) = fake(&words);
        let failed = of_files(&git, folder.path()).ok().unwrap_err();
        assert!(failed.is_passing(), "{failed}");
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "a trial leaves nothing"
        );
    }
}
