//! A user's repository with a queue, agents that do what their script says, and eyes for what came of it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use model::TicketId;
use model::journal::{Fact, State as Kind, Stream};
use model::ticket::{Done, State, Ticket};
use store::{Ledger, Location};

use crate::wait::{self, within};

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
        [ "$tries" -lt 30000 ] || exit 9
        sleep 0.02
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
}

/// A ticket to be written.
pub struct Writing<'w> {
    world: &'w World,
    id: String,
    lines: Vec<String>,
    title: String,
    body: String,
    script: String,
    priority: u8,
    status: &'static str,
    kind: &'static str,
}

/// What a command came to.
pub struct Said {
    /// Its exit code; none while it runs, and of one that a signal ended.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

/// An engine in the background. It does not outlive its test.
pub struct Engine {
    child: Child,
    out: PathBuf,
    err: PathBuf,
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
        world.git(&["config", "user.name", "User"]);
        world.git(&["config", "user.email", "user@example.org"]);
        world.git(&["add", "README"]);
        world.git(&["commit", "-q", "-m", "first"]);
        world
    }

    /// Writes and commits the settings of a crew, and makes room for its tickets.
    pub fn write_settings(&self, settings: &Settings) {
        fs::create_dir_all(self.project(".tickets")).unwrap();
        self.commit("crew.toml", &self.toml(settings));
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

    /// A place in the test's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A place in the user's checkout.
    pub fn project(&self, name: &str) -> PathBuf {
        self.path("project").join(name)
    }

    /// Writes a file in the user's checkout.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.project(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A file of the user's checkout.
    pub fn read(&self, name: &str) -> String {
        let path = self.project(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// A ticket, written once it is told everything: see [`Writing::write`].
    pub fn ticket(&self, id: &str) -> Writing<'_> {
        Writing {
            world: self,
            id: id.to_owned(),
            lines: Vec::new(),
            title: format!("Do {id}"),
            body: String::new(),
            script: String::new(),
            priority: 2,
            status: "open",
            kind: "task",
        }
    }

    /// A ticket's file.
    pub fn ticket_file(&self, id: &str) -> PathBuf {
        self.project(".tickets").join(format!("{id}.md"))
    }

    /// The front matter's value of a key in a ticket's file.
    pub fn front(&self, id: &str, key: &str) -> String {
        let text = fs::read_to_string(self.ticket_file(id)).unwrap();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{key}: ")));
        line.unwrap_or_else(|| panic!("no {key} in {text}")).to_owned()
    }

    /// Changes a ticket's file as an editor does: the whole of it, under another name, renamed.
    pub fn edit(&self, id: &str, change: impl FnOnce(String) -> String) {
        let path = self.ticket_file(id);
        let text = change(fs::read_to_string(&path).unwrap());
        let beside = self.path("edited");
        fs::write(&beside, text).unwrap();
        fs::rename(&beside, &path).unwrap();
    }

    /// Changes what the ticket's agent does from now on.
    pub fn script(&self, id: &str, script: &str) {
        fs::write(self.path("scripts").join(id), script).unwrap();
    }

    /// Opens a gate that a script waits for with `until_there "$GATES/<name>"`.
    pub fn open(&self, gate: &str) {
        fs::write(self.path("gates").join(gate), "").unwrap();
    }

    /// What the n-th run of a ticket was told.
    pub fn prompt(&self, id: &str, n: u32) -> String {
        let path = self.path("logs").join(format!("{id}.{n}.prompt"));
        fs::read_to_string(&path).unwrap_or_else(|_| panic!("{id} had no run {n}"))
    }

    /// Every row of the journal.
    pub fn rows(&self) -> Vec<(Stream, model::Time, Fact)> {
        let tail = self.journal(async |ledger| ledger.tail(0, 100_000).await.unwrap());
        let tail = tail.unwrap_or_default().into_iter();
        tail.map(|fold| (fold.stream, fold.at, fold.fact)).collect()
    }

    /// Whether any fact of a ticket says this.
    pub fn says(&self, id: &str, text: &str) -> bool {
        self.rows().iter().any(|(stream, _, fact)| {
            matches!(stream, Stream::Ticket(of) if of.as_str() == id)
                && model::view::describe(fact).contains(text)
        })
    }

    /// Why no step is, or was last, started on the harness.
    pub fn harness_pause(&self) -> Option<model::project::HarnessPause> {
        self.rows().into_iter().rev().find_map(|(_, _, fact)| match fact {
            Fact::Project(model::project::Event::HarnessPaused { pause, .. }) => Some(pause),
            Fact::Project(_) | Fact::Ticket(_) => None,
        })
    }

    /// How often a ticket's agent was started.
    pub fn runs(&self, id: &str) -> u32 {
        (1..)
            .find(|n| !self.path("logs").join(format!("{id}.{n}.prompt")).exists())
            .unwrap()
            - 1
    }

    /// A variable of the n-th run's environment.
    pub fn variable(&self, id: &str, n: u32, name: &str) -> Option<String> {
        let env = fs::read_to_string(self.path("logs").join(format!("{id}.{n}.env"))).unwrap();
        env.lines()
            .find_map(|line| line.strip_prefix(&format!("{name}=")))
            .map(str::to_owned)
    }

    // The person at the keyboard.

    /// Runs git as the person does; must succeed.
    pub fn git(&self, args: &[&str]) -> String {
        self.git_at(&self.path("project"), args)
    }

    /// Runs git as the person does in another folder; must succeed. A checkout that is just being followed is
    /// locked for a moment, and a person tries again.
    pub fn git_at(&self, folder: &Path, args: &[&str]) -> String {
        let mut said = None;
        until(&mut || {
            let output = self
                .program("git")
                .current_dir(folder)
                .args(args)
                .output()
                .unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (out, err) = (text(&output.stdout), text(&output.stderr));
            let again = !output.status.success() && err.contains(".lock': File exists");
            said = Some((output.status.success(), out, err));
            !again
        });
        let (well, out, err) = said.unwrap();
        assert!(well, "git {args:?}: {out}{err}");
        out.trim_end().to_owned()
    }

    /// A commit of the person's own on the branch that is checked out.
    pub fn commit(&self, name: &str, text: &str) {
        self.write(name, text);
        self.git(&["add", "--", name]);
        self.git(&["commit", "-q", "-m", &format!("by hand: {name}"), "--", name]);
    }

    /// Runs crew to its end.
    pub fn crew(&self, args: &[&str]) -> Said {
        self.crew_at(&self.path("project"), args)
    }

    /// Runs crew to its end in another folder.
    pub fn crew_at(&self, folder: &Path, args: &[&str]) -> Said {
        let mut engine = self.start_at(folder, args);
        engine.end()
    }

    /// Runs crew; it must accept.
    pub fn must(&self, args: &[&str]) -> Said {
        let said = self.crew(args);
        assert_eq!(said.code, Some(0), "crew {args:?}: {said}");
        said
    }

    /// Runs crew with `--json`; it must accept. The document it prints.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let said = self.must(&[args, &["--json"]].concat());
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// A person changes `crew.toml` where it says `old`.
    pub fn change_settings(&self, old: &str, new: &str) {
        let text = self.read("crew.toml");
        assert!(text.contains(old), "{text}");
        self.write("crew.toml", &text.replace(old, new));
    }

    /// `crew run --until-idle`, with what must hold whenever an engine has come to rest.
    pub fn drain(&self) -> Said {
        let said = self.crew(&["run", "--until-idle"]);
        self.assert_at_rest();
        said
    }

    /// Drains the queue; all must be done.
    pub fn drain_all(&self) -> Said {
        let said = self.drain();
        assert_eq!(said.code, Some(0), "{said}");
        said
    }

    /// Drains the queue; something must be left to a person.
    pub fn drain_held(&self) -> Said {
        let said = self.drain();
        assert_eq!(said.code, Some(3), "{said}");
        said
    }

    /// An engine in the background.
    pub fn engine(&self) -> Engine {
        self.start_at(&self.path("project"), &["run"])
    }

    /// Runs crew to its end, with something to read.
    pub fn crew_fed(&self, args: &[&str], text: &str) -> Said {
        let path = self.path("fed");
        fs::write(&path, text).unwrap();
        let mut engine =
            self.start_reading(&self.path("project"), args, fs::File::open(path).unwrap().into());
        engine.end()
    }

    /// Starts crew in a folder, in the background.
    pub fn start_at(&self, folder: &Path, args: &[&str]) -> Engine {
        self.start_reading(folder, args, Stdio::null())
    }

    fn start_reading(&self, folder: &Path, args: &[&str], stdin: Stdio) -> Engine {
        let n = self.written.get();
        self.written.set(n + 1);
        let (out, err) = (self.path(&format!("out.{n}")), self.path(&format!("err.{n}")));
        let child = self
            .program(&crew())
            .envs(self.around.borrow().iter().map(|(name, value)| (name, value)))
            .current_dir(folder)
            .args(args)
            .stdin(stdin)
            .stdout(fs::File::create(&out).unwrap())
            .stderr(fs::File::create(&err).unwrap())
            .spawn()
            .unwrap();
        Engine { child, out, err }
    }

    /// Sets a variable around every crew from now on.
    pub fn around(&self, name: &str, value: impl AsRef<OsStr>) {
        let mut around = self.around.borrow_mut();
        around.push((name.to_owned(), value.as_ref().to_owned()));
    }

    /// Has every program started by another from now on, as by one that takes another user's part; crew is
    /// there then.
    pub fn run_as(&self, by: &[&str], crew: &Path) {
        let by = by.iter().map(|word| (*word).to_owned()).collect();
        self.by.replace(Some((by, crew.to_owned())));
    }

    /// A program as the person starts it.
    pub fn program(&self, name: &str) -> Command {
        let by = self.by.borrow();
        let line: Vec<&OsStr> = match &*by {
            Some((by, at)) => {
                let name = if name == crew() {
                    at.as_os_str()
                } else {
                    OsStr::new(name)
                };
                by.iter().map(OsStr::new).chain([name]).collect()
            }
            None => vec![OsStr::new(name)],
        };
        #[expect(clippy::disallowed_methods, reason = "a test plays the user")]
        let mut command = Command::new(line[0]);
        command.args(&line[1..]);
        command
            .env_clear()
            .env("PATH", path_variable())
            .env("HOME", self.path("home"));
        command
    }

    // What came of it.

    /// The tickets that landed, in order, by the trailers of the target's first parents.
    pub fn landed(&self) -> Vec<String> {
        let format = "--format=%(trailers:key=Ticket,valueonly,separator=%x2C)";
        let log = self.git(&["log", "--first-parent", "--reverse", format, "main"]);
        log.lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// A file as it is on the target branch.
    pub fn on_main(&self, path: &str) -> Option<String> {
        let output = self
            .program("git")
            .current_dir(self.path("project"))
            .args(["show", &format!("main:{path}")])
            .output();
        let output = output.unwrap();
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The ticket as the journal has it.
    pub fn state(&self, id: &str) -> Ticket {
        self.try_state(id)
            .unwrap_or_else(|| panic!("the journal has no {id}"))
    }

    /// The ticket as the journal has it, if it has.
    pub fn try_state(&self, id: &str) -> Option<Ticket> {
        let id = TicketId::new(id).unwrap();
        self.journal(async |ledger| ledger.streams().await.unwrap())
            .into_iter()
            .flatten()
            .find_map(|(_, _, state)| match state {
                Kind::Ticket(ticket) if ticket.id == id => Some(ticket.as_ref().clone()),
                Kind::Ticket(_) | Kind::Project(_) => None,
            })
    }

    /// The name of the ticket's state, such as `open (held)`.
    pub fn state_name(&self, id: &str) -> String {
        self.try_state(id)
            .map_or_else(|| "unknown".to_owned(), |ticket| ticket.state_name())
    }

    /// The reason a ticket is held.
    pub fn held(&self, id: &str) -> (String, String) {
        let ticket = self.state(id);
        let held = ticket
            .held
            .as_ref()
            .unwrap_or_else(|| panic!("{id} is {}", ticket.state_name()));
        (held.why.name().to_owned(), held.note.clone())
    }

    /// Whether the ticket's work has landed.
    pub fn is_landed(&self, id: &str) -> bool {
        self.try_state(id)
            .is_some_and(|ticket| matches!(ticket.state, State::Done(Done::Landed { .. })))
    }

    /// The agent at work on a ticket.
    pub fn agent_of(&self, id: &str) -> String {
        let ticket = self.state(id);
        ticket
            .attempt()
            .unwrap_or_else(|| panic!("{id} is {}", ticket.state_name()))
            .claim
            .agent
            .to_string()
    }

    /// The commit that was kept of the ticket's n-th attempt.
    pub fn kept(&self, id: &str, n: u32) -> Option<String> {
        let found = self.git(&[
            "for-each-ref",
            "--format=%(objectname)",
            &format!("refs/crew/attempts/{id}/{n}"),
        ]);
        (!found.is_empty()).then_some(found)
    }

    /// Whether the engine was told to stop.
    pub fn is_closing(&self) -> bool {
        let streams = self
            .journal(async |ledger| ledger.streams().await.unwrap())
            .unwrap_or_default();
        streams.into_iter().any(|(_, _, state)| match state {
            Kind::Project(project) => project.state == model::project::State::ShuttingDown,
            Kind::Ticket(_) => false,
        })
    }

    /// The names of the facts of a ticket, in order; those of its attempt by their own names.
    pub fn facts(&self, id: &str) -> Vec<String> {
        let stream = Stream::Ticket(TicketId::new(id).unwrap());
        let history = self
            .journal(async |ledger| ledger.history(&stream).await.unwrap())
            .unwrap_or_default();
        let name = |fact: &Fact| match fact {
            Fact::Ticket(model::ticket::Event::Attempt(event)) => event.name().to_owned(),
            fact => fact.name().to_owned(),
        };
        history.iter().map(|fold| name(&fold.fact)).collect()
    }

    /// How often a fact stands in a ticket's history.
    pub fn count(&self, id: &str, fact: &str) -> usize {
        self.facts(id).iter().filter(|name| *name == fact).count()
    }

    /// Looks into the journal; `None` while there is none.
    pub fn journal<T>(&self, look: impl AsyncFnOnce(Ledger) -> T) -> Option<T> {
        let path = self.project(".crew/journal.db");
        if !path.exists() {
            return None;
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let ledger = store::open(&Location::file(path)).await.ok()?;
            let seen = look(ledger.clone()).await;
            ledger.close().await;
            Some(seen)
        })
    }

    /// Waits until something is so.
    pub fn wait(&self, what: &str, so: impl Fn() -> bool) {
        wait::until(what, || so().then_some(()));
    }

    /// Waits for the ticket's state by name.
    pub fn wait_for(&self, id: &str, name: &str) {
        self.wait(&format!("{id} is {name}"), || self.state_name(id) == name);
    }

    /// Waits until the n-th run of a ticket was told what to do.
    pub fn wait_for_run(&self, id: &str, n: u32) {
        self.wait(&format!("run {n} of {id}"), || self.runs(id) >= n);
    }

    /// Every process that belongs to this test's crew, with its command line.
    pub fn processes(&self) -> Vec<String> {
        let mark = self.folder.path().as_os_str().as_encoded_bytes();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let name = entry.file_name();
            if !name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            let read = |file: &str| fs::read(entry.path().join(file)).unwrap_or_default();
            let (line, env) = (read("cmdline"), read("environ"));
            let shows = |bytes: &[u8]| bytes.windows(mark.len()).any(|window| window == mark);
            // One that has ended and was not yet waited for has neither.
            if shows(&line) || shows(&env) {
                found.push(format!(
                    "{}: {}",
                    name.display(),
                    String::from_utf8_lossy(&line).replace('\0', " ")
                ));
            }
        }
        found
    }

    /// Kills the engine, its shims and all they run, as a machine that loses its power does.
    pub fn kill_everything(&self) {
        let so = || {
            let found = self.processes();
            for process in &found {
                let pid = process.split(':').next().unwrap();
                // It may have ended in between.
                drop(
                    self.program("sh")
                        .args(["-c", "kill -KILL \"$1\" 2>/dev/null", "sh", pid])
                        .status(),
                );
            }
            found.is_empty()
        };
        self.wait("nothing is left alive", so);
    }

    /// A check's wait for a file in its HOME, not for ever.
    pub fn until_home(name: &str) -> String {
        format!(
            "n=0; until [ -e \"$HOME/{name}\" ]; do n=$((n+1)); [ $n -lt 30000 ] || exit 9; sleep 0.02; done"
        )
    }

    /// What holds whenever the engine has come to rest: no process of it is left, its state file is whole, no
    /// workspace is left of what is done, and git finds nothing wrong.
    pub fn assert_at_rest(&self) {
        let left = || self.processes();
        assert!(
            until(&mut || left().is_empty()),
            "left running: {:#?}\n{}",
            left(),
            self.story()
        );
        self.assert_state_file();
        self.git(&["fsck", "--connectivity-only", "--no-dangling"]);
    }

    /// state.json is JSON in the seed's shape.
    pub fn assert_state_file(&self) {
        let path = self.project(".crew/state.json");
        if !path.exists() {
            return;
        }
        let text = fs::read_to_string(path).unwrap();
        let state: serde_json::Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        for agent in state["agents"].as_array().unwrap() {
            let agent = agent.as_object().unwrap();
            for key in [
                "name",
                "session",
                "worktree",
                "branch",
                "task",
                "task_assigned_at",
                "status",
                "step_count",
                "last_step_at",
                "total_input_tokens",
                "total_output_tokens",
                "total_cost_usd",
            ] {
                assert!(agent.contains_key(key), "no {key} in {text}");
            }
        }
    }

    /// The folder that the workspaces stand in.
    pub fn workspaces(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for repository in fs::read_dir(self.path("home/.local/state/crew"))
            .into_iter()
            .flatten()
            .flatten()
            // The slots of checks stay.
            .filter(|folder| !folder.file_name().to_string_lossy().ends_with(".checks"))
        {
            found.extend(
                fs::read_dir(repository.path())
                    .into_iter()
                    .flatten()
                    .flatten()
                    .map(|entry| entry.path()),
            );
        }
        // What crew keeps beside a workspace begins with a dot.
        found.retain(|path| path.is_dir() && !path.file_name().unwrap().to_string_lossy().starts_with('.'));
        found
    }

    /// Everything the journal has, for a failed test.
    fn story(&self) -> String {
        let tail = self
            .journal(async |ledger| ledger.tail(0, 100_000).await.unwrap())
            .unwrap_or_default();
        let mut story = String::from("\nthe journal:\n");
        for fold in tail {
            story.push_str(&format!(
                "{:?} {} {}: {:?}\n",
                fold.at, fold.stream, fold.cause, fold.fact
            ));
        }
        for n in 0..self.written.get() {
            let text = fs::read_to_string(self.path(&format!("err.{n}"))).unwrap_or_default();
            story.push_str(&format!("said on stderr ({n}):\n{text}\n"));
        }
        story
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.story());
        }
    }
}

