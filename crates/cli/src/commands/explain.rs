//! `crew explain`: why a ticket is, or is not, given out.

use clap::Args;
use model::attempt::{self, Failure};
use model::command::Question;
use model::journal::{self, Fact, Stream};
use model::policy::attention::{self, Need, Reason, attention};
use model::policy::route::Refusal;
use model::policy::{capacity, failure, review};
use model::settings::Settings;
use model::ticket::{CheckPlan, Done, Event, State, Ticket, Why, remedy};
use model::view::{
    self, CheckEnding, Failing, MEND, Snapshot, Standing, TrainEntry, UNSEEN, printed, standing_since,
};
use model::{AgentName, Look, Moment, RunId, TicketId};
use store::Ledger;

use crate::commands::ps;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui;
use crate::ui::Style;
use client::activity::Activity;
use client::engine::{self, Engine};
use client::outbox::Outbox;
use client::queue_facts::Facts;
use client::repository::journal;
use client::{commits, documents, follow, inbox, lookup};

/// Where a line goes on that is wider than the terminal.
const HANG: usize = 4;

/// Say why a ticket is not given out, or what happens to it next
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The ticket.
    ticket: String,
}

impl Explain {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let (place, settings) = context.ready()?;
        let ledger = journal(&place).await?;
        let mut crew = follow::present(ledger.as_ref()).await?;
        let id = lookup::ticket(&crew, &place, &self.ticket)?;
        if let Some(ledger) = &ledger {
            ledger.restore(&mut crew, &id, None).await?;
        }
        let look = engine::look(Engine::of(&place)?.as_ref());
        let now = look.now;
        let outbox = Outbox::read(ledger.as_ref()).await?;
        let facts = Facts::gather(&crew, &place, &settings, &outbox.unwritten, now)?;
        let beside = inbox::context(&crew, &place, &settings, &facts, outbox.failing, now)?;
        let refusal = match facts.is_closed_unseen(&id) {
            true => Some(Refusal::FileClosed),
            false => client::refusals::refusal(&facts, &settings, &id),
        };
        let runs = look.engine;
        let ticket = facts.tickets.get(&id).map(AsRef::as_ref);
        let need = ticket.map(|ticket| {
            let refusal = refusal.as_ref();
            let facts = beside.facts(&id);
            attention(ticket, attention::Facts { refusal, ..facts })
        });
        let reason = match &need {
            Some(Need::Person(reason)) => Some(reason),
            Some(Need::Over | Need::Apart | Need::Time | Need::Agent | Need::Others(_)) | None => None,
        };
        let landed = match ticket {
            Some(_) => None,
            None => commits::landed_as(&place, &settings, &id),
        };
        let agents = crew.agents();
        let waits = |name: &AgentName| {
            let mut all = agents.iter();
            all.any(|agent| agent.name == *name && agent.waiting(look).is_some())
        };
        let says = match (&need, &refusal) {
            (_, _) if let Some(commit) = &landed => {
                format!("it landed in {commit}, by an earlier journal")
            }
            (Some(Need::Person(reason)), _) => because(reason, look),
            (Some(Need::Others(others)), _) => others.to_string(),
            (_, _) if let Some(of) = facts.renamed.get(&id) => {
                format!("{id}.md seems to be the file of {of} under another name")
            }
            (_, Some(Refusal::Submitted { .. })) if let Some(ticket) = ticket => {
                submitted(&beside.standing(ticket, now))
            }
            (_, Some(Refusal::InProgress { agent })) if waits(agent) => format!("{agent} has it"),
            (_, Some(refusal)) if ticket.is_some_and(Ticket::brought_nothing) => {
                format!("{refusal}, {}", view::BROUGHT_NOTHING)
            }
            (_, Some(refusal @ Refusal::Done { .. }))
                if let Some(State::Done(Done::Dropped { by, reason })) =
                    ticket.map(|ticket| &ticket.state) =>
            {
                format!("{refusal}, by {by}: {reason}")
            }
            (_, Some(refusal)) => refusal.to_string(),
            (_, None) if runs => "nothing is in the way: it is given out next".to_owned(),
            (_, None) => "nothing is in the way: it is given out as soon as an engine runs".to_owned(),
        };
        let agent = agents.iter().find(|agent| agent.ticket.as_ref() == Some(&id));
        let activity = agent.and_then(|agent| Activity::of(&place, agent, runs, now));
        let failure = agent
            .and_then(|agent| agent.failure.as_ref())
            .or_else(|| failure_of(ticket));
        let (printed, run) = match (&ledger, ticket) {
            (Some(ledger), Some(ticket)) => of_its_check(ledger, ticket).await?,
            (None, _) | (_, None) => (None, None),
        };
        let of_target = match refusal {
            Some(Refusal::TargetRed { .. }) => {
                facts.target.as_ref().and_then(|target| target.verdict.printed())
            }
            Some(_) | None => None,
        };
        let printed = printed.or_else(|| of_target.map(str::to_owned));
        let whole = run.map(|run| place.run_dir(&run)).filter(|dir| dir.is_dir());
        let title = ticket.map(|ticket| ticket.spec.title.clone()).unwrap_or_default();
        let state = match ticket {
            Some(ticket) => ticket.state_name(),
            None if landed.is_some() => "landed".to_owned(),
            None if facts.is_closed_unseen(&id) => "closed".to_owned(),
            None => "unknown".to_owned(),
        };
        let seen = ticket.filter(|_| crew.tickets.contains_key(&id));
        let since = seen.and_then(standing_since);
        let kept: Vec<_> = ticket.into_iter().flat_map(Ticket::work_apart).collect();
        let commitments = ticket
            .map(|ticket| ticket.commitments.as_slice())
            .unwrap_or_default();
        let review = ticket.and_then(|ticket| review::why(&settings, ticket));
        let unusable = ticket
            .and_then(Ticket::attempt)
            .map(|attempt| attempt.unusable.as_slice())
            .unwrap_or_default();
        let session = agent.and_then(|agent| agent.session.as_ref());
        let parts = ticket.map(|ticket| ticket.parts.as_slice()).unwrap_or_default();
        if context.json {
            let waits = agent.and_then(|agent| agent.waits.as_ref());
            context.out.json(&documents::Explanation {
                failing: inbox::why_of(&beside.failing, &id),
                ticket: id,
                title,
                state,
                since: since.map(Moment),
                engine: runs,
                says,
                refusal,
                file_change: ticket.and_then(|ticket| Some(ticket.unheeded.as_ref()?.words())),
                waits_for: waits.map(|waits| waits.what.clone()),
                waits_until: waits.and_then(|waits| waits.until).map(Moment),
                activity: activity.map(documents::Activity::from),
                progress: agent
                    .and_then(|agent| agent.progress.as_ref())
                    .map(documents::Progress::from),
                answer: ticket
                    .and_then(Ticket::attempt)
                    .and_then(|attempt| Some(attempt.waiting_answer()?.to_owned())),
                mode: agent.and_then(|agent| agent.mode),
                session: session.map(|session| session.id.clone()),
                session_state: session.map(|session| session.state),
                messages: messages(ticket).collect(),
                parts: parts.iter().map(|part| part.ticket.clone()).collect(),
                unusable: unusable.to_vec(),
                failure: failure.map(documents::Failure::of),
                commitments: commitments.iter().map(documents::Commitment::of).collect(),
                review,
                pull_request: ticket.and_then(documents::PullRequest::of),
                kept: kept.into_iter().map(documents::KeptWork::from).collect(),
                printed,
                printed_in: whole.map(|dir| dir.display().to_string()),
            })?;
            return Ok(Exit::Done);
        }
        let out = &mut context.out;
        out.wrapped(&format!("{id}  {title}"), 2, Style::Bold)?;
        let since = since.map(|since| {
            let (span, clock) = (ui::span(now.since(since)), ui::clock_time(since));
            format!(" for {span}, since {clock} UTC")
        });
        let state = format!("state: {state}{}", since.unwrap_or_default());
        out.wrapped(&state, HANG, Style::Plain)?;
        out.wrapped(&says, HANG, Style::Plain)?;
        if let (Some(agent), Some(session)) = (agent, session) {
            let mode = agent.mode.map(|mode| format!("mode {}; ", mode.name()));
            let says = format!(
                "  {}session {} of the attempt, {}: {}",
                mode.unwrap_or_default(),
                session.number,
                model::session::name(session.state),
                session.id
            );
            out.wrapped(&says, HANG, Style::Dim)?;
        }
        for message in messages(ticket) {
            let says = format!("  its next step gets: {message}");
            out.wrapped(&says, HANG, Style::Plain)?;
        }
        if !parts.is_empty() {
            let list = parts.iter().map(|part| match &part.result {
                Some(result) => format!("{} {result}", part.ticket),
                None => part.ticket.to_string(),
            });
            let list: Vec<String> = list.collect();
            let says = format!("  its agent broke it up: {}", list.join("; "));
            out.wrapped(&says, HANG, Style::Plain)?;
        }
        if let Some(place) = place_in_train(&view::train(&crew, look), &id) {
            out.wrapped(&format!("  {place}"), HANG, Style::Plain)?;
        }
        if let Some(why) = &review {
            out.wrapped(
                &format!("  a gatekeeper looks at the work, since {why}"),
                HANG,
                Style::Plain,
            )?;
        }
        for line in printed.as_deref().map(ui::excerpt).into_iter().flatten() {
            out.wrapped(&format!("  │ {line}"), HANG, Style::Plain)?;
        }
        if let Some(dir) = whole {
            let dir = dir.strip_prefix(&place.root).unwrap_or(&dir).display();
            out.wrapped(
                &format!("  its whole output: {dir}/out and err"),
                HANG,
                Style::Dim,
            )?;
        }
        // Where no file can be written, that is said below.
        let is_told = |failing: &Failing| failing.is_file && place.refuses_files().is_some();
        let of_it = |failing: &&Failing| failing.ticket == id && !is_told(failing);
        let (said, unsaid): (Vec<&Failing>, Vec<&Failing>) = beside
            .failing
            .iter()
            .filter(of_it)
            .partition(|failing| failing.why == says);
        let change = ticket.and_then(|ticket| ticket.unheeded.as_ref());
        let (change_said, change_unsaid) = match change {
            Some(change) if says.contains(&change.words()) => (Some(change), None),
            change => (None, change),
        };
        let of_file = || file_hint(ticket.is_some_and(Ticket::is_done)).to_owned();
        // Each problem stands above its own hint.
        let mut hints = next(&id, refusal.as_ref(), &facts, look);
        if let Some(Reason::Edits(waiting)) = reason {
            let what = remedy(&waiting.paths);
            hints.push((
                "hint".to_owned(),
                format!("{what}; `crew merge {id}` tries at once"),
            ));
        }
        if let Some(asked) = ticket.and_then(Question::of) {
            let number = asked.number;
            hints.push((
                "hint".to_owned(),
                format!("`crew answer {id} --question {number} <text>` answers it"),
            ));
        }
        if let Some(Reason::Impossible(_)) = reason {
            hints.push((
                "hint".to_owned(),
                format!(
                    "`crew ticket reopen {id}` has it done after all, once the ticket says what it lacked; `crew drop {id}` \
                     gives it up"
                ),
            ));
        }
        hints.extend(change_said.map(|_| ("hint".to_owned(), of_file())));
        hints.extend(said.first().map(|_| ("hint".to_owned(), MEND.to_owned())));
        for (label, line) in hints {
            out.wrapped(&format!("  {label}: {line}"), HANG, Style::Plain)?;
        }
        if let Some(change) = change_unsaid {
            out.wrapped(&format!("  {}", change.words()), HANG, Style::Yellow)?;
            out.wrapped(&format!("    hint: {}", of_file()), HANG + 2, Style::Plain)?;
        }
        for failing in unsaid {
            out.wrapped(&format!("  {}", failing.why), HANG, Style::Red)?;
            out.wrapped(&format!("    hint: {MEND}"), HANG + 2, Style::Plain)?;
        }
        let is_in_the_way = matches!(
            refusal,
            Some(Refusal::TargetRed { .. } | Refusal::TargetUnchecked { .. })
        );
        let answer = ticket
            .zip(agent)
            .and_then(|(ticket, agent)| waiting_answer(ticket, &agent.name, is_in_the_way));
        if let Some(answer) = answer {
            out.wrapped(&format!("  {answer}"), HANG, Style::Plain)?;
            let hint = format!("`crew answer {id} <text>` replaces it until then");
            out.wrapped(&format!("    hint: {hint}"), HANG + 2, Style::Plain)?;
        }
        if let Some(told) = came_back_with(ticket) {
            out.wrapped(
                &format!("  its last attempt came back with: {told}"),
                HANG,
                Style::Plain,
            )?;
        }
        if let Some(words) = attempt::unusable_words(unusable).filter(|words| !says.contains(words)) {
            out.wrapped(&format!("  in its last step, {words}"), HANG, Style::Yellow)?;
        }
        for one in commitments {
            out.wrapped(&format!("  {}", one.words()), HANG, Style::Plain)?;
        }
        for line in ticket.map(Ticket::cleared_words).unwrap_or_default() {
            out.wrapped(&format!("  {line}"), HANG, Style::Plain)?;
        }
        for check in without_tests(&crew, &settings, &id) {
            let what = format!("`{check}` passes and ran no tests, and none are known on the target");
            out.wrapped(&format!("  {what}"), HANG, Style::Yellow)?;
            let hint = "if it has none, `tests = \"none\"` in its [[check]] in crew.toml says so";
            out.wrapped(&format!("    hint: {hint}"), HANG + 2, Style::Plain)?;
        }
        if let Some((ticket, what)) = ticket.and_then(|ticket| Some((ticket, ticket.why_promises_wait()?))) {
            let is_said = ticket.held.is_some() && says.contains(&what);
            if !is_said {
                out.wrapped(&format!("  {what}"), HANG, Style::Yellow)?;
                let hint = format!("`crew approve {id}` lets them count");
                out.wrapped(&format!("    hint: {hint}"), HANG + 2, Style::Plain)?;
            }
            for one in ticket.waiting_words() {
                out.wrapped(
                    &format!("    it waits for that word: {one}"),
                    HANG + 2,
                    Style::Plain,
                )?;
            }
        }
        let leftovers = ticket.map(|ticket| &ticket.leftovers);
        let of_leftovers = leftovers.map(|left| [left.committed_words(), left.left_out_words()]);
        for line in of_leftovers.into_iter().flatten().flatten() {
            out.wrapped(&format!("  {line}"), HANG, Style::Plain)?;
        }
        for work in kept {
            out.wrapped(&format!("  {}", work.words()), HANG, Style::Plain)?;
        }
        // The agent of a ticket that waits for a person waits for that too, and the agent of submitted work
        // waits for the same as the work.
        let is_told = runs && matches!(refusal, Some(Refusal::Submitted { .. }));
        if let Some(waits) = agent
            .and_then(|agent| agent.waiting(look))
            .filter(|_| reason.is_none() && !is_told)
        {
            let its = match agent.is_some_and(|agent| agent.quiet.is_some() && agent.waits.is_none()) {
                true => "its step is",
                false => "it",
            };
            out.wrapped(&format!("  {its} {waits}"), HANG, Style::Plain)?;
        }
        if let Some(activity) = &activity {
            out.wrapped(
                &format!("  its agent is {}", activity.words(now)),
                HANG,
                Style::Plain,
            )?;
        }
        if let Some(reports) = agent.and_then(|agent| agent.reports(now)) {
            out.wrapped(&format!("  its agent {reports}"), HANG, Style::Plain)?;
        }
        if let Some(why) = no_worker(&facts, &settings, ticket) {
            out.wrapped(&format!("  {why}"), HANG, Style::Plain)?;
        }
        let over = ticket.is_some_and(|ticket| ticket.is_done() || ticket.held.is_some());
        if let Some(why) = place.refuses_work(&settings).filter(|_| !over) {
            out.wrapped(&format!("  {why}"), HANG, Style::Plain)?;
        }
        if let Some(why) = place.refuses_files() {
            out.wrapped(
                &format!("  no ticket's file can be written: {why}"),
                HANG,
                Style::Plain,
            )?;
        }
        if let Some(failure) = failure {
            let rule = failure::reaction(failure.class);
            let attempt = ticket.filter(|_| agent.is_some()).and_then(Ticket::attempt);
            let counts = attempt.map(|attempt| &attempt.conversation);
            let (errors, in_a_row) = counts.map_or((0, 0), |counts| (counts.errors, counts.in_a_row));
            let count = failure::in_a_row(failure.class, errors, in_a_row).filter(|_| errors > 0);
            let count = count.map(|count| format!(", {count}")).unwrap_or_default();
            let class = failure.class.name();
            out.wrapped(
                &format!("  {class}{count}: {}", failure.message),
                HANG,
                Style::Plain,
            )?;
            out.wrapped(&format!("  rule: {rule}"), HANG, Style::Plain)?;
        }
        // An agent that waits for it says so itself.
        if agent.is_none() && !over {
            for pause in crew.pauses(now) {
                out.wrapped(&format!("  no step is started: {pause}"), HANG, Style::Plain)?;
            }
        }
        let at_work = ticket.is_some_and(|ticket| matches!(ticket.state, State::InProgress(_)));
        if let Some(pause) = ps::pause(&crew, now)
            && at_work
        {
            out.wrapped(&pause.to_string(), HANG, Style::Yellow)?;
        }
        for problem in facts
            .problems
            .iter()
            .filter(|problem| problem.contains(&format!("/{id}.md")))
        {
            out.wrapped(&format!("  in its file: {problem}"), HANG, Style::Yellow)?;
        }
        Ok(Exit::Done)
    }
}

