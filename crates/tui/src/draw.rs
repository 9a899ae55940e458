//! Drawing the state: a function of the state alone.

mod details;
mod diff;
mod front;
mod inbox;
mod lists;
mod wrap;

use model::ticket::{State, Ticket};
use model::view;
use model::{RunId, TicketId, project};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, BorderType, Clear, Widget as _};
use unicode_width::UnicodeWidthStr as _;

use crate::app::App;
use crate::cell::put;
use crate::hints;
use crate::pane::Pane;
use crate::theme::Tone;

pub(crate) use details::max_scroll;

/// The most lines that a status takes.
const MOST_TOLD: usize = 4;

/// Draws the dashboard on a whole frame.
pub fn draw(app: &App, frame: &mut Frame<'_>) {
    let area = frame.area();
    on(app, frame.buffer_mut(), area);
    if let Some((x, y)) = front::cursor(app, area) {
        frame.set_cursor_position((x, y));
    }
}

/// Draws the dashboard on a part of a buffer.
fn on(app: &App, buffer: &mut Buffer, area: Rect) {
    let plan = app.plan(area);
    head(app, buffer, plan.head);
    if let Some(line) = app.pause_line() {
        put(buffer, plan.pause, 0, &line, app.theme, Tone::Wrong);
    }
    for (pane, place) in &plan.panes {
        let content = plan.inner(*place);
        if plan.framed {
            framed(app, buffer, *pane, *place, content);
        } else {
            titled(app, buffer, *pane, *place, content);
        }
        match pane {
            Pane::Agents => lists::agents(app, buffer, content),
            Pane::Queue => lists::queue(app, buffer, content),
            Pane::Train => lists::train(app, buffer, content),
            Pane::Inbox => inbox::inbox(app, buffer, content),
            Pane::Output => details::output(app, buffer, content),
            Pane::History => details::history(app, buffer, content),
            Pane::Cost => details::cost(app, buffer, content),
            Pane::Diff => diff::diff(app, buffer, content),
        }
    }
    status(app, buffer, plan.status);
    keys(app, buffer, plan.keys);
    front::draw(app, buffer, area);
}

/// The title of a pane: its number, its name, and a short state.
fn title(app: &App, pane: Pane) -> String {
    let about = match pane {
        Pane::Agents => match app.agents.len() {
            0 => String::new(),
            agents => format!(" {agents}"),
        },
        Pane::Queue => listed(app),
        Pane::Train => submitted(app),
        Pane::Inbox => match app.inbox.len() {
            0 => String::new(),
            1 => " 1 waits for you".to_owned(),
            waits => format!(" {waits} wait for you"),
        },
        Pane::Output if app.log.run.as_ref().is_some_and(RunId::is_of_target) => {
            " of the target's checks".to_owned()
        }
        Pane::Output => {
            let is_check = app.log.run.as_ref().is_some_and(RunId::is_check);
            let whose = match app.chosen_agent().filter(|_| !is_check) {
                Some(name) => Some(name.to_string()),
                None => is_check.then(|| "a check".to_owned()),
            };
            let ticket = app.chosen_ticket().map(ToString::to_string);
            let place = app.place_of_run().filter(|(_, all)| *all > 1);
            let place = place.map(|(at, all)| format!("{at} of {all}"));
            let about: Vec<String> = [whose, ticket, place].into_iter().flatten().collect();
            match about.is_empty() {
                true => String::new(),
                false => format!(" of {}", about.join(", ")),
            }
        }
        Pane::History | Pane::Diff => app
            .chosen_ticket()
            .map(|id| format!(" of {id}"))
            .unwrap_or_default(),
        Pane::Cost => String::new(),
    };
    let scrolled = app.scroll.get(&pane).copied().unwrap_or(0);
    let hidden = match pane {
        Pane::Inbox | Pane::Diff => max_scroll(app, pane).saturating_sub(scrolled),
        Pane::Output | Pane::History => scrolled,
        Pane::Agents | Pane::Queue | Pane::Train | Pane::Cost => 0,
    };
    let place = match (pane, hidden) {
        (_, 0) => String::new(),
        (Pane::Inbox | Pane::Diff, 1) => ", 1 line below".to_owned(),
        (Pane::Inbox | Pane::Diff, below) => format!(", {below} lines below"),
        (_, up) => format!(", {up} lines up"),
    };
    let number = pane.number().map(|number| format!("{number} "));
    format!("{}{}{about}{place}", number.unwrap_or_default(), pane.name())
}

