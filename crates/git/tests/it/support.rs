//! Support: a repository to work on, made by the real git.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use git::{
    Branch, Git, Id, Identity, Limits, Lock, Message, Oid, Outcome, Repository, Spec, Surroundings, Time,
    Workspace,
};

/// A user's repository `project` with one commit, an empty HOME, and room for workspaces, in a folder of its
/// own.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) fn path_variable() -> OsString {
    #[expect(clippy::disallowed_methods, reason = "a test finds the machine's git")]
    std::env::var_os("PATH").unwrap()
}

/// Runs git as a person or an agent would: nothing of crew's pins, an empty HOME.
pub(crate) fn git_in(folder: &Path, home: &Path, args: &[&OsStr]) -> Output {
    #[expect(clippy::disallowed_methods, reason = "a test plays the user")]
    Command::new("git")
        .env_clear()
        .env("PATH", path_variable())
        .env("HOME", home)
        .current_dir(folder)
        .args(args)
        .output()
        .unwrap()
}

impl World {
    /// `README` and `src/lib.txt` on `main`.
    pub(crate) fn new() -> Self {
        let world = Self::bare_ground();
        world.git(&["init", "-q", "-b", "main"]);
        world.git(&["config", "user.name", "User"]);
        world.git(&["config", "user.email", "user@example.org"]);
        world.write("README", "hello\n");
        world.write("src/lib.txt", "one\ntwo\nthree\n");
        world.commit_all("first");
        world
    }

    /// The folders, without a repository.
    pub(crate) fn bare_ground() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn workspaces(&self) -> PathBuf {
        self.folder.path().join("workspaces")
    }

    /// The user's git in their checkout; must succeed.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_at(&self.root(), args)
    }

    /// Somebody's git in a folder; must succeed.
    pub(crate) fn git_at(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.try_git_at(folder, args);
        let (said, error) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(output.status.success(), "git {args:?}: {said}{error}");
        said.trim_end().to_owned()
    }

    pub(crate) fn try_git_at(&self, folder: &Path, args: &[&str]) -> Output {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        git_in(folder, &self.home(), &args)
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        put(&self.root().join(path), content);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub(crate) fn commit_all(&self, message: &str) -> Oid {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.head()
    }

    pub(crate) fn head(&self) -> Oid {
        Oid::parse(&self.git(&["rev-parse", "HEAD"])).unwrap()
    }

    pub(crate) fn oid(&self, revision: &str) -> Oid {
        Oid::parse(&self.git(&["rev-parse", "--verify", revision])).unwrap()
    }

    pub(crate) fn status(&self) -> String {
        self.git(&["status", "--porcelain=v1", "--untracked-files=all"])
    }

    pub(crate) fn crews_git(&self) -> Git {
        let surroundings = Surroundings {
            path: path_variable(),
            home: Some(self.home()),
            ..Surroundings::default()
        };
        Git::find(surroundings).unwrap()
    }

    pub(crate) fn open(&self) -> Repository {
        Repository::open(&self.crews_git(), &self.root()).unwrap()
    }

    /// Opened and locked, as the engine does.
    pub(crate) fn open_locked(&self) -> Repository {
        let repository = self.open();
        let lock = Lock::take(&repository.lock_path()).unwrap();
        repository.locked(&lock)
    }

    pub(crate) fn spec(&self, agent: &str, ticket: &str) -> Spec {
        let head = self.head();
        Spec {
            root: self.workspaces(),
            agent: Id::parse(agent).unwrap(),
            ticket: Id::parse(ticket).unwrap(),
            attempt: 1,
            base: head.clone(),
            start: head,
            identity: Identity::new(agent, &format!("{agent}@example.org")),
            excludes: vec![".client/".to_owned()],
            instructions: b"do it\n".to_vec(),
        }
    }

    pub(crate) fn workspace(&self, repository: &Repository) -> Workspace {
        repository.prepare(&self.spec("ada", "t-1")).unwrap()
    }

    /// Every ref with its object.
    pub(crate) fn refs(&self) -> String {
        self.git(&["for-each-ref", "--format=%(refname) %(objectname)"])
    }
}

pub(crate) fn put(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

pub(crate) fn main_branch() -> Branch {
    Branch::parse("main").unwrap()
}

/// No files.
pub(crate) const NOTHING_MADE: &BTreeSet<Vec<u8>> = &BTreeSet::new();
/// For the first command of a check, where nothing is kept.
pub(crate) const CLEAN: git::Stay<'static> = git::Stay::Named {
    files: NOTHING_MADE,
    folders: &[],
};
pub(crate) const AT: Time = Time(1_700_000_000);

pub(crate) fn limits() -> Limits {
    Limits::default()
}

pub(crate) fn message() -> Message {
    let trailer = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    Message {
        subject: "Land t-1".to_owned(),
        body: "Because.".to_owned(),
        trailers: vec![
            trailer("Ticket", "t-1"),
            trailer("Agent", "ada"),
            trailer("Attempt", "1"),
        ],
    }
}

pub(crate) fn merged(repository: &Repository, target: &Oid, tip: &Oid) -> git::Candidate {
    let who = Identity::new("crew", "crew@example.org");
    match repository
        .candidate(target, tip, &message(), &who, &who, AT)
        .unwrap()
    {
        Outcome::Candidate(candidate) => candidate,
        other => panic!("{other:?}"),
    }
}