/// What the last attempt of an open ticket came back with, in one line: its next agent is told.
/// The words of people that its agent gets with the next step.
fn messages(ticket: Option<&Ticket>) -> impl Iterator<Item = String> {
    let attempt = ticket.and_then(Ticket::attempt);
    let messages = attempt.into_iter().flat_map(|attempt| {
        let baited = attempt
            .baited
            .iter()
            .map(|by| format!("{by}: this is your last step"));
        let said = attempt.messages.iter().skip(attempt.messages_shown as usize);
        baited.chain(said.map(|one| format!("{}: {}", one.by, one.text)))
    });
    messages.map(|one| text::sanitise::line(&one))
}

fn came_back_with(ticket: Option<&Ticket>) -> Option<&str> {
    let is_back = |ticket: &&Ticket| matches!(ticket.state, State::Open) && ticket.held.is_none();
    ticket.filter(is_back)?.feedback.last()?.lines().next()
}

/// Where submitted work stands, in words.
fn submitted(standing: &Standing) -> String {
    let why = standing.why.as_ref().map(|why| format!(": {why}"));
    format!("it is submitted, {}{}", standing.word, why.unwrap_or_default())
}

/// The place of submitted work in the merge train, or before it; none where it is alone.
fn place_in_train(train: &[TrainEntry], id: &TicketId) -> Option<String> {
    let at = train.iter().position(|entry| entry.ticket == *id)?;
    let entry = &train[at];
    let is_alone = train.iter().filter(|entry| entry.place.is_some()).count() < 2;
    Some(match (entry.place, &entry.ahead) {
        (Some(place), Some(ahead)) => format!("place {place} in the merge train, merged on {ahead}"),
        (Some(_), None) if is_alone => return None,
        (Some(place), None) => format!("place {place} in the merge train, merged on the target"),
        (None, _) if entry.word != "queued" => return None,
        (None, _) => match at {
            0 => "it is the next to be merged".to_owned(),
            1 => "one ticket is before it".to_owned(),
            before => format!("{before} tickets are before it"),
        },
    })
}

