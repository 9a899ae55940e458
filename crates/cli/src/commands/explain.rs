//! `crew explain`: why a ticket is, or is not, given out.

mod landed;
mod lines;

use clap::Args;
use client::explanation::{Explained, Gathered, Help, answer_hint, file_hint, promises_hint};
use client::repository::journal;
use client::{follow, lookup};
use model::attempt;
use model::policy::attention::{self, Need};
use model::policy::failure;
use model::policy::route::Refusal;
use model::ticket::{State, Ticket, Why};
use model::view::{self, Failing, MEND};

use self::lines::{came_back_with, no_worker, place_in_train, waiting_answer, without_tests};
use crate::commands::ps;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::ui;
use crate::ui::Style;

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
        let gathered = Gathered::of(&place, &settings, ledger.as_ref(), &crew, id).await?;
        let explained = gathered.explained();
        if context.json {
            context.out.json(&explained.document())?;
            return Ok(Exit::Done);
        }
        let Gathered {
            id,
            facts,
            beside,
            look,
            refusal,
            ..
        } = &gathered;
        let Explained {
            ticket,
            need,
            agent,
            says,
            ..
        } = &explained;
        let (look, ticket, agent) = (*look, *ticket, *agent);
        let (now, runs, title) = (look.now, look.engine, explained.title());
        let out = &mut context.out;
        out.wrapped(&format!("{id}  {title}"), 2, Style::Bold)?;
        let since = explained.since().map(|since| {
            let (span, clock) = (ui::span(now.since(since)), ui::local(since));
            format!(" for {span}, since {clock}")
        });
        let state = format!("state: {}{}", explained.state(), since.unwrap_or_default());
        out.wrapped(&state, HANG, Style::Plain)?;
        out.wrapped(&ui::in_words(says), HANG, Style::Plain)?;
        if let Some(work) = &explained.landed {
            landed::show(context, id, work)?;
        }
        let out = &mut context.out;
        let session = agent.and_then(|agent| agent.session.as_ref());
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
        for message in explained.messages() {
            let says = format!("  its next step gets: {message}");
            out.wrapped(&says, HANG, Style::Plain)?;
        }
        let parts = ticket.map(|ticket| ticket.parts.as_slice()).unwrap_or_default();
        if !parts.is_empty() {
            let list = parts.iter().map(|part| match &part.result {
                Some(result) => format!("{} {result}", part.ticket),
                None => part.ticket.to_string(),
            });
            let list: Vec<String> = list.collect();
            let says = format!("  its agent broke it up: {}", list.join("; "));
            out.wrapped(&says, HANG, Style::Plain)?;
        }
        if let Some(place) = place_in_train(&view::train(&crew, look), id) {
            out.wrapped(&format!("  {place}"), HANG, Style::Plain)?;
        }
        let is_persons = ticket
            .and_then(|it| it.held.as_ref())
            .is_some_and(|held| held.why == Why::Hold);
        if let Some(why) = explained.review().filter(|_| !is_persons) {
            out.wrapped(
                &format!("  somebody looks at the work before it lands: {why}"),
                HANG,
                Style::Plain,
            )?;
        }
        for line in explained.printed().map(ui::excerpt).into_iter().flatten() {
            out.wrapped(&format!("  │ {line}"), HANG, Style::Plain)?;
        }
        if let Some(dir) = explained.printed_in() {
            let dir = dir.strip_prefix(&place.root).unwrap_or(dir).display();
            out.wrapped(
                &format!("  its whole output: {dir}/out and err"),
                HANG,
                Style::Dim,
            )?;
        }
        // Where no file can be written, that is said below.
        let is_told = |failing: &Failing| failing.is_file && place.refuses_files().is_some();
        let of_it = |failing: &&Failing| failing.ticket == *id && !is_told(failing);
        let (said, unsaid): (Vec<&Failing>, Vec<&Failing>) = beside
            .failing
            .iter()
            .filter(of_it)
            .partition(|failing| failing.why == *says);
        let change = ticket.and_then(|ticket| ticket.unheeded.as_ref());
        let (change_said, change_unsaid) = match change {
            Some(change) if says.contains(&change.words()) => (Some(change), None),
            change => (None, change),
        };
        let of_file = || file_hint(id, ticket.is_some_and(Ticket::is_done));
        // Each problem stands above its own hint.
        let mut helps = explained.helps();
        helps.extend(change_said.map(|_| Help::hint(of_file())));
        helps.extend(said.first().map(|_| Help::hint(MEND)));
        for Help { label, says } in helps {
            out.wrapped(&format!("  {label}: {says}"), HANG, Style::Plain)?;
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
            out.wrapped(&format!("    hint: {}", answer_hint(id)), HANG + 2, Style::Plain)?;
        }
        if let Some(told) = came_back_with(ticket) {
            out.wrapped(
                &format!("  its last attempt came back with: {told}"),
                HANG,
                Style::Plain,
            )?;
        }
        if let Some(words) =
            attempt::unusable_words(&explained.unusable()).filter(|words| !says.contains(words))
        {
            out.wrapped(&format!("  in its last step, {words}"), HANG, Style::Yellow)?;
        }
        if let Some(paths) = ticket
            .and_then(Ticket::attempt)
            .and_then(attempt::Attempt::changed_after)
        {
            let words = attempt::changed_after_words(paths);
            out.wrapped(&format!("  in its last step, {words}"), HANG, Style::Yellow)?;
        }
        let commitments = ticket.map(|ticket| ticket.commitments.as_slice());
        for one in commitments.unwrap_or_default() {
            out.wrapped(&format!("  {}", one.words()), HANG, Style::Plain)?;
        }
        for line in ticket.map(Ticket::cleared_words).unwrap_or_default() {
            out.wrapped(&format!("  {line}"), HANG, Style::Plain)?;
        }
        for check in without_tests(&crew, &settings, id) {
            let what = format!("`{check}` passes and ran no tests, and none are known on the target");
            out.wrapped(&format!("  {what}"), HANG, Style::Yellow)?;
            let hint = "if it has none, `tests = \"none\"` in its [[check]] in crew.toml says so";
            out.wrapped(&format!("    hint: {hint}"), HANG + 2, Style::Plain)?;
        }
        if let Some((ticket, what)) = ticket.and_then(|ticket| Some((ticket, ticket.why_promises_wait()?))) {
            let is_said = ticket.held.is_some() && says.contains(&what);
            if !is_said {
                out.wrapped(&format!("  {what}"), HANG, Style::Yellow)?;
                out.wrapped(
                    &format!("    hint: {}", promises_hint(id)),
                    HANG + 2,
                    Style::Plain,
                )?;
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
        for work in explained.kept() {
            out.wrapped(&format!("  {}", work.words()), HANG, Style::Plain)?;
        }
        // The agent of a ticket that waits for a person waits for that too, and the agent of submitted work
        // waits for the same as the work.
        let is_told = runs && matches!(refusal, Some(Refusal::Submitted { .. }))
            || matches!(need, Some(Need::Others(attention::Others::Children { .. })));
        if let Some(waits) = agent
            .and_then(|agent| agent.waiting(look))
            .filter(|_| explained.reason().is_none() && !is_told)
        {
            let its = match agent.is_some_and(|agent| agent.quiet.is_some() && agent.waits.is_none()) {
                true => "its step is",
                false => "it",
            };
            out.wrapped(&format!("  {its} {waits}"), HANG, Style::Plain)?;
        }
        if let Some(activity) = explained.activity() {
            out.wrapped(
                &format!("  its agent is {}", activity.words(now)),
                HANG,
                Style::Plain,
            )?;
        }
        if let Some(reports) = agent.and_then(|agent| agent.reports(now)) {
            out.wrapped(&format!("  its agent {reports}"), HANG, Style::Plain)?;
        }
        if let Some(why) = no_worker(facts, &settings, ticket) {
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
        if let Some(failure) = explained.failure() {
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