/// The numbers of the tickets in the queue, as the top line has them for all: the filter may hide some.
fn listed(app: &App) -> String {
    let tickets = || app.queue.iter().filter_map(|id| app.ticket(id));
    let is_epic = |ticket: &&Ticket| matches!(ticket.state, State::Open) && ticket.spec.kind == "epic";
    let count = |is: &dyn Fn(&&Ticket) -> bool| tickets().filter(|ticket| is(ticket)).count();
    let epics = count(&|ticket| is_epic(ticket) && ticket.held.is_none());
    let done = count(&|ticket| ticket.is_done());
    let to_do = app.queue.len() - epics - done;
    let mut parts = Vec::new();
    if to_do > 0 {
        parts.push(format!("{to_do} to do"));
    }
    parts.extend(self::epics(u32::try_from(epics).unwrap_or(u32::MAX)));
    // Those that ended long ago are in the archive, and not listed.
    let all = usize::try_from(app.crew.counts().done()).unwrap_or(usize::MAX);
    match done {
        _ if all > done && app.filter.is_empty() => parts.push(format!("{done} of {all} done")),
        0 => {}
        done => parts.push(format!("{done} done")),
    }
    joined(&parts)
}

/// The numbers of the submitted tickets, as the top line has them for all.
fn submitted(app: &App) -> String {
    let is_held = |id: &&TicketId| app.ticket(id).is_some_and(|ticket| ticket.held.is_some());
    let held = app.train.iter().filter(is_held).count();
    let figures = [(app.train.len() - held, "verifying"), (held, "held")];
    let some = figures.iter().filter(|(n, _)| *n > 0);
    let parts: Vec<String> = some.map(|(n, what)| format!("{n} {what}")).collect();
    joined(&parts)
}

/// Parts of a title, behind the name of the pane.
fn joined(parts: &[String]) -> String {
    match parts.is_empty() {
        true => String::new(),
        false => format!(" {}", parts.join(", ")),
    }
}

fn framed(app: &App, buffer: &mut Buffer, pane: Pane, area: Rect, content: Rect) {
    let focused = pane == app.focus;
    let border = if focused {
        BorderType::Thick
    } else {
        BorderType::Plain
    };
    Block::bordered()
        .border_type(border)
        .border_style(app.theme.frame(focused))
        .render(area, buffer);
    let (above, below) = more(app, pane, content);
    let taken = if above.is_empty() { 4 } else { 8 + above.width() };
    let room = usize::from(area.width).saturating_sub(taken);
    let text = text::sanitise::fit(&title(app, pane), room);
    let line = Rect {
        height: area.height.min(1),
        ..area
    };
    let tone = if focused { Tone::Bold } else { Tone::Plain };
    if room > 0 {
        put(buffer, line, 2, &format!(" {text} "), app.theme, tone);
    }
    let bottom = Rect {
        y: area.bottom().saturating_sub(1),
        ..line
    };
    for (place, marks) in [(line, above), (bottom, below)] {
        let marks = format!(" {marks} ");
        let from = usize::from(area.width).saturating_sub(marks.width() + 2);
        if marks.width() > 2 && from > 2 {
            put(buffer, place, from, &marks, app.theme, Tone::Waiting);
        }
    }
}

/// What says that a list goes on above and below the rows that are shown.
fn more(app: &App, pane: Pane, area: Rect) -> (String, String) {
    let (above, below) = match pane {
        Pane::Agents | Pane::Queue | Pane::Train => lists::hidden(app, pane, area),
        Pane::Inbox => inbox::hidden(app, area),
        Pane::Output | Pane::History | Pane::Cost | Pane::Diff => (0, 0),
    };
    let says = |count: usize, arrow: &str| match count {
        0 => String::new(),
        count => format!("{arrow}{count} more"),
    };
    (says(above, "↑"), says(below, "↓"))
}

fn titled(app: &App, buffer: &mut Buffer, pane: Pane, area: Rect, content: Rect) {
    let line = Rect {
        height: area.height.min(1),
        ..area
    };
    let x = put(
        buffer,
        line,
        0,
        &format!("▌{}", title(app, pane)),
        app.theme,
        Tone::Bold,
    );
    let (above, below) = more(app, pane, content);
    let mut x = x;
    for marks in [above, below].iter().filter(|marks| !marks.is_empty()) {
        x = put(buffer, line, x + 2, marks, app.theme, Tone::Waiting);
    }
    let next = match pane {
        Pane::Diff => "q back",
        Pane::Agents
        | Pane::Queue
        | Pane::Train
        | Pane::Inbox
        | Pane::Output
        | Pane::History
        | Pane::Cost => "Tab next pane",
    };
    put(buffer, line, x + 2, next, app.theme, Tone::Dim);
}

