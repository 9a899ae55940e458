//! A user's repository with a queue, agents that do what their script says, and eyes for what came of it.

mod engines;
mod files;
mod journal;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

pub use engines::{Engine, Said};
pub use files::Writing;

use crate::wait::within;

/// Commits one file, and says so.
pub const DONE: &str = "work \"$CREW_TICKET_ID.txt\" done\necho DONE\n";

/// What every scripted agent runs first: it notes what it was given, and has words for what agents do.
const AGENT: &str = r#"#!/bin/sh
set -e
n=1
while [ -e "$LOGS/$CREW_TICKET_ID.$n.prompt" ]; do n=$((n+1)); done
env > "$LOGS/$CREW_TICKET_ID.$n.env"
pwd > "$LOGS/$CREW_TICKET_ID.$n.pwd"
cat > "$LOGS/$CREW_TICKET_ID.$n.part"
mv "$LOGS/$CREW_TICKET_ID.$n.part" "$LOGS/$CREW_TICKET_ID.$n.prompt"
# work FILE TEXT: write a file and commit it.
work() {
    case "$1" in */*) mkdir -p "${1%/*}" ;; esac
    printf '%s\n' "$2" > "$1"
    git add -A -- "$1"
    git commit -q -m "${3:-work on $1}"
}
# until_there PATH: wait for a file, not for ever.
until_there() {
    tries=0
    while [ ! -e "$1" ]; do
        tries=$((tries+1))
        [ "$tries" -lt 6000 ] || exit 9
        sleep 0.1
    done
}
# The n-th run of this ticket, over all its attempts.
RUN=$n
. "$SCRIPTS/$CREW_TICKET_ID"
"#;

/// Sections of `crew.toml`, each the lines below its heading.
pub struct Settings {
    /// Above the first heading.
    pub top: String,
    /// `[run]`
    pub run: String,
    /// `[agents]`
    pub agents: String,
    /// `[harness.scripted]`; empty for the scripted agent.
    pub harness: String,
    /// `[checks]`
    pub checks: String,
    /// `[land]`
    pub land: String,
}

impl Settings {
    /// One agent that is a script, nothing to check.
    pub fn new() -> Self {
        Self {
            top: String::new(),
            run: String::new(),
            agents: "count = 1".to_owned(),
            harness: String::new(),
            checks: String::new(),
            land: String::new(),
        }
    }
}

/// A repository `project` on `main`, an empty HOME and agents' scripts, in a folder of its own.
pub struct World {
    folder: tempfile::TempDir,
    /// Tickets written so far: each is a second younger than the one before.
    written: std::cell::Cell<u32>,
    /// What is around crew beside the usual.
    around: std::cell::RefCell<Vec<(String, OsString)>>,
    /// What every program is started by, and where crew is then.
    by: std::cell::RefCell<Option<(Vec<String>, PathBuf)>>,
    /// Whether engines start agents whatever the checks of the bare target say.
    is_anyway: std::cell::Cell<bool>,
}

impl World {
    /// One agent, no wait after the person's edits, nothing to check.
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// With other settings.
    pub fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let world = Self::bare();
        let mut settings = Settings::new();
        change(&mut settings);
        world.write_settings(&settings);
        world
    }

    /// A repository that no crew was ever in, but scripts for one.
    pub fn bare() -> Self {
        let world = Self {
            folder: tempfile::tempdir().unwrap(),
            written: std::cell::Cell::new(0),
            around: std::cell::RefCell::default(),
            by: std::cell::RefCell::default(),
            is_anyway: std::cell::Cell::new(false),
        };
        // Nothing of this may reach an agent.
        world.around("CANARY_TOKEN", "canary-in-crews-environment");
        world.around("CREW_TICKET_ID", "outer");
        for folder in ["project", "home", "scripts", "logs", "gates"] {
            fs::create_dir_all(world.path(folder)).unwrap();
        }
        fs::write(world.path("agent.sh"), AGENT).unwrap();
        make_executable(&world.path("agent.sh"));
        world.write("README", "hello\n");
        world.git(&["init", "-q", "-b", "main"]);
        // As `git config` writes it, in no process.
        world.add_to_config("[user]\n\tname = User\n\temail = user@example.org\n");
        world.git(&["add", "README"]);
        world.git(&["commit", "-q", "-m", "first"]);
        world
    }

    /// Writes and commits the settings of a crew, and makes room for its tickets.
    pub fn write_settings(&self, settings: &Settings) {
        fs::create_dir_all(self.project(".tickets")).unwrap();
        self.commit("crew.toml", &self.toml(settings));
    }

    /// Lets every engine from now on start agents without a look at the checks of the bare target.
    pub fn anyway(&self) {
        self.is_anyway.set(true);
    }

    /// Lets the scripted agent keep a conversation: its later steps get only news.
    pub fn in_session(&self) {
        self.change_settings("[harness.scripted]", "[harness.scripted]\nsession = true");
    }

    /// The text of `crew.toml` for these settings.
    pub fn toml(&self, settings: &Settings) -> String {
        let Settings {
            top,
            run,
            agents,
            harness,
            checks,
            land,
        } = settings;
        let debounce = if run.contains("debounce") {
            ""
        } else {
            "debounce = \"0s\"\n"
        };
        let harness = if harness.is_empty() {
            format!(
                "command = [\"{}\"]\nenv = {{ SCRIPTS = \"{}\", LOGS = \"{}\", GATES = \"{}\" }}",
                self.path("agent.sh").display(),
                self.path("scripts").display(),
                self.path("logs").display(),
                self.path("gates").display(),
            )
        } else {
            harness.clone()
        };
        let kind = if harness.contains("kind = ") {
            ""
        } else {
            "kind = \"command\"\n"
        };
        format!(
            "{top}\n[run]\n{debounce}{run}\n[agents]\nharness = \"scripted\"\n{agents}\n\
             [harness.scripted]\n{kind}{harness}\n[checks]\n{checks}\n[land]\n{land}\n"
        )
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.story());
        }
    }
}

/// Looks again and again until something is so; `false` when it takes too long.
fn until(so: &mut dyn FnMut() -> bool) -> bool {
    within(|| so().then_some(())).is_some()
}

/// Lets everybody run a file.
pub fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The machine's `PATH`.
pub fn path_variable() -> OsString {
    #[expect(clippy::disallowed_methods, reason = "a test finds the machine's programs")]
    std::env::var_os("PATH").unwrap()
}

/// The program under test: cargo and nextest name it to the tests of its package.
pub fn crew() -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "cargo names the program in the environment"
    )]
    let path = std::env::var("CARGO_BIN_EXE_crew");
    path.expect("CARGO_BIN_EXE_crew names the program: run the tests with cargo or nextest")
}
