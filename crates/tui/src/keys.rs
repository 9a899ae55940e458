//! The meaning of each key.

use model::command::{Command, Question};
use model::settings::MAX_AGENTS;
use model::ticket::{Done, State, Ticket};
use model::view::{Act, Item, Kind, Status};
use model::{AgentName, TicketId};

use crate::app::App;
use crate::cell;
use crate::choose::Choice;
use crate::dialog::{Dialog, Purpose, STOPS};
use crate::diff::Looked;
use crate::draw;
use crate::input::Input;
use crate::message::{Action, Key};
use crate::pane::Pane;
use crate::theme::Tone;

impl App {
    /// Handles a key.
    pub(crate) fn key(&mut self, key: Key, actions: &mut Vec<Action>) {
        match key {
            Key::Ctrl('c') => actions.push(Action::Quit),
            Key::Ctrl('z') => actions.push(Action::Suspend),
            _ => match self.dialog.take() {
                Some(dialog) => self.dialog = self.in_dialog(dialog, key, actions),
                None => self.at_panes(key, actions),
            },
        }
    }

    /// Handles pasted text, which only a line in a dialog takes.
    pub(crate) fn pasted(&mut self, text: &str) {
        match &mut self.dialog {
            Some(
                Dialog::Filter(input)
                | Dialog::Answer { input, .. }
                | Dialog::Reason { input, .. }
                | Dialog::Spawn(input),
            ) => input.paste(text),
            Some(Dialog::Help(_) | Dialog::Confirm { .. } | Dialog::Stop | Dialog::Assign { .. }) | None => {}
        }
        self.refilter();
    }

    fn at_panes(&mut self, key: Key, actions: &mut Vec<Action>) {
        if self.focus == Pane::Diff && self.at_diff(key) {
            return;
        }
        let page = isize::try_from(self.page()).unwrap_or(isize::MAX);
        match key {
            Key::Char('q') => actions.push(Action::Quit),
            Key::Char('?') => self.dialog = Some(Dialog::Help(0)),
            Key::Char('/') => self.dialog = Some(Dialog::Filter(Input::of(&self.filter))),
            Key::Char(digit @ '1'..='7') => {
                let at = digit.to_digit(10).unwrap_or(1) as usize - 1;
                self.go(Pane::ALL[at]);
            }
            Key::Tab | Key::Right | Key::Char('l') => self.go(self.focus.turned(1)),
            Key::BackTab | Key::Left | Key::Char('h') => self.go(self.focus.turned(-1)),
            Key::Enter | Key::Char('z') => self.zoomed = !self.zoomed,
            Key::Char('d') => self.look_at_diff(actions),
            Key::Char('f') => {
                self.log.unfolded = !self.log.unfolded;
                self.scroll.remove(&Pane::Output);
            }
            Key::Char('[') => self.turn_back(true),
            Key::Char(']') => self.turn_back(false),
            Key::Escape => {
                if self.zoomed {
                    self.zoomed = false;
                } else if !self.filter.is_empty() {
                    self.filter.clear();
                    self.rebuild_lists();
                } else {
                    self.status = None;
                }
            }
            Key::Up | Key::Char('k') => self.move_by(-1),
            Key::Down | Key::Char('j') => self.move_by(1),
            Key::PageUp | Key::Ctrl('b' | 'u') => self.move_by(-page),
            Key::PageDown | Key::Ctrl('f' | 'd') | Key::Char(' ') => self.move_by(page),
            Key::Home | Key::Char('g') => self.move_by(isize::MIN / 2),
            Key::End | Key::Char('G') => self.move_by(isize::MAX / 2),
            Key::Char('a') => self.ask_answer(),
            Key::Char('s') => self.ask_assign(),
            Key::Char('n') => self.dialog = Some(Dialog::Spawn(Input::default())),
            Key::Char('S') => self.ask_stop(),
            Key::Char('R') => self.start_engine(actions),
            Key::Char('K') => self.ask_kill(),
            Key::Char('W') => self.wake(actions),
            Key::Char('D') => self.ask_reason(Purpose::Drop),
            Key::Char('w') => self.ask_reason(Purpose::Waive),
            Key::Char('x') => self.ask_reason(Purpose::Reject),
            Key::Char('r') => self.submit_ticket("retry", actions, |ticket| Command::Retry { ticket }),
            Key::Char('m') => self.submit_ticket("merge", actions, |ticket| Command::Merge { ticket }),
            Key::Char('p') => self.ask_approve(),
            Key::Char(_) | Key::Ctrl(_) | Key::Backspace | Key::Delete => {}
        }
    }

