//! The dialogs that keys open: each asks about what is chosen.

use model::command::{Command, Question};
use model::ticket::{State, Ticket};
use model::view::{Act, Kind, Status};
use model::{AgentName, TicketId};

use crate::app::App;
use crate::choose::Choice;
use crate::dialog::{Dialog, Purpose};
use crate::hints::can_assign;
use crate::input::Input;
use crate::message::Action;
use crate::pane::Pane;
use crate::theme::Tone;

/// Why nothing is done from a diff that is older than the work.
const MOVED: &str = "the work has moved on since this was read: d shows it as it is now";

impl App {
    pub(super) fn ask_answer(&mut self) {
        let asking = |id: &TicketId| {
            let ticket = self.ticket(id)?;
            // An answer that the agent has not been given yet can be replaced.
            let asked = ticket.answerable()?;
            let about = Question::answerable(ticket)?;
            Some((asked.agent.clone(), asked.text.to_owned(), Some(about)))
        };
        match self.chosen_ticket().and_then(asking) {
            Some((agent, question, about)) => {
                self.dialog = Some(Dialog::Answer {
                    agent,
                    question,
                    about,
                    input: Input::default(),
                });
            }
            None => {
                let others = self
                    .inbox
                    .iter()
                    .filter(|item| item.kind == Kind::Question)
                    .count();
                let hint = match others {
                    0 => "nobody has asked anything",
                    _ => "the chosen row asks nothing: the questions are in the inbox (4)",
                };
                self.set_status(Tone::Waiting, hint);
            }
        }
    }

    /// The agent that is chosen, or that a chosen ticket has, and its ticket, if it has one. An agent that
    /// has gone on to another ticket is not the one of the row.
    fn chosen_busy_agent(&self) -> Option<(AgentName, TicketId)> {
        let of_item = self.chosen_item().and_then(|item| agent_of(&item.acts));
        let name = of_item.or_else(|| self.chosen_agent())?;
        let ticket = self.crew.agent(name)?.ticket?;
        let is_of_row = self.chosen_ticket() == Some(&ticket);
        is_of_row.then(|| (name.clone(), ticket))
    }

    pub(super) fn wake(&mut self, actions: &mut Vec<Action>) {
        let waits = |ticket: &TicketId| self.ticket(ticket).is_some_and(Ticket::waits_for_children);
        match self.chosen_busy_agent() {
            Some((agent, ticket)) if waits(&ticket) => {
                self.dialog = Some(Dialog::Confirm {
                    question: format!("Wake {agent}?"),
                    follows: format!(
                        "What it has delegated for {ticket} and is not done is ended and kept, and {agent} goes on without it."
                    ),
                    request: format!("wake {agent}"),
                    command: Command::Wake { agent },
                });
            }
            Some((agent, _)) => self.submit(format!("wake {agent}"), Command::Wake { agent }, actions),
            None => self.set_status(Tone::Waiting, "no agent with a ticket is chosen to wake"),
        }
    }

    pub(super) fn ask_kill(&mut self) {
        match self.chosen_busy_agent() {
            Some((agent, ticket)) => {
                self.dialog = Some(Dialog::Confirm {
                    question: format!("Kill {agent}?"),
                    follows: format!(
                        "Its step is stopped, and {ticket} goes back to the queue, held. Its work is kept."
                    ),
                    request: format!("kill {agent}"),
                    command: Command::Kill { agent },
                });
            }
            None => self.set_status(Tone::Waiting, "no agent with a ticket is chosen to kill"),
        }
    }

    /// A row may come or go at the instant in which the key is pressed, and a text may be typed into the
    /// wrong window: what lands is asked about by its name. The word is on the commit that is shown, whatever
    /// the branch has when the engine reads it.
    pub(super) fn ask_approve(&mut self) {
        let ticket = self.chosen_ticket().and_then(|id| self.ticket(id));
        let Some(ticket) = ticket.filter(|ticket| !ticket.is_done()) else {
            return self.set_status(Tone::Waiting, "no unfinished ticket is chosen to approve");
        };
        let tip = match &self.diff {
            Some(looked) if looked.read.is_none() => {
                return self.set_status(
                    Tone::Waiting,
                    "git is still reading this diff: `p` once it is shown",
                );
            }
            Some(looked) if looked.commit().is_none() => {
                let why = "this diff shows no commit that could be approved: `d` reads it again once the work is submitted";
                return self.set_status(Tone::Waiting, why);
            }
            Some(looked) => looked.commit(),
            None => ticket.tip_to_approve(),
        };
        let id = ticket.id.clone();
        let at = tip.map(|tip| format!(" at {}", tip.short())).unwrap_or_default();
        let why = ticket.held.as_ref().map(|held| format!(" ({})", held.note));
        let follows = format!("{}{}", ticket.spec.title, why.unwrap_or_default());
        self.dialog = Some(Dialog::Confirm {
            question: format!("Approve {id}{at}?"),
            follows: text::sanitise::line(&follows),
            request: format!("approve {id}"),
            command: Command::Approve {
                ticket: id,
                tip: tip.map(|tip| tip.as_str().to_owned()),
            },
        });
    }

