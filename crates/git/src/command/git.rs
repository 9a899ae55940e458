//! The git program.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::types::shortened::shortened;
use crate::types::version::Version;

/// The deadline of a call that sets no other.
const DEADLINE: Duration = Duration::from_secs(60);

/// The part of the caller's environment that git gets to see, as values.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The PATH in which git is looked for, and in which the user's own filters are (only in calls that read
    /// or write files of a checkout or a workspace).
    pub path: OsString,
    /// The user's home, for their git settings in those same calls; `None`: none are read.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, likewise.
    pub config_home: Option<PathBuf>,
    /// The variables that name other files with settings, likewise: `GIT_CONFIG_GLOBAL` and its like.
    pub config_files: Vec<(&'static str, OsString)>,
    /// The user's settings that stand in variables (`GIT_CONFIG_COUNT`), likewise: keys and values.
    pub config: Vec<(String, String)>,
    /// The variables through which a git of the user's reaches another host; only calls to the remote get
    /// them.
    pub to_remotes: ToRemotes,
}

/// Variables for calls to a remote. Some of them hold secrets, so they are never printed.
#[derive(Clone, Default)]
pub struct ToRemotes(pub(super) Vec<(&'static str, OsString)>);

impl ToRemotes {
    /// The value of a variable, if it is set.
    pub(crate) fn get(&self, name: &str) -> Option<&OsString> {
        let mut named = self.0.iter().filter(|(of, _)| *of == name);
        named.next().map(|(_, value)| value)
    }
}

impl std::fmt::Debug for ToRemotes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

/// The variables that say in which files git's settings are.
const CONFIG_FILES: [&str; 3] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// The variables that calls to a remote get: the way to an agent of keys or a helper of credentials, the
/// certificates, and the proxies.
const TO_REMOTES: [&str; 29] = [
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "USER",
    "LOGNAME",
    "KRB5CCNAME",
    "GNUPGHOME",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_CONFIG_DIR",
    "GITLAB_TOKEN",
];

impl Surroundings {
    /// Takes them from an environment. A variable that is empty counts as one that is not set.
    pub fn of(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| variable(name)?.into_string().ok();
        let count: usize = text("GIT_CONFIG_COUNT")
            .and_then(|count| count.parse().ok())
            .unwrap_or(0);
        // git refuses to run where one of them is not set; there is no use in going on to a made-up count.
        let pairs = (0..count).map_while(|at| {
            let key = text(&format!("GIT_CONFIG_KEY_{at}"))?;
            Some((key, text(&format!("GIT_CONFIG_VALUE_{at}"))?))
        });
        let files = CONFIG_FILES.into_iter();
        Self {
            path: set("PATH").unwrap_or_default(),
            home: set("HOME").map(PathBuf::from),
            config_home: set("XDG_CONFIG_HOME").map(PathBuf::from),
            config_files: files.filter_map(|name| Some((name, set(name)?))).collect(),
            config: pairs.collect(),
            to_remotes: ToRemotes(
                TO_REMOTES
                    .into_iter()
                    .filter_map(|name| Some((name, set(name)?)))
                    .collect(),
            ),
        }
    }
}

/// A git program that is new enough, and how crew runs it.
///
/// Every call has the absolute program, found once; a cleared environment; an explicit `GIT_DIR` (except to
/// find the repository at all); no replace objects, grafts, hooks, file-system monitor, prompts, pager,
/// editor, network protocols or automatic maintenance; fsync of everything that is written; a deadline (60 s
/// unless a call sets another), after which the whole process group gets TERM and then KILL; bounded output;
/// and an end of options before any name. The settings of the system and of the user are read where the
/// user's own checkout is looked at or written. Calls about workspaces and check checkouts get those of them
/// that are for files, as they were read once. Calls to the remote of `[land]` are the one kind with a
/// network and the user's credentials, and only ever work on the user's own repository.
#[derive(Clone, Debug)]
pub struct Git {
    pub(super) program: Arc<Path>,
    pub(super) version: Version,
    pub(super) surroundings: Arc<Surroundings>,
    pub(super) deadline: Duration,
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

    /// The pager that the settings of the user and of the system name; those of no repository count.
    #[must_use]
    pub fn users_pager(&self) -> Option<String> {
        let mut ask = self.call("config").users_settings();
        // Among them is a pager that shows nothing.
        ask.config.clear();
        let said = ask.args(["--get", "core.pager"]).run().ok()?;
        let named = String::from_utf8_lossy(&said.stdout).trim_end().to_owned();
        (said.code == Some(0)).then_some(named)
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

    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
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
            ..Surroundings::default()
        })
        .unwrap();
        (folder, git)
    }

    /// The naive version inherits the environment: `GIT_DIR`, `GIT_CONFIG_COUNT`, `GIT_SSH_COMMAND` and the
    /// rest count.
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
        // On a busy machine the shell may be ended before it ignores the signal.
        let pid = loop {
            let said = git.call("x").deadline(Duration::from_millis(500)).run();
            assert!(matches!(said, Err(Error::Deadline { .. })));
            let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap_or_default();
            if pid.ends_with('\n') {
                break pid;
            }
        };
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

    /// An agent chooses the names of its files, and git repeats them in its messages.
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