    /// Handles a key that means something else in the diff than in other panes; `false` for other keys.
    fn at_diff(&mut self, key: Key) -> bool {
        match key {
            Key::Escape | Key::Char('q') => {
                self.leave_diff();
                true
            }
            Key::Tab | Key::BackTab | Key::Left | Key::Right | Key::Char('h' | 'l' | '1'..='7') => {
                self.leave_diff();
                false
            }
            // They are about panes that are not shown.
            Key::Enter | Key::Char('z' | '/' | 'f' | '[' | ']') => true,
            _ => false,
        }
    }

    /// Reads the diff of the chosen ticket, or that which is looked at anew.
    fn look_at_diff(&mut self, actions: &mut Vec<Action>) {
        let Some(ticket) = self.chosen_ticket().cloned() else {
            return self.set_status(Tone::Waiting, "no ticket is chosen whose diff could be shown");
        };
        let back = match &self.diff {
            Some(looked) if looked.read.is_none() => return,
            Some(looked) => looked.back,
            None => {
                self.scroll.remove(&Pane::Diff);
                self.focus
            }
        };
        self.diff = Some(Looked::begin(ticket.clone(), self.ticket(&ticket), back));
        self.focus = Pane::Diff;
        actions.push(Action::Diff(ticket));
    }

    fn leave_diff(&mut self) {
        if let Some(looked) = self.diff.take() {
            self.focus = looked.back;
        }
    }

    /// Moves the focus to a pane.
    fn go(&mut self, pane: Pane) {
        self.focus = pane;
        if pane.chooses() {
            self.list = pane;
        }
        match pane {
            Pane::Train | Pane::Inbox => self.side = pane,
            Pane::Output | Pane::History | Pane::Cost => self.detail = pane,
            Pane::Agents | Pane::Queue | Pane::Diff => {}
        }
    }

    /// Moves the choice of the focused pane, or scrolls it, by a number of rows.
    fn move_by(&mut self, by: isize) {
        match self.focus {
            Pane::Agents => self.agent.step(self.agents.iter().map(|agent| &agent.name), by),
            Pane::Queue => self.in_queue.step(self.queue.iter(), by),
            Pane::Train => self.in_train.step(self.train.iter(), by),
            Pane::Inbox => self.move_in_inbox(by),
            Pane::Output | Pane::History | Pane::Cost | Pane::Diff => {
                let max = draw::max_scroll(self, self.focus);
                // Costs and diffs are scrolled from the top, output and history from their ends.
                let by = if matches!(self.focus, Pane::Cost | Pane::Diff) {
                    by
                } else {
                    by.saturating_neg()
                };
                let scroll = self.scroll.entry(self.focus).or_default();
                *scroll = scroll.saturating_add_signed(by).min(max);
            }
        }
    }

    /// Scrolls the chosen entry of the inbox as far as it goes, and chooses another one then.
    fn move_in_inbox(&mut self, by: isize) {
        let max = draw::max_scroll(self, Pane::Inbox);
        let at = self.scroll.get(&Pane::Inbox).copied().unwrap_or(0).min(max);
        let is_to_an_end = by.unsigned_abs() > self.page();
        let to = at.saturating_add_signed(by).min(max);
        if to != at && !is_to_an_end {
            self.scroll.insert(Pane::Inbox, to);
            return;
        }
        self.scroll.remove(&Pane::Inbox);
        self.in_inbox.step(self.inbox.iter().map(|item| &item.id), by);
    }

    /// The number of lines of a page in the focused pane.
    fn page(&self) -> usize {
        let content = self.plan_now().content(self.focus);
        content.map_or(1, |area| cell::room(area).max(2) - 1)
    }

