//! `crew explain`: why a ticket is, or is not, given out.

mod landed;
mod lines;
mod remedies;

use clap::Args;
use model::command::Question;
use model::policy::attention::{self, Need, Reason, attention};
use model::policy::route::Refusal;
use model::policy::{failure, review};
use model::ticket::{Done, State, Ticket, Why, remedy};
use model::view::{self, Failing, MEND, standing_since};
use model::{AgentName, Moment, attempt};

use self::landed::Landed;
use self::lines::{
    because, came_back_with, failure_of, messages, no_worker, of_its_check, place_in_train, submitted,
    waiting_answer, without_tests,
};
use self::remedies::{file_hint, next};
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
use client::{commits, documents, follow, inbox, kept, lookup};

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
        let landed_work = Landed::of(&crew, ticket);
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
            (Some(Need::Others(attention::Others::Parent(_))), _)
                if let Some(ticket) = ticket.filter(|ticket| ticket.is_unified()) =>
            {
                let where_it_is = beside.standing(ticket, now).why;
                format!("it is done: {}", where_it_is.unwrap_or_default())
            }
            (Some(Need::Others(others)), _) => others.to_string(),
            (_, _) if let Some(of) = facts.renamed.get(&id) => {
                format!("{id}.md seems to be the file of {of} under another name")
            }
            (_, Some(Refusal::Submitted { .. })) if let Some(ticket) = ticket => {
                submitted(&beside.standing(ticket, now))
            }
            (_, Some(Refusal::InProgress { agent })) if waits(agent) => format!("{agent} has it"),
            (_, Some(refusal)) if let Some(ticket) = ticket.filter(|ticket| ticket.brought_nothing()) => {
                format!("{refusal}, {}", view::brought_nothing(ticket))
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
        let kept = kept::apart(&place, ticket)?;
        let commitments = ticket
            .map(|ticket| ticket.commitments.as_slice())
            .unwrap_or_default();
        let review = ticket.and_then(|ticket| review::why(&settings, ticket));
        let unusable = ticket
            .and_then(Ticket::attempt)
            .map(attempt::Attempt::lines_not_used)
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
                    .and_then(Ticket::answerable)
                    .and_then(|asked| Some(asked.answer?.to_owned())),
                mode: agent.and_then(|agent| agent.mode),
                session: session.map(|session| session.id.clone()),
                session_state: session.map(|session| session.state),
                messages: messages(ticket).collect(),
                parts: parts.iter().map(|part| part.ticket.clone()).collect(),
                unusable: unusable.clone(),
                changed_after: ticket
                    .and_then(Ticket::attempt)
                    .and_then(attempt::Attempt::changed_after)
                    .map(|paths| paths.first.clone())
                    .unwrap_or_default(),
                failure: failure.map(documents::Failure::of),
                commitments: commitments.iter().map(documents::Commitment::of).collect(),
                review,
                pull_request: ticket.and_then(documents::PullRequest::of),
                landed: landed_work.as_ref().map(Landed::document),
                kept: kept.iter().map(documents::KeptWork::from).collect(),
                printed,
                printed_in: whole.map(|dir| dir.display().to_string()),
            })?;
            return Ok(Exit::Done);
        }
        let out = &mut context.out;
        out.wrapped(&format!("{id}  {title}"), 2, Style::Bold)?;
        let since = since.map(|since| {
            let (span, clock) = (ui::span(now.since(since)), ui::local(since));
            format!(" for {span}, since {clock}")
        });
        let state = format!("state: {state}{}", since.unwrap_or_default());
        out.wrapped(&state, HANG, Style::Plain)?;
        out.wrapped(&ui::in_words(&says), HANG, Style::Plain)?;
        if let Some(work) = &landed_work {
            work.show(context)?;
        }
        let out = &mut context.out;
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
        let is_persons = ticket
            .and_then(|it| it.held.as_ref())
            .is_some_and(|held| held.why == Why::Hold);
        if let Some(why) = review.as_ref().filter(|_| !is_persons) {
            out.wrapped(
                &format!("  somebody looks at the work before it lands: {why}"),
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
        let answer = ticket.and_then(|ticket| waiting_answer(ticket, is_in_the_way));
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
        if let Some(words) = attempt::unusable_words(&unusable).filter(|words| !says.contains(words)) {
            out.wrapped(&format!("  in its last step, {words}"), HANG, Style::Yellow)?;
        }
        if let Some(paths) = ticket
            .and_then(Ticket::attempt)
            .and_then(attempt::Attempt::changed_after)
        {
            let words = attempt::changed_after_words(paths);
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
        for line in ticket.map(Ticket::doubt_words).unwrap_or_default() {
            out.wrapped(&format!("  {line}"), HANG, Style::Yellow)?;
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
        let is_told = runs && matches!(refusal, Some(Refusal::Submitted { .. }))
            || matches!(need, Some(Need::Others(attention::Others::Children { .. })));
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
                let says = format!("  no step is started: {pause}");
                out.wrapped(&ui::in_words(&says), HANG, Style::Plain)?;
            }
        }
        let at_work = ticket.is_some_and(|ticket| matches!(ticket.state, State::InProgress(_)));
        if let Some(pause) = ps::pause(&crew, now)
            && at_work
        {
            out.wrapped(&ui::in_words(&pause.to_string()), HANG, Style::Yellow)?;
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
