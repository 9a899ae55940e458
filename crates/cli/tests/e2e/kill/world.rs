//! A repository with a queue, a person who works in it, and a folder outside that the agents report to.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::kill::git::{git, try_git};
use testkit::wait;

/// What the agent of a ticket is to do; the default is one small step.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Steps that end well before it says that it is done.
    pub(crate) steps: u64,
    /// Commits in a step.
    pub(crate) pieces: u64,
    /// Between writing and committing, in milliseconds.
    pub(crate) pause_ms: u64,
    /// Whether it leaves files that it does not commit.
    pub(crate) leaves: bool,
    /// What it leaves running: `none`, `plain` or `daemon`.
    pub(crate) child: &'static str,
    /// Whether its first submission fails the checks.
    pub(crate) breaks: bool,
    /// Whether it writes in the file that others write in too.
    pub(crate) shares: bool,
    /// Whether it is done only when the faults are over.
    pub(crate) waits: bool,
    /// The tickets before it.
    pub(crate) deps: Vec<String>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            steps: 1,
            pieces: 1,
            pause_ms: 10,
            leaves: false,
            child: "none",
            breaks: false,
            shares: false,
            waits: false,
            deps: Vec::new(),
        }
    }
}

/// What the agents of a world are, and what their work must pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kit {
    /// The agent's script.
    pub(crate) agent: &'static str,
    /// The check's.
    pub(crate) check: &'static str,
    /// How many are busy at once.
    pub(crate) agents: u32,
    /// The most entries of a batch, and the checkouts for checks.
    pub(crate) train: (u32, u32),
    /// Further lines of the settings: of `[run]`, and tables of their own.
    pub(crate) settings: (&'static str, &'static str),
    /// Whether it stands in memory where there is room, and not on a disk: it is about processes that are
    /// killed, not power.
    pub(crate) in_memory: bool,
}

/// What git says of the checkout; tickets come later, and their files are crew's to write too.
const STATUS: [&str; 6] = [
    "status",
    "--porcelain=v1",
    "-z",
    "--untracked-files=all",
    "--",
    ":!.tickets",
];
/// The file that the person has staged and does not commit.
const STAGED: &str = "src/part-03.txt";

/// The repository and what stands around it. With `KILL_KEEP` set, that of a test that fails is kept to be
/// looked at.
pub(crate) struct World {
    root: TempDir,
    /// The most entries of a batch.
    batch: u32,
    /// Files of the person's that no commit has, by path in the repository.
    edits: BTreeMap<&'static str, &'static str>,
    /// What git says of the person's checkout before crew was there.
    status: String,
    /// Commits of the person's on the target.
    commits: RefCell<Vec<String>>,
}

impl World {
    /// With a ticket for each plan, and `agent` (a script) to do them.
    pub(crate) fn new(agent: &'static str, plans: &BTreeMap<String, Plan>) -> Self {
        let kit = Kit {
            agent,
            check: include_str!("check.sh"),
            agents: 4,
            train: (1, 1),
            settings: ("", ""),
            in_memory: false,
        };
        Self::with(kit, plans)
    }

    /// As [`World::new`], with more to be chosen.
    pub(crate) fn with(kit: Kit, plans: &BTreeMap<String, Plan>) -> Self {
        let folder = memory()
            .filter(|_| kit.in_memory)
            .unwrap_or_else(std::env::temp_dir);
        let root = tempfile::Builder::new()
            .prefix("crew-kill-")
            .tempdir_in(folder)
            .unwrap();
        let mut world = Self {
            root,
            batch: kit.train.0,
            edits: BTreeMap::new(),
            status: String::new(),
            commits: RefCell::default(),
        };
        for folder in ["home", "repo/src", "repo/.tickets", "outside/plans"] {
            fs::create_dir_all(world.root().join(folder)).unwrap();
        }
        world.make_repository(kit);
        world.make_queue(plans);
        world.make_edits();
        world
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// The most entries of a batch.
    pub(crate) fn batch(&self) -> u32 {
        self.batch
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.root().join("repo")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.root().join("state")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.repo().join(".crew/journal.db")
    }

    /// A file in the folder that the agents report to.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.root().join("outside").join(name)
    }