    fn in_dialog(&mut self, dialog: Dialog, key: Key, actions: &mut Vec<Action>) -> Option<Dialog> {
        if key == Key::Escape {
            if let Dialog::Filter(_) = dialog {
                self.filter.clear();
                self.rebuild_lists();
            }
            return None;
        }
        match dialog {
            Dialog::Help(down) => match key {
                Key::Down | Key::Char('j') => Some(Dialog::Help(down.saturating_add(1).min(40))),
                Key::Up | Key::Char('k') => Some(Dialog::Help(down.saturating_sub(1))),
                Key::PageDown | Key::Char(' ') => Some(Dialog::Help(down.saturating_add(8).min(40))),
                Key::PageUp => Some(Dialog::Help(down.saturating_sub(8))),
                _ => None,
            },
            Dialog::Filter(mut input) => {
                if key == Key::Enter {
                    return None;
                }
                input.key(key);
                self.filter = input.text().trim().to_owned();
                self.rebuild_lists();
                Some(Dialog::Filter(input))
            }
            Dialog::Answer {
                agent,
                question,
                about,
                mut input,
            } => {
                let text = input.text().trim().to_owned();
                if key == Key::Enter && !text.is_empty() {
                    self.submit(
                        format!("answer {agent}"),
                        Command::Answer {
                            agent,
                            text,
                            question: about,
                        },
                        actions,
                    );
                    return None;
                }
                input.key(key);
                Some(Dialog::Answer {
                    agent,
                    question,
                    about,
                    input,
                })
            }
            Dialog::Confirm {
                question,
                follows,
                request,
                command,
            } => match key {
                Key::Char('y' | 'Y') => {
                    self.submit(request, command, actions);
                    None
                }
                Key::Char('n' | 'N' | 'q') => None,
                _ => Some(Dialog::Confirm {
                    question,
                    follows,
                    request,
                    command,
                }),
            },
            Dialog::Reason {
                what,
                ticket,
                mut input,
                refused: _,
            } => {
                let reason = input.text().trim().to_owned();
                if key == Key::Enter && !reason.is_empty() {
                    let (request, command) = match what {
                        Purpose::Drop => (format!("drop {ticket}"), Command::Drop { ticket, reason }),
                        Purpose::Waive => (format!("waive {ticket}"), Command::Waive { ticket, reason }),
                        Purpose::Reject => {
                            let command = Command::Reject {
                                ticket: ticket.clone(),
                                why: reason,
                            };
                            (format!("reject {ticket}"), command)
                        }
                    };
                    self.submit(request, command, actions);
                    return None;
                }
                if key == Key::Enter {
                    return Some(Dialog::Reason {
                        what,
                        ticket,
                        input,
                        refused: true,
                    });
                }
                input.key(key);
                Some(Dialog::Reason {
                    what,
                    ticket,
                    input,
                    refused: false,
                })
            }
            Dialog::Stop => match key {
                Key::Char(pressed)
                    if let Some((.., running)) = STOPS.iter().find(|(key, ..)| *key == pressed) =>
                {
                    let running = *running;
                    self.submit("stop".to_owned(), Command::Stop { running }, actions);
                    None
                }
                Key::Char('n' | 'q') => None,
                _ => Some(Dialog::Stop),
            },
            Dialog::Assign {
                head,
                choices,
                mut at,
            } => {
                let places: Vec<usize> = (0..choices.len()).collect();
                match key {
                    Key::Down | Key::Char('j') => at.step(places.iter(), 1),
                    Key::Up | Key::Char('k') => at.step(places.iter(), -1),
                    Key::PageDown => at.step(places.iter(), 10),
                    Key::PageUp => at.step(places.iter(), -10),
                    Key::Char('q') => return None,
                    Key::Enter => {
                        if let Some((agent, ticket, _)) = choices.into_iter().nth(at.at()) {
                            let request = format!("assign {ticket} to {agent}");
                            self.submit(request, Command::Assign { agent, ticket }, actions);
                        }
                        return None;
                    }
                    _ => {}
                }
                Some(Dialog::Assign { head, choices, at })
            }
            Dialog::Spawn(mut input) => {
                if key != Key::Enter {
                    input.key(key);
                    return Some(Dialog::Spawn(input));
                }
                match spawn(input.text().trim()) {
                    Ok((request, command)) => {
                        self.submit(request, command, actions);
                        None
                    }
                    Err(why) => {
                        self.set_status(Tone::Wrong, &why);
                        Some(Dialog::Spawn(input))
                    }
                }
            }
        }
    }

