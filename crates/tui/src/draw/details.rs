//! The details: output and history of the chosen row, and the cost.

use model::view::{self, Sum};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use super::wrap::wrap;
use super::{diff, inbox};
use crate::app::App;
use crate::cell::put;
use crate::hints::remedies;
use crate::pane::Pane;
use crate::queue::symbol_and_tone;
use crate::theme::Tone;

/// A line with its tone.
type Line = (Tone, String);

/// The most lines of a check's output that stand above the history.
const PRINTED: usize = 5;

/// The most lines by which a pane can be scrolled on the current screen.
pub(crate) fn max_scroll(app: &App, pane: Pane) -> usize {
    let Some(area) = app.plan_now().content(pane) else {
        return 0;
    };
    let (head, lines) = match pane {
        Pane::Inbox => return inbox::max_scroll(app, area),
        Pane::Diff => return diff::max_scroll(app, area),
        Pane::Output => (0, printed(app, area, usize::MAX).len()),
        Pane::History => (
            about(app, area).len().min(most_about(app, area)),
            events(app, area, usize::MAX).len(),
        ),
        Pane::Cost => (0, costs(app).len()),
        Pane::Agents | Pane::Queue | Pane::Train => (0, 0),
    };
    lines.saturating_sub(usize::from(area.height).saturating_sub(head))
}

/// Draws the last lines, or those `up` lines above them.
fn draw_end(app: &App, buffer: &mut Buffer, area: Rect, lines: &[Line], up: usize) {
    let height = usize::from(area.height);
    let from = lines.len().saturating_sub(height.saturating_add(up));
    for ((tone, line), y) in lines[from..].iter().zip(area.top()..area.bottom()) {
        put(buffer, Rect { y, height: 1, ..area }, 0, line, app.theme, *tone);
    }
}

/// The number of lines by which a pane is scrolled, within its content.
fn scroll(app: &App, pane: Pane) -> usize {
    app.scroll
        .get(&pane)
        .copied()
        .unwrap_or(0)
        .min(max_scroll(app, pane))
}

/// Draws the output of the chosen run.
pub(super) fn output(app: &App, buffer: &mut Buffer, area: Rect) {
    let up = scroll(app, Pane::Output);
    let lines = printed(app, area, usize::from(area.height).saturating_add(up));
    if lines.is_empty() {
        let is_alive = |id| app.ticket(id).is_some_and(|ticket| !ticket.is_done());
        let says = match (&app.log.run, app.chosen_ticket().is_none_or(is_alive)) {
            (Some(_), true) => "it has printed nothing yet",
            (Some(_), false) => "it printed nothing, or that is not kept any more",
            (None, _) => "nothing was started yet",
        };
        return draw_end(app, buffer, area, &[(Tone::Dim, says.to_owned())], 0);
    }
    draw_end(app, buffer, area, &lines, up);
}

/// The last lines of the output, wrapped: at least the wanted number, if there are so many.
fn printed(app: &App, area: Rect, wanted: usize) -> Vec<Line> {
    let columns = usize::from(area.width);
    let mut pieces = Vec::new();
    let mut count = 0;
    let mut add = |tone: Tone, indent: usize, text: &str| {
        // An indentation must leave room for the text.
        let indent = indent.min(columns / 3);
        let lines = wrap(text, columns.saturating_sub(indent)).into_iter();
        let wrapped: Vec<Line> = lines.map(|line| (tone, " ".repeat(indent) + &line)).collect();
        count += wrapped.len();
        pieces.push(wrapped);
        count < wanted
    };
    let more = app.log.open.is_empty() || add(Tone::Plain, 0, &app.log.open);
    let mut lines = app.log.shown().rev();
    while more
        && lines
            .next()
            .is_some_and(|line| add(line.tone, line.indent, &line.text))
    {}
    pieces.into_iter().rev().flatten().collect()
}

/// Draws the history of the chosen ticket.
pub(super) fn history(app: &App, buffer: &mut Buffer, area: Rect) {
    let mut head = about(app, area);
    head.truncate(most_about(app, area));
    for ((tone, line), y) in head.iter().zip(area.top()..area.bottom()) {
        put(buffer, Rect { y, height: 1, ..area }, 0, line, app.theme, *tone);
    }
    let taken = u16::try_from(head.len()).unwrap_or(0);
    let below = Rect {
        y: area.y.saturating_add(taken),
        height: area.height.saturating_sub(taken),
        ..area
    };
    let up = scroll(app, Pane::History);
    let lines = events(app, below, usize::from(below.height).saturating_add(up));
    draw_end(app, buffer, below, &lines, up);
}

/// The most lines for the description: half of the pane, or all where no events are below.
fn most_about(app: &App, area: Rect) -> usize {
    match app.history.ticket {
        Some(_) => usize::from(area.height) / 2,
        None => usize::from(area.height),
    }
}

