//! Drawing a dialog in front of the panes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, BorderType, Clear, Widget as _};
use unicode_width::UnicodeWidthStr as _;

use super::wrap::wrap;
use crate::app::App;
use crate::cell::put;
use crate::choose::first;
use crate::dialog::{Dialog, KEYS, Purpose, STOPS};
use crate::input::Input;
use crate::theme::Tone;

/// The content of a dialog.
struct Front<'a> {
    title: String,
    lines: Vec<(Tone, String)>,
    /// The line that is edited, at the bottom.
    input: Option<&'a Input>,
    /// The keys that can be pressed.
    keys: &'static str,
}

/// Draws the dialog, if there is one.
pub(super) fn draw(app: &App, buffer: &mut Buffer, area: Rect) {
    let Some(dialog) = &app.dialog else { return };
    let front = laid_out(app, dialog, inner_width(area));
    let place = place(&front, area);
    Clear.render(place, buffer);
    Block::bordered()
        .border_type(BorderType::Double)
        .border_style(app.theme.frame(true))
        .render(place, buffer);
    let top = Rect {
        height: place.height.min(1),
        ..place
    };
    put(
        buffer,
        top,
        2,
        &format!(" {} ", front.title),
        app.theme,
        Tone::Bold,
    );
    let bottom = Rect {
        y: place.bottom().saturating_sub(1),
        height: place.height.min(1),
        ..place
    };
    put(
        buffer,
        bottom,
        2,
        &format!(" {} ", front.keys),
        app.theme,
        Tone::Dim,
    );
    let inner = inner(place);
    let below = usize::from(front.input.is_some());
    let room = usize::from(inner.height).saturating_sub(below);
    for ((tone, line), y) in front.lines.iter().take(room).zip(inner.top()..inner.bottom()) {
        let line_area = Rect {
            y,
            height: 1,
            ..inner
        };
        put(buffer, line_area, 0, line, app.theme, *tone);
        if line.starts_with('▸') {
            buffer.set_style(line_area, app.theme.chosen(true));
        }
    }
    if let Some(input) = front.input {
        let line = input_line(inner);
        let (shown, _) = input.shown(usize::from(line.width).saturating_sub(2));
        let x = put(buffer, line, 0, "> ", app.theme, Tone::Bold);
        put(buffer, line, x, &shown, app.theme, Tone::Plain);
    }
}

/// The position of the cursor, if the dialog has a line to edit.
pub(super) fn cursor(app: &App, area: Rect) -> Option<(u16, u16)> {
    let front = laid_out(app, app.dialog.as_ref()?, inner_width(area));
    let line = input_line(inner(place(&front, area)));
    let (_, at) = front.input?.shown(usize::from(line.width).saturating_sub(2));
    let x = line.x.saturating_add(2).saturating_add(u16::try_from(at).ok()?);
    (line.height > 0 && x < area.right() && line.y < area.bottom()).then_some((x, line.y))
}

fn input_line(inner: Rect) -> Rect {
    Rect {
        y: inner.bottom().saturating_sub(1),
        height: inner.height.min(1),
        ..inner
    }
}

/// The number of columns for a dialog's text.
fn inner_width(area: Rect) -> usize {
    usize::from(area.width.min(76)).saturating_sub(4).max(1)
}

fn inner(place: Rect) -> Rect {
    Rect {
        x: place.x.saturating_add(2),
        y: place.y.saturating_add(1),
        width: place.width.saturating_sub(4),
        height: place.height.saturating_sub(2),
    }
}

/// The area of a dialog: in the middle, as large as its content.
fn place(front: &Front<'_>, area: Rect) -> Rect {
    let widest = front
        .lines
        .iter()
        .map(|(_, line)| line.width())
        .max()
        .unwrap_or(0);
    let widest = widest.max(front.title.width() + 4).max(front.keys.width() + 4);
    let typed = if front.input.is_some() { 60 } else { 0 };
    let width = u16::try_from(widest.max(typed) + 4)
        .unwrap_or(u16::MAX)
        .min(area.width)
        .min(76);
    let lines = front.lines.len() + usize::from(front.input.is_some()) + 2;
    let height = u16::try_from(lines).unwrap_or(u16::MAX).min(area.height);
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}

