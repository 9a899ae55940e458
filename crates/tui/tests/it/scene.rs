//! A scene: the history of a repository as rows, and a dashboard that receives them.

use std::collections::BTreeMap;
use std::time::Duration;

use model::attempt::{self, Signal, Usage};
use model::journal::{Fact, State, Stream};
use model::machine::Machine as _;
use model::project::{self, Project};
use model::ticket::{self, Candidate, CheckPlan, Spec, Ticket};
use model::{AgentName, Fence, Oid, RunId, SessionId, TicketId, Time};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use store::Recorded;
use tui::{Action, App, Engine, Key, Msg, Options, Printed, Tone};

/// The start of every scene: 2026-01-02 03:04:05.
const BEGIN: Time = Time(1_767_323_045_000);

pub(crate) struct Scene {
    pub(crate) app: App,
    pub(crate) now: Time,
    pub(crate) actions: Vec<Action>,
    seq: u64,
    project: Project,
    tickets: BTreeMap<TicketId, Ticket>,
}

pub(crate) fn id(text: &str) -> TicketId {
    TicketId::new(text).unwrap()
}

pub(crate) fn agent(text: &str) -> AgentName {
    AgentName::new(text).unwrap()
}

pub(crate) fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).unwrap()
}

impl Scene {
    /// An empty dashboard of this size.
    pub(crate) fn new(columns: u16, lines: u16) -> Self {
        let options = Options {
            repository: "machine".to_owned(),
            colour: true,
            clock: |at| at.to_string().replace('T', " ").replace('Z', ""),
            in_words: |text| text.replace("2026-01-02T", "").replace('Z', " here"),
        };
        Self {
            app: App::new(&options, BEGIN, (columns, lines)),
            now: BEGIN,
            actions: Vec::new(),
            seq: 0,
            project: Project::default(),
            tickets: BTreeMap::new(),
        }
    }

    /// A dashboard in the middle of the work: a step runs, a question is open, a ticket is being checked
    /// and one waits behind it, one is held, one has landed, some wait.
    pub(crate) fn busy(columns: u16, lines: u16) -> Self {
        let mut scene = Self::new(columns, lines);
        scene.engine();
        for name in ["ada", "barbara", "clara", "dorothy", "edith"] {
            scene.project(project::Event::AgentSpawned { name: agent(name) });
        }
        scene.project(project::Event::AgentsBusy);
        scene.work("t-done", "Oil the bearings", "edith");
        scene.step("t-done", Signal::Done, Some("oiled all of them"));
        scene.land("t-done");
        scene.pass(60);
        scene.work("t-ask", "Paint the façade 長い題名", "ada");
        let question =
            "Should it be blue or red? \u{1b}[31mIt decides the look of the whole street.".to_owned();
        scene.step("t-ask", Signal::Asked { question }, None);
        scene.work("t-hold", "Replace the boiler", "barbara");
        let why = "there is no boiler".to_owned();
        scene.step("t-hold", Signal::Blocked { why }, None);
        scene.work("t-check", "Mend the roof", "clara");
        scene.step("t-check", Signal::Done, Some("mended it with tar"));
        scene.candidate("t-check", 'a');
        scene.work("t-line", "Sweep the yard", "dorothy");
        scene.step("t-line", Signal::Done, None);
        scene.pass(75);
        scene.work("t-work", "Make the gate shut", "barbara");
        scene.step("t-work", Signal::None, None);
        scene.begin_step("t-work");
        for n in 1..=3 {
            scene.create(&format!("t-open{n}"), &format!("Part {n} of the fence"), 2);
        }
        scene.print(
            "t-work",
            b"I look at the hinge.\n\x1b]0;title\x07It is bent; I straighten it.\n",
        );
        scene
    }

    /// An engine starts in the repository.
    pub(crate) fn engine(&mut self) {
        let engine = Engine {
            pid: Some(4711),
            since: Some(self.now),
        };
        self.tell(Msg::Engine(Some(engine)));
        self.project(project::Event::Opened);
        self.project(project::Event::Initialized);
    }

    pub(crate) fn tell(&mut self, msg: Msg) {
        self.actions.extend(self.app.update(msg, self.now));
    }

    pub(crate) fn press(&mut self, key: Key) -> Vec<Action> {
        self.app.update(Msg::Key(key), self.now)
    }

    pub(crate) fn type_in(&mut self, text: &str) -> Vec<Action> {
        text.chars()
            .flat_map(|character| self.press(Key::Char(character)))
            .collect()
    }

    /// Lets seconds pass.
    pub(crate) fn pass(&mut self, seconds: u64) {
        self.now = self.now + Duration::from_secs(seconds);
        self.tell(Msg::Tick);
    }

    fn row(&mut self, stream: Stream, fact: Fact, after: State) {
        self.seq += 1;
        let row = Recorded {
            seq: self.seq,
            stream,
            version: self.seq,
            at: self.now,
            cause: String::new(),
            fact,
            after,
        };
        self.tell(Msg::Rows(vec![row]));
    }

    pub(crate) fn project(&mut self, event: project::Event) {
        self.project = project::Machine::transition(&self.project, &event).unwrap().state;
        let after = State::Project(self.project.clone());
        self.row(Stream::Project, Fact::Project(event), after);
    }

    /// Applies an event to a ticket; `false` if the ticket does not accept it.
    pub(crate) fn try_ticket(&mut self, name: &str, event: ticket::Event) -> bool {
        let before = self.tickets.get(&id(name)).cloned();
        let before = before.unwrap_or_else(|| Ticket::new(id(name)));
        let Ok(change) = before.after(&event, self.now) else {
            return false;
        };
        self.tickets.insert(id(name), change.ticket.clone());
        self.row(
            Stream::Ticket(id(name)),
            Fact::Ticket(event),
            State::Ticket(change.ticket.into()),
        );
        true
    }