impl Writing<'_> {
    /// Its title.
    pub fn title(mut self, title: &str) -> Self {
        title.clone_into(&mut self.title);
        self
    }

    /// The text below its title.
    pub fn body(mut self, body: &str) -> Self {
        body.clone_into(&mut self.body);
        self
    }

    /// Its priority.
    pub fn priority(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// Its status, as the file has it.
    pub fn status(mut self, status: &'static str) -> Self {
        self.status = status;
        self
    }

    /// Its type, as the file has it.
    pub fn kind(mut self, kind: &'static str) -> Self {
        self.kind = kind;
        self
    }

    /// A further line of the front matter.
    pub fn line(mut self, line: &str) -> Self {
        self.lines.push(line.to_owned());
        self
    }

    /// The tickets that it waits for.
    pub fn deps(self, ids: &[&str]) -> Self {
        let line = format!("deps: [{}]", ids.join(", "));
        self.line(&line)
    }

    /// What its agent does at each of its steps, in sh.
    pub fn agent(mut self, script: &str) -> Self {
        script.clone_into(&mut self.script);
        self
    }

    /// Writes file and script.
    pub fn write(self) {
        let n = self.world.written.get();
        self.world.written.set(n + 1);
        self.world.script(&self.id, &self.script);
        let mut text = format!("---\nid: {}\nstatus: {}\n", self.id, self.status);
        if !self.lines.iter().any(|line| line.starts_with("deps:")) {
            text.push_str("deps: []\n");
        }
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&format!(
            "links: []\ncreated: 2026-01-01T00:{:02}:{:02}Z\ntype: {}\npriority: {}\n---\n# {}\n\n{}\n",
            n / 60,
            n % 60,
            self.kind,
            self.priority,
            self.title,
            self.body
        ));
        let beside = self.world.path("written");
        fs::write(&beside, text).unwrap();
        fs::rename(&beside, self.world.ticket_file(&self.id)).unwrap();
    }
}