fn laid_out<'a>(app: &App, dialog: &'a Dialog, columns: usize) -> Front<'a> {
    let clean = text::sanitise::line;
    let wrapped = |tone, text: &str| -> Vec<(Tone, String)> {
        wrap(&clean(text), columns)
            .into_iter()
            .map(|line| (tone, line))
            .collect()
    };
    match dialog {
        Dialog::Help(down) => Front {
            title: "Keys".to_owned(),
            lines: help(columns).into_iter().skip(*down).collect(),
            input: None,
            keys: "↓ more, any other key closes",
        },
        Dialog::Filter(input) => Front {
            title: "Filter agents and tickets".to_owned(),
            lines: wrapped(
                Tone::Dim,
                "words of an id, title, state, agent, tag or priority (p1); all must be there",
            ),
            input: Some(input),
            keys: "Enter keeps it, Esc shows all",
        },
        Dialog::Answer {
            agent,
            question,
            input,
            about,
        } => Front {
            title: match about {
                Some(about) => format!("{agent} asks (question {})", about.number),
                None => format!("{agent} asks"),
            },
            lines: wrapped(Tone::Plain, question),
            input: Some(input),
            keys: "Enter answers, Esc leaves it",
        },
        Dialog::Confirm {
            question, follows, ..
        } => Front {
            title: clean(question),
            lines: wrapped(Tone::Plain, &(app.in_words)(follows)),
            input: None,
            keys: "y yes, n no",
        },
        Dialog::Reason {
            what,
            ticket,
            at,
            input,
            refused,
        } => {
            let at = at.as_ref().map(|at| format!(" at {}", at.short()));
            let at = at.unwrap_or_default();
            let title = app
                .ticket(ticket)
                .map(|ticket| ticket.spec.title.clone())
                .unwrap_or_default();
            let (head, follows) = match what {
                Purpose::Drop => (
                    format!("Drop {ticket}{at}?"),
                    "It is closed and given up; its work is kept under a ref. Why?",
                ),
                Purpose::Waive => (
                    format!("Waive the hold of {ticket}{at}?"),
                    "It lands as it is, neither checked, nor verified against its commitments, nor reviewed. Why? The reason is kept in \
                     the journal.",
                ),
                Purpose::Reject => (
                    format!("Reject the work on {ticket}{at}?"),
                    "It goes back to its agent. Why? The agent gets the reason with its next step.",
                ),
            };
            let mut lines = wrapped(Tone::Bold, &title);
            lines.extend(wrapped(Tone::Plain, follows));
            if *refused {
                let says = match what {
                    Purpose::Drop | Purpose::Waive => {
                        "A reason is needed: people will read it in the journal later."
                    }
                    Purpose::Reject => "A reason is needed: the agent goes by it.",
                };
                lines.extend(wrapped(Tone::Wrong, says));
            }
            Front {
                title: head,
                lines,
                input: Some(input),
                keys: match what {
                    Purpose::Drop => "Enter drops it, Esc leaves it",
                    Purpose::Waive => "Enter waives it, Esc leaves it",
                    Purpose::Reject => "Enter rejects it, Esc leaves it",
                },
            }
        }
        Dialog::Stop => Front {
            title: "Stop the engine?".to_owned(),
            lines: STOPS
                .iter()
                .flat_map(|(key, does, _)| wrapped(Tone::Plain, &format!("{key}  {does}")))
                .collect(),
            input: None,
            keys: "f, l or k; Esc leaves it",
        },
        Dialog::Assign { head, choices, at } => {
            let visible = 12;
            let from = first(at.at(), choices.len(), visible);
            let shown = choices.iter().enumerate().skip(from).take(visible);
            let lines = shown.map(|(place, (.., about))| {
                let mark = if place == at.at() { "▸" } else { " " };
                (
                    Tone::Plain,
                    text::sanitise::fit(&format!("{mark} {}", clean(about)), columns),
                )
            });
            Front {
                title: clean(head),
                lines: lines.collect(),
                input: None,
                keys: "↑↓ choose, Enter assigns, Esc leaves it",
            }
        }
        Dialog::Spawn(input) => Front {
            title: "Spawn".to_owned(),
            lines: wrapped(Tone::Dim, "a name or a number; leave it empty for one more agent"),
            input: Some(input),
            keys: "Enter spawns, Esc leaves it",
        },
    }
}

fn help(columns: usize) -> Vec<(Tone, String)> {
    let indent = if columns >= 60 { 26 } else { 4 };
    let mut lines = Vec::new();
    for (group, keys) in KEYS {
        if !lines.is_empty() {
            lines.push((Tone::Plain, String::new()));
        }
        lines.push((Tone::Bold, group.to_owned()));
        for (key, does) in keys {
            let head = format!("  {key}");
            let beside = head.width() < indent;
            if !beside {
                lines.push((Tone::Plain, head.clone()));
            }
            for (n, line) in wrap(does, columns.saturating_sub(indent)).into_iter().enumerate() {
                let before = if n == 0 && beside { head.as_str() } else { "" };
                let pad = indent.saturating_sub(before.width());
                lines.push((Tone::Plain, format!("{before}{}{line}", " ".repeat(pad))));
            }
        }
    }
    lines
}