    /// Applies the text in the filter's dialog at once.
    fn refilter(&mut self) {
        if let Some(Dialog::Filter(input)) = &self.dialog {
            self.filter = input.text().trim().to_owned();
            self.rebuild_lists();
        }
    }

    fn submit(&mut self, request: String, command: Command, actions: &mut Vec<Action>) {
        self.status = None;
        self.pending.push(request.clone());
        let command = Box::new(command);
        actions.push(Action::Submit { request, command });
    }

    fn submit_ticket(
        &mut self,
        verb: &str,
        actions: &mut Vec<Action>,
        command: impl FnOnce(TicketId) -> Command,
    ) {
        match self.chosen_ticket().cloned() {
            Some(ticket) => self.submit(format!("{verb} {ticket}"), command(ticket), actions),
            None => self.set_status(Tone::Waiting, &format!("no ticket is chosen to {verb}")),
        }
    }

    fn ask_answer(&mut self) {
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

    /// The chosen agent and its ticket, if it has one.
    fn chosen_busy_agent(&self) -> Option<(AgentName, TicketId)> {
        let name = self.chosen_agent()?;
        let ticket = self.crew.agent(name)?.ticket?;
        Some((name.clone(), ticket))
    }

    fn wake(&mut self, actions: &mut Vec<Action>) {
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

    fn ask_kill(&mut self) {
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
    fn ask_approve(&mut self) {
        let ticket = self.chosen_ticket().and_then(|id| self.ticket(id));
        let Some(ticket) = ticket.filter(|ticket| !ticket.is_done()) else {
            return self.set_status(Tone::Waiting, "no unfinished ticket is chosen to approve");
        };
        let tip = match &self.diff {
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

    fn ask_reason(&mut self, what: Purpose) {
        let open = |id: &&TicketId| self.ticket(id).is_some_and(|ticket| !ticket.is_done());
        match self.chosen_ticket().filter(open).cloned() {
            Some(ticket) => {
                self.dialog = Some(Dialog::Reason {
                    what,
                    ticket,
                    input: Input::default(),
                    refused: false,
                });
            }
            None => self.set_status(Tone::Waiting, "no unfinished ticket is chosen"),
        }
    }

    fn start_engine(&mut self, actions: &mut Vec<Action>) {
        if self.engine.is_some() {
            return self.set_status(Tone::Waiting, "an engine runs here already; S stops it");
        }
        let request = "run".to_owned();
        if !self.pending.contains(&request) {
            self.status = None;
            self.pending.push(request.clone());
            actions.push(Action::Run { request });
        }
    }

    fn ask_stop(&mut self) {
        if self.engine.is_some() {
            self.dialog = Some(Dialog::Stop);
        } else {
            self.set_status(Tone::Waiting, "no engine runs here; R runs one");
        }
    }

    fn ask_assign(&mut self) {
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
    fn agents_for_ticket(&self) -> (String, Vec<(AgentName, TicketId, String)>) {
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
    fn tickets_for_agent(&self) -> (String, Vec<(AgentName, TicketId, String)>) {
        let Some(name) = self.agent.key() else {
            return ("no agent is chosen to assign a ticket to".to_owned(), Vec::new());
        };
        if self.crew.agent(name).is_some_and(|agent| agent.ticket.is_some()) {
            return (format!("{name} has a ticket"), Vec::new());
        }
        let open = self.crew.order().into_iter().filter(|ticket| {
            matches!(ticket.state, State::Open) && ticket.held.is_none() && ticket.spec.kind != "epic"
        });
        let choices: Vec<_> = open
            .map(|ticket| {
                let about = format!("{}  {}", ticket.id, ticket.spec.title);
                (name.clone(), ticket.id.clone(), about)
            })
            .collect();
        if choices.is_empty() {
            return ("no ticket is open".to_owned(), choices);
        }
        (format!("What does {name} get?"), choices)
    }
}

/// The key of an act on an item of the inbox, and its name; none where a command is typed in a shell.
pub(crate) fn key_of(act: &Act) -> Option<(char, &'static str)> {
    Some(match act {
        Act::Answer { .. } => ('a', "answer"),
        Act::Approve { .. } => ('p', "approve"),
        Act::Reject { .. } => ('x', "reject"),
        Act::Retry { .. } => ('r', "retry"),
        Act::Waive { .. } => ('w', "waive"),
        Act::Drop { .. } => ('D', "drop"),
        Act::Merge { .. } => ('m', "merge"),
        Act::Wake { .. } => ('W', "wake"),
        Act::Kill { .. } => ('K', "kill"),
        Act::WaiveCommitment { .. }
        | Act::Undep { .. }
        | Act::Reopen { .. }
        | Act::Close { .. }
        | Act::ByHand { .. } => return None,
    })
}

/// The keys for an item of the inbox, with their names.
pub(crate) fn key_words(item: &Item) -> String {
    let keys = item.acts.iter().filter_map(key_of);
    let words: Vec<String> = keys.map(|(key, name)| format!("{key} {name}")).collect();
    words.join("  ")
}

/// The keys that do something to a ticket as it stands, with their names.
pub(crate) fn keys_of(app: &App, ticket: &Ticket) -> String {
    let waits = app
        .inbox
        .iter()
        .find(|item| item.ticket.as_ref() == Some(&ticket.id));
    if let Some(item) = waits {
        return key_words(item);
    }
    let keys = match &ticket.state {
        State::Open => "s assign  D drop",
        State::InProgress(attempt) if attempt.is_between_steps() && attempt.conversation.errors > 0 => {
            "r retry  m merge  D drop"
        }
        State::InProgress(attempt) if attempt.is_between_steps() => "m merge  D drop",
        State::Verify(_) if ticket.reviewing().is_some() => "p approve  x reject  D drop",
        State::InProgress(_) | State::Verify(_) => "D drop",
        State::New | State::Done(_) => "",
    };
    keys.to_owned()
}

/// The key that shows the diff, where the chosen ticket has work to show; with the space behind it.
pub(crate) fn diff_word(app: &App) -> &'static str {
    let ticket = app.chosen_ticket().and_then(|id| app.ticket(id));
    match ticket.map(|ticket| &ticket.state) {
        Some(State::InProgress(_) | State::Verify(_) | State::Done(Done::Landed { .. })) => "d diff  ",
        Some(State::New | State::Open | State::Done(_)) | None => "",
    }
}

/// The remedies for an item of the inbox: keys with their names, or command lines and texts; not sanitised.
pub(crate) fn remedies(item: &Item) -> String {
    let mut words = String::new();
    for act in &item.acts {
        if !words.is_empty() {
            words.push_str(if words.ends_with("then") { " " } else { ", " });
        }
        let one = key_of(act).map(|(key, name)| format!("{key} {name}"));
        words.push_str(&one.unwrap_or_else(|| act.typed()));
    }
    words
}

/// The command that spawns agents, with its description: an empty text spawns one.
fn spawn(text: &str) -> Result<(String, Command), String> {
    if text.is_empty() {
        return Ok(("spawn an agent".to_owned(), Command::SpawnMany { count: 1 }));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return match text.parse() {
            Ok(count) if (1..=MAX_AGENTS).contains(&count) => {
                let what = match count {
                    1 => "spawn an agent".to_owned(),
                    count => format!("spawn {count} agents"),
                };
                Ok((what, Command::SpawnMany { count }))
            }
            Ok(_) | Err(_) => Err(format!("between 1 and {MAX_AGENTS} can be spawned at once")),
        };
    }
    match AgentName::new(text) {
        Ok(name) => Ok((format!("spawn {name}"), Command::Spawn { name })),
        Err(error) => Err(error.to_string()),
    }
}
