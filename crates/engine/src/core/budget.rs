//! Budgets: what was spent is compared with what may be, after every input and before anything starts.

use model::TicketId;
use model::policy::budget::{self, Budget, Pause, Standing};
use model::project;
use model::ticket::{Event, State, Ticket, Why};

use super::Core;

impl Core {
    /// Compares what was spent with what may be.
    pub(super) fn follow_budgets(&mut self) {
        self.follow_day();
        // A child may have cost nothing yet, and what its parent may cost is spent.
        let mut ids = self.tickets.delegated_ids();
        ids.extend(self.spending.tickets().cloned());
        for id in ids {
            self.follow_ticket(&id);
        }
    }

    /// Nothing is started on a day whose budget is spent. What was spent is in the tickets' states, so that
    /// it is known at once after a restart; the project only remembers what people were told.
    fn follow_day(&mut self) {
        let today = self.now.day();
        let limit = self.settings.budget.day_usd;
        let standing = match limit {
            None => Standing::Free,
            Some(_) => {
                let spent = self.spending.of_day(today);
                debug_assert_eq!(spent, budget::of_day(self.tickets.all(), today));
                budget::stands(spent, limit)
            }
        };
        let event = match standing {
            Standing::Spent(budget) => {
                let until = today.next().begins();
                self.wake_at(until);
                let told = |told: Pause| {
                    told.until == until && told.budget.limit_micro_usd == budget.limit_micro_usd
                };
                if self.project().pause.is_some_and(told) {
                    return;
                }
                let pause = Pause { budget, until };
                project::Event::DayBudgetSpent { pause }
            }
            Standing::Free | Standing::Low(_) if self.project().pause.is_some() => {
                self.ready.touch();
                project::Event::DayBudgetFree
            }
            Standing::Low(budget) if self.project().warned != Some((today, budget.limit_micro_usd)) => {
                project::Event::DayBudgetLow { day: today, budget }
            }
            Standing::Free | Standing::Low(_) => return,
        };
        self.apply_to_project([event], "the day's cost changed");
    }

    /// A ticket whose budget is spent is held before another step of it is started, and goes on when it was
    /// raised.
    fn follow_ticket(&mut self, id: &TicketId) {
        let Some(ticket) = self.ticket(id) else { return };
        let standing = self.stands(ticket);
        let (event, cause) = match (&ticket.held, standing) {
            (None, Standing::Spent(budget)) if may_be_stepped(ticket) => {
                (Event::BudgetSpent { budget }, "its cost changed")
            }
            (Some(held), standing) => match (&held.why, standing) {
                (Why::Budget { budget: told }, Standing::Spent(budget)) if *told != budget => {
                    (Event::BudgetSpent { budget }, "the settings changed")
                }
                (Why::Budget { .. }, Standing::Free | Standing::Low(_)) => {
                    let agent = ticket.attempt().map(|attempt| attempt.claim.agent.clone());
                    let slot_free = agent.is_some_and(|a| {
                        let is_idle =
                            self.project().agents.contains(&a) && self.tickets.of_agent(&a).is_none();
                        is_idle && self.has_turn(id)
                    });
                    (Event::BudgetRaised { slot_free }, "the settings changed")
                }
                _ => return,
            },
            (None, _) => return,
        };
        self.apply_or_note(id, event, cause);
    }

    /// How much of its budget a ticket has left. A child has what its first ancestor has: the whole tree
    /// spends of one budget.
    pub(super) fn stands(&self, ticket: &Ticket) -> Standing {
        let spent = self.spent_below(self.first_above(ticket));
        budget::stands(spent, self.settings.budget.ticket_usd)
    }

    /// The ticket of the tree that no agent has delegated.
    fn first_above<'a>(&'a self, ticket: &'a Ticket) -> &'a Ticket {
        let is_awaited = |parent: &&Ticket| {
            let attempt = parent.attempt();
            attempt.is_some_and(|attempt| attempt.open_children().contains(&ticket.id))
        };
        let parent = ticket.delegated().and_then(|it| self.ticket(&it.by));
        parent
            .filter(is_awaited)
            .map_or(ticket, |parent| self.first_above(parent))
    }

    /// What a ticket has cost since its budget was granted, with its children; those that are over are
    /// counted in it already.
    fn spent_below(&self, ticket: &Ticket) -> u64 {
        let open = ticket
            .attempt()
            .map_or(&[][..], |attempt| attempt.open_children());
        let children = open.iter().filter_map(|id| self.ticket(id));
        let of_children = children.map(|child| self.spent_below(child));
        of_children.fold(ticket.spent.since_grant_micro_usd, u64::saturating_add)
    }

    /// The warning of the ticket's budget that the next step holds: once per session and budget.
    pub(super) fn warning(&self, id: &TicketId) -> Option<Budget> {
        let ticket = self.ticket(id)?;
        let Standing::Low(budget) = self.stands(ticket) else {
            return None;
        };
        let warned = ticket.attempt()?.conversation.session.warned;
        (warned != Some(budget.limit_micro_usd)).then_some(budget)
    }
}

/// Whether a step of it could be the next thing to happen.
fn may_be_stepped(ticket: &Ticket) -> bool {
    match &ticket.state {
        State::Open => true,
        State::InProgress(attempt) => attempt.is_between_steps(),
        State::Verify(_) => {
            let reviewing = ticket.reviewing();
            reviewing.is_some_and(|reviewing| !reviewing.is_live())
        }
        State::New | State::Done(_) => false,
    }
}