/// What a person can say about a change of the ticket's file that crew cannot explain.
fn file_hint(is_done: bool) -> &'static str {
    match is_done {
        true => "`crew ticket close` leaves it done, `crew ticket reopen` has it done again",
        false => "`crew ticket reopen` or `crew ticket close` says what you want, `crew drop` gives it up",
    }
}

/// Why an agent that is ready for a step is not given one, or work no gatekeeper, where that is for want of a
/// process or of a gatekeeper.
fn no_worker(facts: &Facts, settings: &Settings, ticket: Option<&Ticket>) -> Option<String> {
    let ticket = ticket?;
    let limits = capacity::Limits::new(&settings.agents, &settings.run);
    let tickets = || facts.tickets.values().map(AsRef::as_ref);
    let is_full = capacity::workers(tickets(), limits) == 0;
    let is_ready = ticket
        .attempt()
        .is_some_and(|attempt| matches!(attempt.state, attempt::State::Ready));
    let waits_for_gatekeeper = ticket.held.is_none()
        && ticket
            .reviewing()
            .is_some_and(|reviewing| reviewing.open().is_none());
    if (is_ready || waits_for_gatekeeper) && is_full {
        let n = limits.workers;
        return Some(format!(
            "as many agent processes run as may: [run] max_workers = {n}"
        ));
    }
    let reviews = tickets().flat_map(|other| other.open_reviews().map(move |review| (other, review)));
    let busy: Vec<String> = reviews
        .map(|(other, review)| format!("{} at {}", review.agent, other.id))
        .collect();
    (waits_for_gatekeeper && !busy.is_empty() && busy.len() >= settings.review.count as usize).then(|| {
        let n = settings.review.count;
        format!(
            "no gatekeeper is free ([review] count = {n}): {}",
            busy.join(", ")
        )
    })
}