/// Draws the engine's state and the figures of the queue in one line.
fn head(app: &App, buffer: &mut Buffer, area: Rect) {
    let theme = app.theme;
    let mut x = put(buffer, area, 0, "crew ", theme, Tone::Bold);
    x = put(buffer, area, x, &app.repository, theme, Tone::Plain) + 2;
    let (tone, engine) = engine(app);
    x = put(buffer, area, x, &engine, theme, tone) + 2;
    let counts = app.crew.counts();
    let mut figures = vec![format!("{}/{} done", counts.done(), counts.total())];
    let mut unfinished = counts.unfinished();
    if counts.held > 0 {
        // What waits for a person is not what is cut off.
        unfinished.rotate_right(1);
    }
    figures.extend(unfinished);
    figures.extend(epics(counts.epics));
    figures.extend(Some(view::cost(app.by_agent.total.usage)).filter(|cost| !cost.is_empty()));
    put(buffer, area, x, &figures.join(" · "), theme, Tone::Plain);
}

/// So many epics, in words.
fn epics(count: u32) -> Option<String> {
    (count > 0).then(|| text::counted(usize::try_from(count).unwrap_or(usize::MAX), "epic"))
}

/// The state of the engine, in words.
pub(crate) fn engine(app: &App) -> (Tone, String) {
    let Some(engine) = &app.engine else {
        let left = app.agents.iter().any(|agent| agent.running);
        let what = if left {
            "○ no engine; steps run on: R runs one, which adopts them"
        } else {
            "○ no engine: R runs one"
        };
        return (Tone::Waiting, what.to_owned());
    };
    let since = engine
        .since
        .map(|since| format!(" {}", view::span(app.now.since(since))))
        .unwrap_or_default();
    let (tone, what) = match app.crew.project.state {
        project::State::ShuttingDown => (Tone::Waiting, "◌ stopping, waits for running steps"),
        project::State::Initializing => (Tone::Moving, "◐ starting"),
        project::State::Busy => (Tone::Good, "● at work"),
        project::State::Ready => (Tone::Plain, "● idle"),
        // The lock is taken, but the journal has no event of it yet: an engine starts, or a command is
        // carried out.
        project::State::Uninitialized | project::State::Closed => (Tone::Moving, "◐ starting"),
    };
    (tone, format!("{what}{since}"))
}

/// Draws the filter, and the status or the pending command.
fn status(app: &App, buffer: &mut Buffer, area: Rect) {
    let mut x = 0;
    if !app.filter.is_empty() {
        let (agents, tickets) = (app.agents.len(), app.queue.len());
        let (agents, tickets) = (text::counted(agents, "agent"), text::counted(tickets, "ticket"));
        let filter = format!("/{}: {agents}, {tickets}", app.filter);
        x = put(
            buffer,
            area,
            0,
            &text::sanitise::line(&filter),
            app.theme,
            Tone::Waiting,
        ) + 2;
    }
    if let Some(request) = app.pending.last() {
        let request = text::sanitise::line(&format!("… {request}"));
        put(buffer, area, x, &request, app.theme, Tone::Moving);
    } else if let Some((tone, text)) = &app.status {
        told(app, buffer, area, (x, *tone), text);
    }
}

/// Draws the status; one that is longer than the line goes up over the panes, until Esc or the next one: a
/// refusal ends with what to do.
fn told(app: &App, buffer: &mut Buffer, area: Rect, (x, tone): (usize, Tone), text: &str) {
    let columns = usize::from(area.width);
    if x + text.width() <= columns {
        put(buffer, area, x, text, app.theme, tone);
        return;
    }
    let lines = wrap::at_most(text, columns, MOST_TOLD);
    for (up, line) in lines.iter().rev().enumerate() {
        let up = u16::try_from(up)
            .unwrap_or(u16::MAX)
            .saturating_add(u16::from(x > 0));
        let Some(y) = area.y.checked_sub(up).filter(|_| area.height > 0) else {
            break;
        };
        let row = Rect { y, height: 1, ..area };
        Clear.render(row, buffer);
        put(buffer, row, 0, line, app.theme, tone);
    }
}

/// Draws the keys that can be pressed in the focused pane.
fn keys(app: &App, buffer: &mut Buffer, area: Rect) {
    put(buffer, area, 0, &hints::line(app), app.theme, Tone::Dim);
}
