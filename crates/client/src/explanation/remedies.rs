//! What a person can do about a ticket that does not move.

use std::collections::BTreeSet;

use model::command::Question;
use model::policy::attention::Reason;
use model::policy::route::Refusal;
use model::ticket::{Ticket, Why, remedy};
use model::view::{MEND, UNSEEN};
use model::{Look, TicketId};

use super::Explained;
use crate::clock;
use crate::documents::Remedy;
use crate::queue_facts::Facts;

/// The label of what a person can do; every other one is of a fact.
const HINT: &str = "hint";

/// Further help about a ticket: a person's remedy, or a fact that tells more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// `hint`, or what the fact is about.
    pub label: String,
    /// The help in words; lines to type stand between backticks.
    pub says: String,
}

impl Help {
    /// A person's remedy.
    pub fn hint(says: impl Into<String>) -> Self {
        Self::fact(HINT, says)
    }

    fn fact(label: impl Into<String>, says: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            says: says.into(),
        }
    }

    fn is_hint(&self) -> bool {
        self.label == HINT
    }
}

impl Explained<'_> {
    /// The state of the tickets that it waits for, and a person's remedies.
    #[must_use]
    pub fn helps(&self) -> Vec<Help> {
        let id = &self.of.id;
        let mut helps = next(id, self.of.refusal.as_ref(), &self.of.facts, self.of.look);
        if let Some(Reason::Edits(waiting)) = self.reason() {
            let what = remedy(&waiting.paths);
            helps.push(Help::hint(format!("{what}; `crew merge {id}` tries at once")));
        }
        if let Some(asked) = self.ticket.and_then(Question::of) {
            let number = asked.number;
            helps.push(Help::hint(format!(
                "`crew answer {id} --question {number} <text>` answers it"
            )));
        }
        if let Some(Reason::Impossible(_)) = self.reason() {
            helps.push(Help::hint(format!(
                "`crew ticket reopen {id}` has it done after all, once the ticket says what it lacked; `crew drop {id}` \
                 gives it up"
            )));
        }
        helps
    }

    /// All remedies, each once.
    pub(super) fn remedies(&self) -> Vec<Remedy> {
        let (id, beside) = (&self.of.id, &self.of.beside);
        let mut hints: Vec<String> = self
            .helps()
            .into_iter()
            .filter(Help::is_hint)
            .map(|help| help.says)
            .collect();
        let changed = self.ticket.filter(|ticket| ticket.unheeded.is_some());
        hints.extend(changed.map(|ticket| file_hint(id, ticket.is_done())));
        // Where no file can be written, one thing is to be mended, and it is no ticket's.
        let is_its_own = |failing: &&model::view::Failing| {
            failing.ticket == *id && !(failing.is_file && beside.unwritable.is_some())
        };
        hints.extend(beside.failing.iter().find(is_its_own).map(|_| MEND.to_owned()));
        if self
            .ticket
            .is_some_and(|ticket| ticket.why_promises_wait().is_some())
        {
            hints.push(promises_hint(id));
        }
        if self
            .ticket
            .and_then(Ticket::answerable)
            .is_some_and(|asked| asked.answer.is_some())
        {
            hints.push(answer_hint(id));
        }
        let mut known = BTreeSet::new();
        hints.retain(|says| known.insert(says.clone()));
        hints.into_iter().map(remedy_of).collect()
    }
}

/// The document of a remedy. Its lines are the commands of crew in it that name what they act on: `crew
/// retry`, of whichever ticket, is none.
fn remedy_of(says: String) -> Remedy {
    let pieces = says.split('`').skip(1).step_by(2);
    let is_line = |piece: &&str| piece.starts_with("crew ") && piece.split(' ').count() > 2;
    let lines = pieces.filter(is_line).map(str::to_owned).collect();
    Remedy { says, lines }
}

/// What a person can say about a change of the ticket's file that crew cannot explain.
#[must_use]
pub fn file_hint(id: &TicketId, is_done: bool) -> String {
    match is_done {
        true => {
            format!("`crew ticket close {id}` leaves it done, `crew ticket reopen {id}` has it done again")
        }
        false => format!(
            "`crew ticket reopen {id}` or `crew ticket close {id}` says what you want, `crew drop {id}` gives it up"
        ),
    }
}

/// What a person can do while an answer waits for the agent's next step.
#[must_use]
pub fn answer_hint(id: &TicketId) -> String {
    format!("`crew answer {id} <text>` replaces it until then")
}

/// What a person can do about promises that do not count yet.
#[must_use]
pub fn promises_hint(id: &TicketId) -> String {
    format!("`crew approve {id}` lets them count")
}

