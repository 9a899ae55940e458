//! What a person can do about a ticket that does not move.

use client::queue_facts::Facts;
use model::policy::route::Refusal;
use model::ticket::{Ticket, Why};
use model::view::UNSEEN;
use model::{Look, TicketId};

use crate::ui;

/// What a person can say about a change of the ticket's file that crew cannot explain.
pub(super) fn file_hint(is_done: bool) -> &'static str {
    match is_done {
        true => "`crew ticket close` leaves it done, `crew ticket reopen` has it done again",
        false => "`crew ticket reopen` or `crew ticket close` says what you want, `crew drop` gives it up",
    }
}

/// Further help: the state of the tickets that it waits for, and a person's remedies.
pub(super) fn next(
    id: &TicketId,
    refusal: Option<&Refusal>,
    facts: &Facts,
    look: Look,
) -> Vec<(String, String)> {
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
            let since = ("since".to_owned(), ui::local(*since));
            let remedies = format!(
                "`crew ticket reopen {failed}` has it done after all, `crew ticket undep {id} {failed}` goes on \
                 without it, `crew drop {id}` gives this one up"
            );
            vec![since, ("hint".to_owned(), remedies)]
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