    /// Whether a diff is looked at that does not show the work as it stands: says so then.
    pub(super) fn refuses_moved(&mut self) -> bool {
        let Some(looked) = &self.diff else {
            return false;
        };
        let says = match &looked.read {
            None => "git still reads the diff: wait until it is there",
            Some(Err(_)) => "this diff shows no work",
            Some(Ok(_)) if looked.has_moved(self.ticket(&looked.ticket)) => MOVED,
            Some(Ok(_)) => return false,
        };
        self.set_status(Tone::Waiting, says);
        true
    }

    pub(super) fn ask_reason(&mut self, what: Purpose) {
        if self.refuses_moved() {
            return;
        }
        let at = self.diff.as_ref().and_then(|looked| looked.commit()).cloned();
        let open = |id: &&TicketId| self.ticket(id).is_some_and(|ticket| !ticket.is_done());
        match self.chosen_ticket().filter(open).cloned() {
            Some(ticket) => {
                self.status = None;
                self.dialog = Some(Dialog::Reason {
                    what,
                    ticket,
                    at,
                    input: Input::default(),
                    refused: false,
                });
            }
            None => self.set_status(Tone::Waiting, "no unfinished ticket is chosen"),
        }
    }

    pub(super) fn ask_stop(&mut self) {
        if self.engine.is_some() {
            self.dialog = Some(Dialog::Stop);
        } else {
            self.set_status(Tone::Waiting, "no engine runs here; R runs one");
        }
    }

    pub(super) fn ask_assign(&mut self) {
        let (head, choices) = match self.list {
            Pane::Queue | Pane::Train | Pane::Inbox => self.agents_for_ticket(),
            Pane::Agents | Pane::Output | Pane::History | Pane::Cost | Pane::Diff => self.tickets_for_agent(),
        };
        if choices.is_empty() {
            self.set_status(Tone::Waiting, &head);
            return;
        }
        let mut at = Choice::default();
        at.refresh((0..choices.len()).collect::<Vec<usize>>().iter());
        self.dialog = Some(Dialog::Assign { head, choices, at });
    }

    /// The title and the choices of a dialog that assigns the chosen ticket to an idle agent. Without
    /// choices the text is the reason.
    pub(super) fn agents_for_ticket(&self) -> (String, Vec<(AgentName, TicketId, String)>) {
        let Some(ticket) = self.chosen_ticket().and_then(|id| self.ticket(id)) else {
            return ("no ticket is chosen to assign".to_owned(), Vec::new());
        };
        if !matches!(ticket.state, State::Open) {
            return (format!("{} is not in the queue", ticket.id), Vec::new());
        }
        let agents = self.crew.agents();
        let idle = agents.iter().filter(|agent| agent.status == Status::Idle);
        let choices: Vec<_> = idle
            .map(|agent| {
                let about = format!("{}  {} landed so far", agent.name, agent.totals.landed);
                (agent.name.clone(), ticket.id.clone(), about)
            })
            .collect();
        if choices.is_empty() {
            return ("no agent is idle: `n` spawns one more".to_owned(), choices);
        }
        (format!("Who gets {}?", ticket.id), choices)
    }

    /// The title and the choices of a dialog that assigns an open ticket to the chosen agent. Without
    /// choices the text is the reason.
    pub(super) fn tickets_for_agent(&self) -> (String, Vec<(AgentName, TicketId, String)>) {
        let Some(name) = self.agent.key() else {
            return ("no agent is chosen to assign a ticket to".to_owned(), Vec::new());
        };
        if self.crew.agent(name).is_some_and(|agent| agent.ticket.is_some()) {
            return (format!("{name} has a ticket"), Vec::new());
        }
        let open = self.crew.order().into_iter();
        let open = open.filter(|ticket| can_assign(self, ticket));
        let choices: Vec<_> = open
            .map(|ticket| {
                let about = format!("{}  {}", ticket.id, ticket.spec.title);
                (name.clone(), ticket.id.clone(), about)
            })
            .collect();
        if choices.is_empty() {
            return ("no ticket is open that could be assigned".to_owned(), choices);
        }
        (format!("What does {name} get?"), choices)
    }
}

/// The agent that an act on an item of the inbox is about.
fn agent_of(acts: &[Act]) -> Option<&AgentName> {
    acts.iter().find_map(|act| match act {
        Act::Wake { agent } | Act::Kill { agent } => Some(agent),
        Act::Answer { .. }
        | Act::Approve { .. }
        | Act::Reject { .. }
        | Act::Retry { .. }
        | Act::Waive { .. }
        | Act::WaiveCommitment { .. }
        | Act::Drop { .. }
        | Act::Merge { .. }
        | Act::Undep { .. }
        | Act::Reopen { .. }
        | Act::Close { .. }
        | Act::ByHand { .. } => None,
    })
}