impl Engine {
    /// Waits for its end.
    pub fn end(&mut self) -> Said {
        let status = within(|| self.child.try_wait().unwrap());
        let said = self.said();
        let status = status.unwrap_or_else(|| panic!("crew did not end; it said {said}"));
        Said {
            code: status.code(),
            signal: std::os::unix::process::ExitStatusExt::signal(&status),
            ..said
        }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has not ended.
    pub fn is_up(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// What it has said so far.
    pub fn said(&self) -> Said {
        let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        Said {
            code: None,
            signal: None,
            out: read(&self.out),
            err: read(&self.err),
        }
    }

    /// Sends it a signal, as a terminal does.
    pub fn signal(&self, signal: &str) {
        #[expect(clippy::disallowed_methods, reason = "a test plays the terminal")]
        let mut kill = Command::new("sh");
        let pid = self.child.id().to_string();
        let status = kill
            .args(["-c", "kill -s \"$1\" \"$2\"", "sh", signal, &pid])
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A test that fails half-way must not leave an engine behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Said {
    /// Everything it said.
    pub fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    /// Whether both are told, of the ticket and why.
    pub fn tells_of(&self, id: &str, why: &str) -> bool {
        let all = self.all();
        all.contains(id) && all.contains(why)
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "exit {:?}, signal {:?}\n----- out\n{}\n----- err\n{}\n-----\n",
            self.code, self.signal, self.out, self.err
        )
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