    /// The lines that were reported there, each split at its first spaces into `N` parts.
    pub(crate) fn reported<const N: usize>(&self, name: &str) -> Vec<[String; N]> {
        let text = fs::read_to_string(self.outside(name)).unwrap_or_default();
        text.lines()
            .map(|line| {
                let parts: Vec<String> = line.splitn(N, ' ').map(str::to_owned).collect();
                parts.try_into().unwrap_or_else(|_| panic!("{name}: {line:?}"))
            })
            .collect()
    }

    /// The queue, as a person's `tk` sees it.
    pub(crate) fn queue(&self) -> tickets::Folder {
        tickets::Folder::at(&self.repo().join(".tickets")).unwrap()
    }

    /// The person's commits on the target, oldest first.
    pub(crate) fn commits(&self) -> Vec<String> {
        self.commits.borrow().clone()
    }

    /// The person commits one file to the target, in their checkout. When git says that the index is locked
    /// they try again: crew is in the middle of landing, or was killed in it and must be up again.
    /// `meanwhile` sees to that.
    pub(crate) fn commit_by_hand(&self, path: &str, text: &str, mut meanwhile: impl FnMut()) {
        let repo = self.repo();
        fs::write(repo.join(path), text).unwrap();
        wait::until("the index is as the target", || {
            meanwhile();
            self.stale_in_the_index().is_empty().then_some(())
        });
        let mut told = String::new();
        wait::until("the person could commit", || {
            meanwhile();
            let (good, _, err) = try_git(&repo, &["commit", "-q", "-m", "By hand", "--only", "--", path]);
            if err != told {
                println!("a commit by hand: {err}");
                told.clone_from(&err);
            }
            assert!(
                good || err.contains(".lock") || err.contains("cannot lock ref"),
                "{err}"
            );
            good.then_some(())
        });
        self.note_commit();
        // `git commit` reads the index, and then locks it: when the landing ended between the two, it has put
        // back the index from before it. The person sees that, and brings it to HEAD again.
        wait::until("the person's index is whole", || {
            meanwhile();
            let stale = self.stale_in_the_index();
            stale.is_empty().then_some(()).or_else(|| {
                self.bring_to_head(&stale);
                None
            })
        });
    }

    /// Paths whose entry in the index is not HEAD's, and not by the person's will.
    fn stale_in_the_index(&self) -> Vec<String> {
        let said = git(
            &self.repo(),
            &["diff-index", "--cached", "--name-only", "-z", "HEAD"],
        );
        let paths = said.split_terminator('\0').filter(|path| *path != STAGED);
        paths.map(str::to_owned).collect()
    }

    /// By the one command that locks the index before it reads it; while another has the lock, nothing
    /// happens.
    fn bring_to_head(&self, paths: &[String]) {
        for path in paths {
            let entry = git(
                &self.repo(),
                &[
                    "ls-tree",
                    "--format=%(objectmode),%(objectname)",
                    "HEAD",
                    "--",
                    path,
                ],
            );
            let (entry, text) = (entry.trim(), format!("{},{path}", entry.trim()));
            let how = match entry {
                "" => ["--force-remove", path],
                _ => ["--cacheinfo", &text],
            };
            try_git(&self.repo(), &["update-index", "--add", how[0], how[1]]);
        }
    }

    fn note_commit(&self) {
        let head = git(&self.repo(), &["log", "-1", "--format=%H", "--author=A Person"]);
        self.commits.borrow_mut().push(head.trim().to_owned());
    }

    /// Panics unless the person's edits are as they were, to the byte.
    pub(crate) fn check_edits(&self) {
        for (path, text) in &self.edits {
            let now = fs::read_to_string(self.repo().join(path)).unwrap();
            assert_eq!(now, *text, "the person's {path}");
        }
        assert!(
            !self.repo().join("src/part-11.txt").exists(),
            "the person deleted it"
        );
        let status = git(&self.repo(), &STATUS);
        assert_eq!(status, self.status, "what git says of the person's checkout");
    }

