//! Writes a long journal as a crew writes it: the real core, executor that succeed at once, and days between.
//!
//! `cargo run --release -p sim --example journal FILE EVENTS OPEN`: so many events at least, and so many
//! tickets that are not over, each waiting for a ticket `gate` that has no file.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::{CheckEnd, Core, Duty, End, Input, Loaded, Observation, Output, Report, RunEnd};
use model::attempt::{self, Class, Failure, Signal, Usage, Workspace};
use model::journal::Ordered;
use model::ticket::{Candidate, CheckOutcome, Effect, FileStatus, Spec};
use model::{Oid, RunId, TicketId, Time};
use store::{Journal as _, Ledger, Location};

type Failed = Box<dyn std::error::Error>;

/// Agents at work at once.
const AGENTS: u32 = 16;
/// The age of the journal.
const DAYS: i64 = 90;
/// Rows between two looks for tickets to archive.
const ASIDE: u64 = 2_000;

const JOURNAL: &str = "00000000-0000-4000-8000-000000000002";

/// A crew at work.
struct Crew {
    ledger: Ledger,
    core: Core,
    now: Time,
    /// Effects of each ticket, in order.
    effects: VecDeque<Ordered>,
    /// Runs that have not ended.
    runs: VecDeque<(RunId, TicketId)>,
    /// Steps that ended, of each ticket.
    steps: BTreeMap<TicketId, u32>,
    commits: u64,
}

impl Crew {
    /// Makes what was decided durable, and takes what it orders.
    async fn take(&mut self, outputs: Vec<Output>) -> Result<(), Failed> {
        let (mut writes, mut finished) = (Vec::new(), Vec::new());
        for output in outputs {
            writes.extend(output.writes);
            finished.extend(output.finished);
            if !output.postponed.is_empty() {
                return Err("an effect is to be tried again: these executor succeed".into());
            }
        }
        self.effects.extend(self.ledger.record(writes).await?);
        self.ledger.finish(&finished, self.now).await?;
        Ok(())
    }

    async fn hear(&mut self, inputs: Vec<Input>) -> Result<(), Failed> {
        let outputs = inputs
            .into_iter()
            .map(|input| self.core.step(input, self.now))
            .collect();
        self.take(outputs).await
    }

    fn commit(&mut self) -> Result<Oid, Failed> {
        self.commits += 1;
        Ok(Oid::new(format!("{:040x}", self.commits))?)
    }

