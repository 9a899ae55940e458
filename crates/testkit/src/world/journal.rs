//! What the journal of a world, and the target, say about its tickets.

use std::fs;

use model::TicketId;
use model::journal::{Fact, State as Kind, Stream};
use model::ticket::{Done, State, Ticket};
use store::{Ledger, Location};

use super::World;

impl World {
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

    /// The tickets that landed, in order, by the trailers of the target's first parents.
    pub fn landed(&self) -> Vec<String> {
        let format = "--format=%(trailers:key=Ticket,valueonly,separator=%x2C)";
        let log = self.git(&["log", "--first-parent", "--reverse", format, "main"]);
        log.lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
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

    /// Waits for the ticket's state by name.
    pub fn wait_for(&self, id: &str, name: &str) {
        self.wait(&format!("{id} is {name}"), || self.state_name(id) == name);
    }

    /// Waits until the n-th run of a ticket was told what to do.
    pub fn wait_for_run(&self, id: &str, n: u32) {
        self.wait(&format!("run {n} of {id}"), || self.runs(id) >= n);
    }

    /// Everything the journal has, for a failed test.
    pub(super) fn story(&self) -> String {
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