/// The end of the output of the check for which a ticket is held, and its run.
async fn of_its_check(ledger: &Ledger, ticket: &Ticket) -> Result<(Option<String>, Option<RunId>)> {
    let (mut last, mut failed, mut ended) = (None, None, None);
    if ticket.held.is_some() {
        let stream = Stream::Ticket(ticket.id.clone());
        let each = |fold: store::Recorded| {
            let held = match &fold.after {
                journal::State::Ticket(after) => after.held == ticket.held,
                journal::State::Project(_) => false,
            };
            if let Fact::Ticket(Event::CheckEnded { run, .. }) = &fold.fact {
                ended = Some(run.clone());
            }
            if held && let Some(text) = printed(&fold.fact) {
                (last, failed) = (Some(text.to_owned()), ended.clone());
            }
        };
        ledger.each_of(&stream, 0, each).await?;
    }
    Ok((last, failed))
}

/// The checks that passed on a ticket's work without any test, by what they printed.
fn without_tests(crew: &Snapshot, settings: &Settings, id: &TicketId) -> Vec<String> {
    let names = CheckPlan::of(settings).names().into_iter();
    let is_empty = |name: &String| {
        let verdicts = crew.checks.of(name).map(|tally| tally.verdicts.as_slice());
        let mut of_it = verdicts.unwrap_or_default().iter().rev();
        let last = of_it.find(|verdict| verdict.ticket.as_ref() == Some(id) && verdict.tests.is_some());
        last.is_some_and(|last| last.tests == Some(0) && last.end == CheckEnding::Passed)
    };
    names.filter(is_empty).collect()
}