    #[track_caller]
    pub(crate) fn ticket(&mut self, name: &str, event: ticket::Event) {
        let said = format!("{event:?}");
        assert!(
            self.try_ticket(name, event),
            "{name} refuses {said}: {:?}",
            self.tickets.get(&id(name))
        );
    }

    /// The current state of a ticket.
    pub(crate) fn now(&self, name: &str) -> Ticket {
        let ticket = self.tickets.get(&id(name)).cloned();
        ticket.unwrap_or_else(|| Ticket::new(id(name)))
    }

    pub(crate) fn create(&mut self, name: &str, title: &str, priority: u8) {
        let spec = Spec {
            title: title.to_owned(),
            kind: "task".to_owned(),
            priority,
            created: BEGIN,
            ..Spec::default()
        };
        self.ticket(name, ticket::Event::Created { spec });
    }

    /// An agent claims the ticket, and its first step is about to begin.
    pub(crate) fn claim(&mut self, name: &str, by: &str) {
        let fence = Fence(self.seq + 1);
        self.ticket(
            name,
            ticket::Event::Claimed {
                agent: agent(by),
                fence,
                harness: model::samples::harness(),
                session: SessionId::of_attempt(uuid::Uuid::nil(), &id(name), fence, 1),
                at: self.now,
                eligible: true,
            },
        );
        self.attempt(
            name,
            attempt::Event::WorkspaceReady {
                base: oid('1'),
                earlier_work: false,
            },
        );
    }

    /// Adds a new ticket that an agent works on.
    pub(crate) fn work(&mut self, name: &str, title: &str, by: &str) {
        self.create(name, title, 1);
        self.claim(name, by);
        self.begin_step(name);
    }

    pub(crate) fn attempt(&mut self, name: &str, event: attempt::Event) {
        self.ticket(name, ticket::Event::Attempt(event));
    }

    pub(crate) fn run(&self, name: &str) -> RunId {
        let attempt = self.now(name).attempt().cloned().unwrap();
        RunId::of_step(&id(name), attempt.claim.fence, attempt.conversation.runs.max(1))
    }

    pub(crate) fn begin_step(&mut self, name: &str) {
        let attempt = self.now(name).attempt().cloned().unwrap();
        let run = RunId::of_step(&id(name), attempt.claim.fence, attempt.conversation.runs + 1);
        self.attempt(
            name,
            attempt::Event::StepStarted {
                run,
                budget: None,
                change: None,
            },
        );
        self.attempt(name, attempt::Event::WorkerSpawned);
    }

    /// Ends the running step well.
    pub(crate) fn step(&mut self, name: &str, signal: Signal, summary: Option<&str>) {
        let usage = Usage {
            input_tokens: 12_300,
            output_tokens: 800,
            cost_micro_usd: 250_000,
            ..Usage::default()
        };
        self.attempt(
            name,
            attempt::Event::StepFinished {
                total_micro_usd: None,
                usage,
                signal,
                summary: summary.map(str::to_owned),
                repeat: None,
                unusable: Vec::new(),
                steps_left: 9,
                attempts_left: 2,
                reopen_at: self.now,
                answer_by: None,
            },
        );
    }

    /// Starts the checks of the merged result.
    pub(crate) fn candidate(&mut self, name: &str, digit: char) -> Candidate {
        let candidate = Candidate {
            commit: oid(digit),
            tree: oid('2'),
            target: oid('1'),
            tip: oid('3'),
            passed: Vec::new(),
            review: None,
            brings_nothing: false,
        };
        self.ticket(name, ticket::Event::CheckStarted);
        let built = ticket::Event::CandidateBuilt {
            candidate: candidate.clone(),
            plan: CheckPlan::default(),
        };
        self.ticket(name, built);
        candidate
    }

    pub(crate) fn land(&mut self, name: &str) {
        let candidate = self.candidate(name, 'f');
        self.ticket(
            name,
            ticket::Event::ChecksPassed {
                tree: candidate.tree,
                passed: vec!["true".to_owned()],
                review: false,
            },
        );
        self.ticket(
            name,
            ticket::Event::Landed {
                commit: candidate.commit,
            },
        );
    }

    /// Prints a text from the run of the ticket's step.
    pub(crate) fn print(&mut self, name: &str, bytes: &[u8]) {
        let run = self.run(name);
        self.tell(output(run, bytes));
    }

    /// The last row of the journal.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// The cells of the screen.
    pub(crate) fn cells(&self, columns: u16, lines: u16) -> Buffer {
        let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
        terminal.draw(|frame| tui::draw(&self.app, frame)).unwrap();
        terminal.backend().buffer().clone()
    }

    /// The text on the screen.
    pub(crate) fn screen(&self, columns: u16, lines: u16) -> String {
        let buffer = self.cells(columns, lines);
        let mut out = String::new();
        for y in 0..lines {
            let mut x = 0;
            let mut line = String::new();
            while x < columns {
                let symbol = buffer[(x, y)].symbol();
                line.push_str(symbol);
                x += u16::try_from(unicode_width::UnicodeWidthStr::width(symbol))
                    .unwrap()
                    .max(1);
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// A text that a run printed.
pub(crate) fn output(run: RunId, bytes: &[u8]) -> Msg {
    let text = String::from_utf8_lossy(bytes);
    let line = |line: &str| Printed {
        tone: Tone::Plain,
        indent: 0,
        shown: (true, true),
        joins: false,
        text: line.to_owned(),
    };
    Msg::Output {
        run,
        lines: text.lines().map(line).collect(),
        open: String::new(),
    }
}
