//! A user's repository whose agents are the real client, and the model they talk to.

use std::fs;

use model::attempt;
use model::journal::{Fact, Stream};
use model::{TicketId, ticket};
use model_server::{Request, Server};
use serde_json::Value;

use crate::client;
use crate::world::{Settings, World, make_executable};

/// A name that the client has a price for.
pub const MODEL: &str = "claude-opus-4-8";

/// What every script around the client begins with: crew asks for a version too, and that is no step.
const WRAPPER: &str = "#!/bin/sh\nset -e\nfor last; do :; done\n[ \"$last\" != --version ] || exec \"$@\"\n";

/// A world and its model.
pub struct Scene {
    /// The repository and its agents.
    pub world: World,
    /// The model that the clients ask.
    pub server: Server,
}

impl Scene {
    /// One agent, nothing to check.
    pub fn new() -> Self {
        Self::with(|_| {}, &[])
    }

    /// With other settings, and further variables for the client.
    pub fn with(change: impl FnOnce(&mut Settings), variables: &[(&str, &str)]) -> Self {
        Self::started_by(None, change, variables)
    }

    /// With a script of sh around the client, which finds the client and its arguments in `"$@"`.
    pub fn started_by(
        wrapper: Option<&str>,
        change: impl FnOnce(&mut Settings),
        variables: &[(&str, &str)],
    ) -> Self {
        let server = Server::start().unwrap();
        let world = World::bare();
        fs::create_dir(world.path("tmp")).unwrap();
        let mut command = vec![client::program().display().to_string()];
        if let Some(wrapper) = wrapper {
            let path = world.path("wrapper.sh");
            fs::write(&path, format!("{WRAPPER}{wrapper}\n")).unwrap();
            make_executable(&path);
            command.insert(0, path.display().to_string());
        }
        let root = world.path("");
        let mut env = client::variables(&root, &server.url());
        env.push(("GATES", world.path("gates").display().to_string()));
        env.extend(
            variables
                .iter()
                .map(|(name, value)| (leak(name), (*value).to_owned())),
        );
        let mut settings = Settings::new();
        change(&mut settings);
        let pairs: Vec<String> = env
            .iter()
            .map(|(name, value)| format!("{name} = {value:?}"))
            .collect();
        settings.harness = format!(
            "kind = \"claude\"\nmodel = \"{MODEL}\"\ncommand = {command:?}\nenv = {{ {} }}\n{}",
            pairs.join(", "),
            settings.harness
        );
        world.write_settings(&settings);
        Self { world, server }
    }

    /// A ticket whose agent does these steps.
    pub fn ticket(&self, id: &str, script: &Value) {
        self.world.ticket(id).body(&scripted(id, script)).write();
    }

    /// Drains the queue: all must land, and the model must have understood all it was asked.
    pub fn drain_all(&self) {
        self.world.drain_all();
        self.assert_no_problem();
    }

    /// The model understood all it was asked.
    pub fn assert_no_problem(&self) {
        let problems = self.server.problems();
        assert!(problems.is_empty(), "the model could not answer: {problems:#?}");
    }

    /// The steps of the script that the model was asked for, in order.
    pub fn steps(&self) -> Vec<usize> {
        let requests = self.server.requests();
        requests.iter().filter_map(|request| request.step).collect()
    }

    /// The client's sessions that asked, in the order of their first request.
    pub fn sessions(&self) -> Vec<String> {
        let mut sessions = Vec::new();
        for request in self.server.requests() {
            if let Some(session) = request.session
                && !sessions.contains(&session)
            {
                sessions.push(session);
            }
        }
        sessions
    }

    /// What happened to the attempts at a ticket, in order.
    pub fn attempt_events(&self, id: &str) -> Vec<attempt::Event> {
        let stream = Stream::Ticket(TicketId::new(id).unwrap());
        let history = self
            .world
            .journal(async |ledger| ledger.history(&stream).await.unwrap())
            .unwrap();
        let events = history.into_iter().filter_map(|fold| match fold.fact {
            Fact::Ticket(ticket::Event::Attempt(event)) => Some(event),
            _ => None,
        });
        events.collect()
    }

