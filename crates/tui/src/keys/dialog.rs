//! The meaning of each key while a dialog is open.

use model::AgentName;
use model::command::Command;
use model::settings::MAX_AGENTS;

use crate::app::App;
use crate::dialog::{Dialog, Purpose, STOPS};
use crate::message::{Action, Key};
use crate::theme::Tone;

impl App {
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

    pub(super) fn in_dialog(
        &mut self,
        dialog: Dialog,
        key: Key,
        actions: &mut Vec<Action>,
    ) -> Option<Dialog> {
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
                at,
                mut input,
                refused: _,
            } => {
                let reason = input.text().trim().to_owned();
                if key == Key::Enter && self.refuses_moved() {
                    return Some(Dialog::Reason {
                        what,
                        ticket,
                        at,
                        input,
                        refused: false,
                    });
                }
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
                        at,
                        input,
                        refused: true,
                    });
                }
                input.key(key);
                Some(Dialog::Reason {
                    what,
                    ticket,
                    at,
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
    pub(super) fn refilter(&mut self) {
        if let Some(Dialog::Filter(input)) = &self.dialog {
            self.filter = input.text().trim().to_owned();
            self.rebuild_lists();
        }
    }
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