    fn make_repository(&self, kit: Kit) {
        let repo = self.repo();
        git(&repo, &["init", "-q", "-b", "main"]);
        git(&repo, &["config", "user.name", "A Person"]);
        git(&repo, &["config", "user.email", "person@example.invalid"]);
        for part in 0..40 {
            fs::write(
                repo.join(format!("src/part-{part:02}.txt")),
                format!("part {part}\n"),
            )
            .unwrap();
        }
        let write = |name: &str, text: &str| fs::write(repo.join(name), text).unwrap();
        write("README.md", "# A project\n");
        write("shared.txt", "");
        write("check.sh", kit.check);
        write(".gitignore", ".env\n");
        let agent = self.root().join("agent.sh");
        fs::write(&agent, kit.agent).unwrap();
        let settings = format!(
            "[project]\ntarget = \"main\"\n\n\
             [run]\nmax_steps = 200\ndebounce = \"0ms\"\nconflict_resolutions = 50\n{}\n\
             [agents]\ncount = {}\nharness = \"scripted\"\n\n\
             [harness.scripted]\nkind = \"command\"\ncommand = [\"sh\", \"{}\"]\nenv = {{ KILL_DIR = \"{}\" }}\n\n\
             [workspace]\nsetup = [\"true\"]\n\n\
             [train]\nbatch = {}\nslots = {}\n\n\
             [checks]\ncommands = [\"sh check.sh {}\"]\n{}",
            kit.settings.0,
            kit.agents,
            agent.display(),
            self.root().join("outside").display(),
            kit.train.0,
            kit.train.1,
            self.root().join("outside").display(),
            kit.settings.1,
        );
        write("crew.toml", &settings);
        git(&repo, &["add", "-A", "--", ":!.tickets"]);
        git(&repo, &["commit", "-q", "-m", "A project"]);
        self.note_commit();
    }

    fn make_queue(&self, plans: &BTreeMap<String, Plan>) {
        for (id, plan) in plans {
            let yes = |is: bool| if is { "yes" } else { "no" };
            let text = format!(
                "STEPS={}\nPIECES={}\nPAUSE={}.{:03}\nLEAVE={}\nCHILD={}\nBREAK={}\nSHARED={}\nWAIT={}\n",
                plan.steps,
                plan.pieces,
                plan.pause_ms / 1000,
                plan.pause_ms % 1000,
                yes(plan.leaves),
                plan.child,
                yes(plan.breaks),
                yes(plan.shares),
                yes(plan.waits),
            );
            fs::write(self.outside(&format!("plans/{id}")), text).unwrap();
            self.add_ticket(id, &format!("deps: [{}]\n", plan.deps.join(", ")));
        }
    }

    /// Writes a ticket's file. `said`: lines that only this one has.
    pub(crate) fn add_ticket(&self, id: &str, said: &str) {
        let ticket = format!(
            "---\nid: {id}\nstatus: open\n{said}links: []\ncreated: 2026-01-02T03:04:05Z\n\
             type: task\npriority: 2\n---\n# The work of {id}\n\nDo it, and say so.\n",
        );
        fs::write(self.ticket_file(id), ticket).unwrap();
    }

    /// A ticket's file.
    pub(crate) fn ticket_file(&self, id: &str) -> PathBuf {
        self.repo().join(format!(".tickets/{id}.md"))
    }

    /// In files that no ticket touches: an edit, one that is staged, a new file, an ignored one, and a
    /// deletion.
    fn make_edits(&mut self) {
        let repo = self.repo();
        self.edits = [
            ("README.md", "# A project\n\nunfinished thoughts\n"),
            (STAGED, "part 3, staged\n"),
            ("mine/new.txt", "nobody else's\n"),
            (".env", "TOKEN=canary\n"),
        ]
        .into();
        fs::create_dir(repo.join("mine")).unwrap();
        for (path, text) in &self.edits {
            fs::write(repo.join(path), text).unwrap();
        }
        git(&repo, &["add", STAGED]);
        fs::remove_file(repo.join("src/part-11.txt")).unwrap();
        self.status = git(&repo, &STATUS);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() && std::env::var_os("KILL_KEEP").is_some() {
            self.root.disable_cleanup(true);
            println!("kept: {}", self.root().display());
        }
    }
}

/// A file system in memory, where the machine has one with enough room.
fn memory() -> Option<PathBuf> {
    let path = PathBuf::from("/dev/shm");
    let free = rustix::fs::statvfs(&path).ok()?;
    let enough = free.f_bavail * free.f_frsize > 1 << 30;
    (enough && tempfile::tempdir_in(&path).is_ok()).then_some(path)
}