    /// The classes and messages of a ticket's failed steps, in order.
    pub fn failures(&self, id: &str) -> Vec<attempt::Failure> {
        let events = self.attempt_events(id).into_iter();
        let failures = events.filter_map(|event| match event {
            attempt::Event::StepFailed { failure, .. } => Some(failure),
            _ => None,
        });
        failures.collect()
    }

    /// What each ended step of a ticket used, in order: those that failed too.
    pub fn used(&self, id: &str) -> Vec<attempt::Usage> {
        let events = self.attempt_events(id).into_iter();
        let used = events.filter_map(|event| match event {
            attempt::Event::StepFailed { usage, .. } | attempt::Event::StepFinished { usage, .. } => {
                Some(usage)
            }
            _ => None,
        });
        used.collect()
    }

    /// How many errors in a row were left after each of a ticket's failed steps.
    pub fn errors_left(&self, id: &str) -> Vec<u32> {
        let events = self.attempt_events(id).into_iter();
        let left = events.filter_map(|event| match event {
            attempt::Event::StepFailed { errors_left, .. } => Some(errors_left),
            _ => None,
        });
        left.collect()
    }

    /// Kills the only client that runs, as the system does when memory runs out, once it has written down
    /// that it used tools so many times: of a use that it has not written down it would not know when it
    /// resumes.
    pub fn kill_client(&self, uses: usize) {
        let written = |text: &String| text.matches(r#""type":"tool_use""#).count();
        self.world.wait("the use of the tool is in the transcript", || {
            self.transcripts().iter().map(written).max().unwrap_or_default() >= uses
        });
        let pid = rustix::process::Pid::from_raw(self.client().cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    /// What the client has written down of its sessions.
    fn transcripts(&self) -> Vec<String> {
        let projects = fs::read_dir(self.world.path("home/.claude/projects"))
            .into_iter()
            .flatten()
            .flatten();
        let files = projects.flat_map(|project| fs::read_dir(project.path()).into_iter().flatten().flatten());
        files
            .filter_map(|file| fs::read_to_string(file.path()).ok())
            .collect()
    }

    /// The only client that runs. What it starts is still the same program for a moment, also when the
    /// process between the two has ended; so it is the only one once that is over.
    pub fn client(&self) -> u32 {
        let only = std::cell::Cell::new(None);
        self.world.wait("one client runs", || {
            only.set(match self.clients()[..] {
                [client] => Some(client),
                _ => None,
            });
            only.get().is_some()
        });
        only.get().unwrap()
    }

    /// The processes of the client itself.
    fn clients(&self) -> Vec<u32> {
        let program = client::program().canonicalize().unwrap();
        let is_client = |pid: u32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program);
        let found = self.world.processes().into_iter();
        let pids = found.filter_map(|process| process.split(':').next()?.parse::<u32>().ok());
        // A client that starts a tool has a child that is still the same program for a moment.
        pids.filter(|pid| is_client(*pid) && !parent(*pid).is_some_and(is_client))
            .collect()
    }
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

impl Drop for Scene {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the model was asked {}", told(&self.server.requests()));
        }
        // A client that still runs after a failed test would go on asking a model that is gone.
        self.world.kill_everything();
    }
}

/// A ticket's text with its script. Its own words keep its script apart from the same one of another ticket.
/// A text of the script may be such a text in its turn: the marks of that one show only where it is said.
pub fn scripted(id: &str, script: &Value) -> String {
    let script = script.to_string().replace("@@", "\\u0040\\u0040");
    format!("Work on {id} by the script.\n\n@@{script}@@")
}

/// A command that waits for a gate (`world.open`), not for ever: the client refuses to run a bare `sleep`.
pub fn until_open(gate: &str) -> String {
    format!(
        "python3 -c \"import os,time\nfor _ in range(6000):\n    if os.path.exists(os.environ['GATES']+'/{gate}'): break\n    time.sleep(0.02)\""
    )
}

fn told(requests: &[Request]) -> String {
    let lines = requests
        .iter()
        .map(|request| serde_json::to_string(request).unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

fn leak(name: &str) -> &'static str {
    Box::leak(name.to_owned().into_boxed_str())
}