/// The failure that holds a ticket whose agent was freed.
fn failure_of(ticket: Option<&Ticket>) -> Option<&Failure> {
    let ticket = ticket?;
    match ticket.held.as_ref()?.why {
        Why::Auth | Why::NoProgress => ticket.attempt()?.conversation.failure.as_ref(),
        Why::Failed
        | Why::Blocked
        | Why::Killed
        | Why::Reaped
        | Why::CouldNotRun
        | Why::Landing
        | Why::TargetRed
        | Why::Paths { .. }
        | Why::Commitments { .. }
        | Why::Tests { .. }
        | Why::Conflict
        | Why::Review
        | Why::Diverged
        | Why::Closed
        | Why::Budget { .. } => None,
    }
}

/// Why the ticket waits for a person, and when it goes on without one.
fn because(reason: &Reason<'_>, look: Look) -> String {
    let again = reason.until().and_then(|at| match reason {
        Reason::Question { .. } => Some(format!("goes on without an answer {}", look.due(at)?)),
        Reason::Proposal { .. } => look.looked_at_again(at),
        Reason::Held(_)
        | Reason::Edits(_)
        | Reason::Failure(_)
        | Reason::Impossible(_)
        | Reason::Harness { .. }
        | Reason::Dependency(_)
        | Reason::File(_)
        | Reason::Target(_) => look.tried_again(at),
    });
    format!("{reason}{}", look.added(again))
}