/// Further help: the state of the tickets that it waits for, and a person's remedies.
fn next(id: &TicketId, refusal: Option<&Refusal>, facts: &Facts, look: Look) -> Vec<Help> {
    let hint = |says: String| vec![Help::hint(says)];
    match refusal {
        Some(Refusal::WaitsFor { ids }) => ids
            .iter()
            .map(|dep| {
                let state = facts
                    .tickets
                    .get(dep)
                    .map_or_else(|| "unreadable".to_owned(), |ticket| ticket.state_name());
                Help::fact(dep.to_string(), state)
            })
            .collect(),
        Some(cycle @ Refusal::Cycle { .. }) => hint(match cycle.dependencies_of_cycle().first() {
            Some((of, on)) => format!("`crew ticket undep {of} {on}` breaks it"),
            None => "remove one of the `recovers` from its file".to_owned(),
        }),
        Some(Refusal::MissingDependency { id: missing }) => {
            hint(format!("create it, or `crew ticket undep {id} {missing}`"))
        }
        Some(Refusal::MissingRecovered { recovers }) => hint(format!(
            "create {recovers}, or remove `recovers` from the file of {id}"
        )),
        Some(Refusal::DependencyFailed {
            id: failed, since, ..
        }) => {
            let since = Help::fact("since", clock::local(*since));
            let remedies = format!(
                "`crew ticket reopen {failed}` has it done after all, `crew ticket undep {id} {failed}` goes on \
                 without it, `crew drop {id}` gives this one up"
            );
            vec![since, Help::hint(remedies)]
        }
        Some(Refusal::NotSetUp { id: shows }) => {
            hint(format!("`crew explain {shows}` says what is to be mended"))
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
            let again = again.map(|again| Help::fact("next look", again));
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
    let usual = match ticket.and_then(Ticket::delegated) {
        Some(delegated) => format!(
            "`crew retry {id}` tries it again; otherwise {} goes on without it once its other children are over",
            delegated.by
        ),
        None => format!("`crew retry {id}` tries it again, `crew drop {id}` gives it up"),
    };
    let broken: Vec<String> = ticket
        .into_iter()
        .flat_map(Ticket::broken_commitments)
        .map(|one| format!("`crew waive {id} --commitment {} <reason>`", one.id))
        .collect();
    let approve = ticket.map_or_else(|| format!("crew approve {id}"), Ticket::approve_command);
    let waive = format!("`crew waive {id} <reason>` {UNSEEN}");
    match why {
        Some(Why::Auth) => format!(
            "log the agent's client in again, then `crew retry {id}`: every agent goes on; `crew drop {id}` gives it up"
        ),
        Some(Why::Budget { .. }) if let Some(delegated) = ticket.and_then(Ticket::delegated) => format!(
            "it has one budget with {by}: `crew retry {by}` grants as much again once {by} is held for it",
            by = delegated.by
        ),
        Some(Why::Budget { .. }) => format!(
            "`crew retry {id}` grants as much again, `ticket_usd` in crew.toml raises it for all, `crew drop {id}` gives it up"
        ),
        Some(Why::NoProgress) if ticket.is_some_and(Ticket::is_refused) => format!(
            "do what that says in the folder with the work, then `crew retry {id}`: crew looks at the branch first, \
             and no step is paid for; `crew drop {id}` gives it up"
        ),
        Some(Why::Paths { .. }) => format!(
            "`{approve}` lets these paths pass, `crew reject {id} <why>` sends it back to its agent, `crew drop \
             {id}` gives it up"
        ),
        Some(Why::Secrets { .. }) => format!(
            "`crew reject {id} <why>` sends it back to its agent, `{approve}` lets it land as it is, `crew drop {id}` \
             gives it up; what was once in a commit of its branch lands with it"
        ),
        Some(Why::Tests { .. }) => format!(
            "`{approve}` lets it go on with fewer tests, `crew reject {id} <why>` sends it back to its agent, \
             `crew drop {id}` gives it up"
        ),
        Some(Why::Hold) => format!(
            "`crew diff {id}` shows it, `{approve}` lets it land, `crew reject {id} <why>` sends it back to its \
             agent, `crew drop {id}` gives it up"
        ),
        Some(Why::Review) => format!(
            "`{approve}` or `crew reject {id} <why>` decides in the gatekeeper's place, `crew retry {id}` has it \
             reviewed again, `crew drop {id}` gives it up"
        ),
        Some(Why::Commitments { .. }) => {
            format!("`{approve}` lets it go on, `crew drop {id}` gives it up")
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