    /// The report that an executor would give of an effect.
    fn report(&mut self, ordered: &Ordered) -> Result<Report, Failed> {
        Ok(match &ordered.effect {
            Effect::PrepareWorkspace { .. } => Report::WorkspaceReady {
                base: self.commit()?,
                earlier_work: false,
            },
            Effect::Attempt(attempt::Effect::StartStep { run, .. }) => {
                self.runs.push_back((run.clone(), ordered.ticket.clone()));
                Report::StepSpawned
            }
            Effect::Attempt(attempt::Effect::StopRun { .. }) => Report::Stopped,
            Effect::Attempt(attempt::Effect::InspectWorkspace { .. }) => Report::Inspected {
                workspace: Workspace::Changed,
            },
            Effect::BuildCandidate { .. } => Report::Built {
                candidate: Candidate {
                    commit: self.commit()?,
                    tree: self.commit()?,
                    target: self.commit()?,
                    tip: self.commit()?,
                    passed: Vec::new(),
                    review: None,
                    brings_nothing: false,
                },
                untouched: Vec::new(),
                leftovers: model::ticket::Leftovers::default(),
                absent: Box::default(),
                resolves: None,
                ahead: Box::default(),
            },
            Effect::StartCheck { run, .. } => {
                self.runs.push_back((run.clone(), ordered.ticket.clone()));
                Report::CheckSpawned
            }
            // Nobody delegates in it.
            Effect::Unify { .. } => Report::Unified {
                work: None,
                unmerged: None,
                absent: BTreeSet::new(),
            },
            Effect::Attempt(attempt::Effect::CreateChild { .. }) => Report::Done,
            Effect::Land { candidate, .. } => Report::Landed {
                commit: candidate.commit.clone(),
            },
            // Nothing is reviewed in it.
            Effect::StartReview { .. }
            | Effect::RemoveReview { .. }
            | Effect::LookAtProposal { .. }
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. }
            | Effect::WriteFile(_)
            | Effect::AddNote { .. }
            | Effect::CreateTicket(_) => Report::Done,
        })
    }

    /// Two steps for most tickets, and one in seven of them fails once.
    fn end(&mut self, run: RunId, ticket: &TicketId) -> RunEnd {
        let steps = self.steps.entry(ticket.clone()).or_default();
        *steps += 1;
        let odd = ticket
            .as_str()
            .bytes()
            .fold(0_u32, |sum, b| sum.wrapping_mul(31).wrapping_add(b.into()));
        let end = match *steps {
            1 if odd.is_multiple_of(7) => End::Failed(Failure {
                class: Class::Crash,
                message: "the client ended with 1: the connection was closed before the answer was whole"
                    .to_owned(),
                until: None,
                left: None,
            }),
            1 | 2 if !odd.is_multiple_of(3) => End::Finished(Signal::None),
            _ => End::Finished(Signal::Done),
        };
        if matches!(end, End::Finished(Signal::Done)) {
            self.steps.remove(ticket);
        }
        RunEnd {
            verdict: None,
            run,
            usage: Usage {
                input_tokens: 41_337,
                output_tokens: 2_512,
                cost_micro_usd: 183_250,
                estimated_micro_usd: 0,
            },
            total_micro_usd: None,
            summary: Some(format!(
                "wrote what {ticket} asks for, with a test of it, and looked at what calls it"
            )),
            modes: Vec::new(),
            made: Vec::new(),
            end,
            stated: None,
            left: None,
            unusable: Vec::new(),
            commitments: Vec::new(),
        }
    }

    /// One turn: every effect that is ordered is performed, every run ends.
    async fn turn(&mut self, at: Time) -> Result<(), Failed> {
        self.now = at.max(Time(self.now.0 + 1_000));
        let (mut inputs, mut seen) = (Vec::new(), BTreeSet::new());
        let mut later = VecDeque::new();
        while let Some(ordered) = self.effects.pop_front() {
            if !seen.insert(ordered.ticket.clone()) {
                later.push_back(ordered);
                continue;
            }
            let report = self.report(&ordered)?;
            inputs.push(Input::Reported {
                id: ordered.id,
                ticket: ordered.ticket,
                effect: ordered.effect,
                report,
            });
        }
        self.effects = later;
        self.hear(inputs).await?;
        self.now.0 += 1_000;
        let ended: Vec<_> = self.runs.drain(..).collect();
        let mut inputs: Vec<Input> = ended
            .into_iter()
            .map(|(run, ticket)| match run.is_check() {
                true => Input::CheckEnded(CheckEnd::new(run, CheckOutcome::Passed)),
                false => Input::RunEnded(self.end(run, &ticket)),
            })
            .collect();
        let due = self.ledger.due(self.now).await?;
        inputs.extend(due.into_iter().map(Input::TimerDue));
        inputs.push(Input::Ticked);
        self.hear(inputs).await
    }

    fn observed(&self, id: &TicketId, deps: BTreeSet<TicketId>) -> Observation {
        Observation::Read {
            ticket: id.clone(),
            spec: Spec {
                title: format!("Say why {id} was refused, in the words of whoever asked"),
                kind: "task".to_owned(),
                priority: 2,
                deps,
                created: self.now,
                digest: format!("{:064x}", self.commits),
                acceptance: Some(
                    "The refusal names the key and the line, and a test holds it to that.".to_owned(),
                ),
                ..Spec::default()
            },
            status: FileStatus::Open,
            tags: BTreeSet::new(),
            changed_at: Time(self.now.0 - 60_000),
            origin: model::ticket::Origin::Person,
            notes: Vec::new(),
            renamed: None,
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "what is written has just happened, for whoever reads it"
)]
fn now() -> Result<Time, Failed> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(Time(i64::try_from(since.as_millis())?))
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, events, open] = arguments.as_slice() else {
        return Err("usage: FILE EVENTS OPEN".into());
    };
    let (events, open): (u64, u32) = (events.parse()?, open.parse()?);
    let at = Location::file(std::path::absolute(Path::new(file))?);
    let ledger = store::create(&at, JOURNAL).await?;
    let mut settings = model::samples::settings();
    settings.agents.count = AGENTS;
    settings.checks.commands = vec!["cargo nextest run --workspace".to_owned()];
    let end = now()?;
    let begun = Time(end.0 - DAYS * 24 * 60 * 60 * 1000);
    let core = Core::load(settings, JOURNAL.parse()?, Loaded::default())?;
    let mut crew = Crew {
        ledger,
        core,
        now: begun,
        effects: VecDeque::new(),
        runs: VecDeque::new(),
        steps: BTreeMap::new(),
        commits: 0,
    };
    let opened = crew.core.open(crew.now, Duty::Drain);
    crew.take(vec![opened]).await?;
    crew.hear(vec![Input::Observed {
        seen: Vec::new(),
        whole: true,
    }])
    .await?;
    let (mut view, mut head, mut aside, mut n) = (model::view::Snapshot::default(), 0, 0, 0_u64);
    while head < events {
        let mut seen = Vec::new();
        while seen.len() < AGENTS as usize {
            n += 1;
            seen.push(crew.observed(&TicketId::new(format!("c-{n:06}"))?, BTreeSet::new()));
        }
        crew.hear(vec![Input::Observed { seen, whole: false }]).await?;
        // Until nothing moves any more. The days pass as fast as the journal grows.
        let mut before = head;
        loop {
            let passed = i128::from(end.0 - begun.0) * 19 / 20 * i128::from(head) / i128::from(events);
            let at = begun.0 + i64::try_from(passed)?;
            crew.turn(Time(at.min(end.0))).await?;
            head = crew.ledger.0.head().await?.0;
            let still = crew.effects.is_empty() && crew.runs.is_empty();
            if still && head == before {
                break;
            }
            before = head;
        }
        // As an engine does it, which leaves some rows to be folded by the next.
        if head >= aside + ASIDE {
            aside = head;
            for fold in crew.ledger.tail(view.seq, u32::MAX >> 1).await? {
                crew.ledger.fold_row(&mut view, &fold).await?;
            }
            loop {
                let archived = crew.ledger.archive(&mut view, crew.now).await?;
                crew.core.forget(&archived);
                if archived.is_empty() {
                    break;
                }
            }
        }
    }
    let gate = BTreeSet::from([TicketId::new("gate")?]);
    let waiting: Result<Vec<Observation>, _> = (1..=open)
        .map(|n| TicketId::new(format!("o-{n:04}")).map(|id| crew.observed(&id, gate.clone())))
        .collect();
    crew.now = crew.now.max(Time(end.0 - 7_200_000));
    crew.hear(vec![Input::Observed {
        seen: waiting?,
        whole: false,
    }])
    .await?;
    println!(
        "{} events of {} tickets, {} of them not over",
        crew.ledger.0.head().await?,
        n + u64::from(open),
        open
    );
    crew.ledger.close().await;
    Ok(())
}