/// The answer that waits for the agent's next step, in words.
fn waiting_answer(ticket: &Ticket, agent: &AgentName, is_target_in_the_way: bool) -> Option<String> {
    let answer = ticket.attempt()?.waiting_answer()?;
    let when = match is_target_in_the_way {
        true => ", once the target passes its checks",
        false => "",
    };
    Some(format!(
        "the answer was taken, and {agent} gets it with the next step{when}: {answer}"
    ))
}

/// Further help: the state of the tickets that it waits for, and a person's remedies.
fn next(id: &TicketId, refusal: Option<&Refusal>, facts: &Facts, look: Look) -> Vec<(String, String)> {
    let hint = |text: String| vec![("hint".to_owned(), text)];
    match refusal {
        Some(Refusal::WaitsFor { ids }) => ids
            .iter()
            .map(|dep| {
                let state = facts
                    .tickets
                    .get(dep)
                    .map_or_else(|| "unreadable".to_owned(), |ticket| ticket.state_name());
                (dep.to_string(), state)
            })
            .collect(),
        Some(Refusal::Cycle { .. }) => {
            hint("break it with `crew ticket undep <ticket> <dependency>`".to_owned())
        }
        Some(Refusal::MissingDependency { id: missing }) => {
            hint(format!("create it, or `crew ticket undep {id} {missing}`"))
        }
        Some(Refusal::MissingRecovered { recovers }) => hint(format!(
            "create {recovers}, or remove `recovers` from the file of {id}"
        )),
        Some(Refusal::DependencyFailed {
            id: failed, since, ..
        }) => {
            let since = ("since".to_owned(), ui::clock_time(*since));
            let remedies = format!(
                "`crew ticket reopen {failed}` has it done after all, `crew ticket undep {id} {failed}` goes on \
                 without it, `crew drop {id}` gives this one up"
            );
            vec![since, ("hint".to_owned(), remedies)]
        }
        Some(Refusal::Held { retry_at: None, .. }) => {
            hint(held(id, facts.tickets.get(id).map(AsRef::as_ref)))
        }
        Some(Refusal::Held {
            retry_at: Some(_), ..
        }) if facts
            .tickets
            .get(id)
            .is_some_and(|held| held.has_unusable_promise()) =>
        {
            hint(format!(
                "mend the command in its file, then `crew approve {id}`; `crew retry {id}` tries it as it is, `crew drop {id}` \
             gives it up"
            ))
        }
        Some(Refusal::Held {
            retry_at: Some(_), ..
        }) => hint(format!(
            "`crew retry {id}` tries it at once, `crew drop {id}` gives it up"
        )),
        Some(Refusal::DayBudget { .. }) => {
            hint("raise `day_usd` in crew.toml, and it goes on at once".to_owned())
        }
        Some(Refusal::TargetRed { .. }) => {
            let target = facts.target.as_ref();
            let remedy = target.and_then(|target| target.remedy(look)).unwrap_or_default();
            let mut lines = hint(format!("{remedy}; `crew run --anyway` starts them all the same"));
            let again = target.and_then(|target| target.again(look));
            let again = again.map(|again| ("next look".to_owned(), again));
            lines.extend(again);
            lines
        }
        Some(Refusal::Delegated { by }) => hint(format!(
            "`crew explain {by}` says what its parent does; `crew drop {id}` has it done without this one"
        )),
        Some(Refusal::TakenByPerson) => hint(format!("`crew ticket reopen {id}` gives it to crew")),
        Some(
            Refusal::Unknown
            | Refusal::Done { .. }
            | Refusal::InProgress { .. }
            | Refusal::Submitted { .. }
            | Refusal::NoFile
            | Refusal::Unreadable
            | Refusal::FileClosed
            | Refusal::FileUnheeded { .. }
            | Refusal::Debouncing { .. }
            | Refusal::Epic
            | Refusal::NotDue { .. }
            | Refusal::TargetUnchecked { .. }
            | Refusal::RecoveryNotNeededYet { .. }
            | Refusal::RecoveryNotNeeded { .. }
            | Refusal::AssigneeBusy { .. }
            | Refusal::NoAgentFree { .. },
        )
        | None => Vec::new(),
    }
}