/// The description of the chosen ticket: its title, its standing with the reason, the summary of its work.
fn about(app: &App, area: Rect) -> Vec<Line> {
    let clean = text::sanitise::line;
    let columns = usize::from(area.width);
    let mut lines: Vec<Line> = Vec::new();
    let mut add = |tone, text: &str| {
        lines.extend(wrap(&clean(text), columns).into_iter().map(|line| (tone, line)));
    };
    let Some(ticket) = app.chosen_ticket().and_then(|id| app.ticket(id)) else {
        match app.chosen_item() {
            Some(item) => {
                add(Tone::Bold, &item.title);
                add(Tone::Wrong, &item.why);
                for line in item.excerpt(PRINTED) {
                    add(Tone::Plain, &format!("│ {line}"));
                }
                add(Tone::Waiting, &format!("what to do: {}", remedies(item)));
            }
            None => add(Tone::Dim, "no ticket is chosen"),
        }
        return lines;
    };
    let standing = app.standing(ticket);
    let (symbol, tone) = symbol_and_tone(standing.sign);
    let why = standing.why.map(|why| format!(": {why}")).unwrap_or_default();
    add(Tone::Bold, &ticket.spec.title);
    add(tone, &format!("{symbol} {}{why}", standing.word));
    if let Some(item) = app.chosen_item() {
        for line in item.excerpt(PRINTED) {
            add(Tone::Plain, &format!("│ {line}"));
        }
        add(Tone::Waiting, &format!("what to do: {}", remedies(item)));
    }
    let at_work = app
        .agents
        .iter()
        .filter(|agent| agent.ticket.as_ref() == Some(&ticket.id));
    for agent in at_work {
        if let Some(reports) = agent.reports(app.now) {
            add(Tone::Plain, &format!("{} {reports}", agent.name));
        }
    }
    for one in &ticket.commitments {
        add(Tone::Plain, &one.words());
    }
    if let Some(summary) = app.summary(&ticket.id) {
        add(Tone::Plain, &format!("summary: {summary}"));
    }
    if let Some(attempt) = ticket.attempt().filter(|attempt| attempt.conversation.errors > 0)
        && let Some(failure) = &attempt.conversation.failure
    {
        let failure = format!("last failure: {}: {}", failure.class.name(), failure.message);
        add(Tone::Waiting, &failure);
    }
    lines
}

/// The last events, wrapped: at least the wanted number of lines, if there are so many.
fn events(app: &App, area: Rect, wanted: usize) -> Vec<Line> {
    let columns = usize::from(area.width);
    // A narrow pane shows no day, and a very narrow one no time.
    let skip = if columns >= 70 {
        0
    } else if columns >= 36 {
        "2026-01-01 ".len()
    } else {
        usize::MAX
    };
    let mut pieces = Vec::new();
    let mut count = 0;
    for event in app.history.lines.iter().rev() {
        let at = (app.clock)(event.at);
        let at = at.get(skip..).unwrap_or_default();
        let indent = if at.is_empty() { 0 } else { at.len() + 2 };
        let says = wrap(&(app.in_words)(&event.text), columns.saturating_sub(indent));
        let lines: Vec<Line> = says
            .into_iter()
            .enumerate()
            .map(|(n, says)| {
                let at = if n == 0 { at } else { "" };
                let pad = indent.saturating_sub(at.len());
                (event.tone, format!("{at}{}{says}", " ".repeat(pad)))
            })
            .collect();
        count += lines.len();
        pieces.push(lines);
        if count >= wanted {
            break;
        }
    }
    pieces.into_iter().rev().flatten().collect()
}

/// Draws tokens and money by ticket, day and agent.
pub(super) fn cost(app: &App, buffer: &mut Buffer, area: Rect) {
    let lines = costs(app);
    let height = usize::from(area.height);
    let most = lines.len().saturating_sub(height);
    draw_end(
        app,
        buffer,
        area,
        &lines,
        most.saturating_sub(scroll(app, Pane::Cost)),
    );
}

fn costs(app: &App) -> Vec<Line> {
    let row = |name: &str, steps: &str, input: &str, output: &str, cost: &str| {
        let name = text::sanitise::fit(&text::sanitise::line(name), 20);
        let pad = " ".repeat(20_usize.saturating_sub(name.width()));
        format!("{name}{pad} {steps:>6} {input:>8} {output:>8} {cost:>9}")
    };
    let sum = |name: &str, sum: &Sum| {
        let usage = sum.usage;
        row(
            name,
            &sum.steps.to_string(),
            &view::tokens(usage.input_tokens),
            &view::tokens(usage.output_tokens),
            &view::cost(usage),
        )
    };
    let mut lines = Vec::new();
    for (head, costs) in [
        ("TICKET", &app.by_ticket),
        ("DAY", &app.by_day),
        ("AGENT", &app.by_agent),
    ] {
        lines.push((Tone::Dim, row(head, "STEPS", "IN", "OUT", "COST")));
        for line in &costs.lines {
            let name = match (&line.ticket, &line.agent, &line.day) {
                (Some(ticket), ..) => ticket.to_string(),
                (None, Some(agent), _) => agent.to_string(),
                (None, None, Some(day)) => day.to_string(),
                (None, None, None) => String::new(),
            };
            lines.push((Tone::Plain, sum(&name, &line.sum)));
        }
        lines.push((Tone::Plain, String::new()));
    }
    lines.push((Tone::Bold, sum("all", &app.by_agent.total)));
    if app.by_agent.running > 0 {
        let running = app.by_agent.running;
        let what = if running == 1 {
            "step runs and counts"
        } else {
            "steps run and count"
        };
        lines.push((Tone::Dim, format!("{running} {what} when ended")));
    }
    lines
}
