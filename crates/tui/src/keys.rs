//! The meaning of each key.

mod ask;
mod dialog;

use model::TicketId;
use model::command::Command;
use model::view::Act;

use crate::app::App;
use crate::cell;
use crate::dialog::{Dialog, Purpose};
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
            // They act on a row that is not shown, or land work whatever commit it has by then.
            Key::Char(act @ ('a' | 's' | 'r' | 'm' | 'w' | 'K' | 'W')) => {
                let says =
                    format!("{act} does nothing in a diff: q closes it, then {act} acts on the chosen row");
                self.set_status(Tone::Waiting, &says);
                true
            }
            // A letter that was meant for a question must not begin something else.
            Key::Char(act @ ('n' | 'S' | 'R')) => {
                self.set_status(
                    Tone::Waiting,
                    &format!("{act} does nothing in a diff: q closes it"),
                );
                true
            }
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
        // What was said is about what was shown before.
        self.status = None;
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
        // An item that belongs to no ticket may name the one by which it is retried.
        let of_item = self.chosen_item().and_then(|item| retried(&item.acts));
        match of_item
            .filter(|_| verb == "retry")
            .or(self.chosen_ticket())
            .cloned()
        {
            Some(ticket) => self.submit(format!("{verb} {ticket}"), command(ticket), actions),
            None => self.set_status(Tone::Waiting, &format!("no ticket is chosen to {verb}")),
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
}

/// The ticket that an act on an item of the inbox tries again.
fn retried(acts: &[Act]) -> Option<&TicketId> {
    acts.iter().find_map(|act| match act {
        Act::Retry { ticket } => Some(ticket),
        Act::Answer { .. }
        | Act::Approve { .. }
        | Act::Reject { .. }
        | Act::Waive { .. }
        | Act::WaiveCommitment { .. }
        | Act::Drop { .. }
        | Act::Merge { .. }
        | Act::Wake { .. }
        | Act::Kill { .. }
        | Act::Undep { .. }
        | Act::Reopen { .. }
        | Act::Close { .. }
        | Act::ByHand { .. } => None,
    })
}