/// A person's remedies for a held ticket.
fn held(id: &TicketId, ticket: Option<&Ticket>) -> String {
    let why = ticket
        .and_then(|ticket| ticket.held.as_ref())
        .map(|held| &held.why);
    let merged = ticket.is_some_and(|ticket| ticket.candidate().is_some());
    let usual = format!("`crew retry {id}` tries it again, `crew drop {id}` gives it up");
    let broken: Vec<String> = ticket
        .into_iter()
        .flat_map(Ticket::broken_commitments)
        .map(|one| format!("`crew waive {id} --commitment {} <reason>`", one.id))
        .collect();
    let waive = format!("`crew waive {id} <reason>` {UNSEEN}");
    match why {
        Some(Why::Auth) => format!(
            "log the agent's client in again, then `crew retry {id}`: every agent goes on; `crew drop {id}` gives it up"
        ),
        Some(Why::Budget { .. }) => format!(
            "`crew retry {id}` grants as much again, `ticket_usd` in crew.toml raises it for all, `crew drop {id}` gives it up"
        ),
        Some(Why::NoProgress) if ticket.is_some_and(Ticket::is_refused) => format!(
            "do what that says in the folder with the work, then `crew retry {id}`: crew looks at the branch first, \
             and no step is paid for; `crew drop {id}` gives it up"
        ),
        Some(Why::Paths { .. }) => {
            format!("`crew approve {id}` lets these paths pass, `crew drop {id}` gives it up")
        }
        Some(Why::Tests { .. }) => format!(
            "`crew approve {id}` lets it go on with fewer tests, `crew reject {id} <why>` sends it back to its agent, \
             `crew drop {id}` gives it up"
        ),
        Some(Why::Review) => format!(
            "`crew approve {id}` or `crew reject {id} <why>` decides in the gatekeeper's place, `crew retry {id}` has it \
             reviewed again, `crew drop {id}` gives it up"
        ),
        Some(Why::Commitments { .. }) => {
            format!("`crew approve {id}` lets it go on, `crew drop {id}` gives it up")
        }
        Some(Why::Failed) if !broken.is_empty() => format!(
            "{} excuses a commitment that is not met, and `crew retry {id}` then goes on with the work that is there; \
             {usual}",
            broken.join(", ")
        ),
        Some(_) | None if !broken.is_empty() => {
            format!(
                "{} excuses that commitment alone; {usual}; {waive}",
                broken.join(", ")
            )
        }
        Some(_) | None if merged => format!("{usual}; {waive}"),
        Some(_) | None => usual,
    }
}
