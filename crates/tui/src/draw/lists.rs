//! Drawing the lists: agents, queue, train.

use model::target::Verdict;
use model::view::{self, Agent, Status, TrainEntry, standing_since};
use model::{TicketId, Time};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::App;
use crate::cell::{Cell, Column, Row, Table, put, room};
use crate::choose::first;
use crate::pane::Pane;
use crate::queue::symbol_and_tone;
use crate::theme::Tone;

pub(super) const fn column(name: &'static str, drop_order: u8) -> Column {
    Column {
        name,
        right: false,
        drop_order,
    }
}

pub(super) const fn figure(name: &'static str, drop_order: u8) -> Column {
    Column {
        name,
        right: true,
        drop_order,
    }
}

/// The visible rows of a list: the position of the first one, and their number.
fn window(at: usize, count: usize, area: Rect) -> (usize, usize) {
    let lines = room(area);
    (first(at, count, lines), lines)
}

/// The numbers of rows above and below those of a window.
pub(super) fn beside((from, lines): (usize, usize), count: usize) -> (usize, usize) {
    (from, count.saturating_sub(from.saturating_add(lines)))
}

/// The numbers of rows that have no room, above and below the visible ones.
pub(super) fn hidden(app: &App, pane: Pane, area: Rect) -> (usize, usize) {
    let (at, count, area) = match pane {
        Pane::Agents => (app.agent.at(), app.agents.len(), area),
        Pane::Queue => (app.in_queue.at(), app.queue.len(), area),
        Pane::Train => (app.in_train.at(), app.train.len(), below_target(app, area)),
        Pane::Inbox | Pane::Output | Pane::History | Pane::Cost | Pane::Diff => return (0, 0),
    };
    beside(window(at, count, area), count)
}

/// Draws the text of an empty list.
pub(super) fn empty(app: &App, buffer: &mut Buffer, area: Rect, says: &str) {
    let says = if app.filter.is_empty() {
        says
    } else {
        "nothing here matches the filter: Esc shows all"
    };
    for (line, y) in super::wrap::wrap(says, usize::from(area.width))
        .iter()
        .zip(area.top()..area.bottom())
    {
        put(
            buffer,
            Rect { y, height: 1, ..area },
            0,
            line,
            app.theme,
            Tone::Dim,
        );
    }
}

pub(super) fn ago(app: &App, since: Option<Time>) -> Cell {
    since
        .map(|since| view::span(app.now.since(since)).into())
        .unwrap_or_default()
}

/// Draws the agents.
pub(super) fn agents(app: &App, buffer: &mut Buffer, area: Rect) {
    if app.agents.is_empty() {
        let says = "no agents yet: `crew run` spawns them as there is work, n adds one";
        return empty(app, buffer, area, says);
    }
    let columns = [
        column("", 0),
        column("AGENT", 0),
        column("STATE", 0),
        figure("FOR", 3),
        column("TICKET", 0),
        figure("STEP", 4),
        figure("TOKENS", 6),
        figure("COST", 5),
    ];
    let (from, lines) = window(app.agent.at(), app.agents.len(), area);
    let shown = app.agents.iter().enumerate().skip(from).take(lines);
    let rows = shown
        .map(|(at, agent)| self::agent(app, agent, at == app.agent.at()))
        .collect();
    let table = Table {
        columns: &columns,
        last: "WHAT",
        rows,
        focused: app.focus == Pane::Agents,
    };
    table.draw(buffer, area, app.theme);
}

/// What an agent at work is at: what runs in its step, and its task.
fn at_work(app: &App, agent: &Agent) -> String {
    let title = agent.title.as_deref().unwrap_or_default();
    let activity = app.activities.get(&agent.name).filter(|_| agent.running);
    let Some(activity) = activity else {
        return title.to_owned();
    };
    let time = activity.since.map(|since| view::span(app.now.since(since)));
    let time = time.map(|time| format!(" for {time}")).unwrap_or_default();
    format!("{}{time}: {title}", activity.says)
}

fn agent(app: &App, agent: &Agent, chosen: bool) -> Row {
    let status = agent.status_at(app.look());
    let tone = Tone::of(status);
    let usage = agent.usage;
    let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
    let some = |is: bool, text: String| if is { Cell::from(text) } else { Cell::default() };
    let ticket = agent.ticket.as_ref().map_or("", TicketId::as_str);
    let depth = agent.ticket.as_ref().map_or(0, |id| depth(app, id));
    let name = Cell::in_tree(depth, agent.name.as_str());
    let waits = agent.waiting(app.look()).map(|waits| (app.in_words)(&waits));
    let what = match (status, waits) {
        (Status::Idle, _) => last_work(app, agent),
        (_, Some(waits)) => {
            let tone = if status == Status::Waiting || agent.quiet.is_some() {
                Tone::Waiting
            } else {
                Tone::Dim
            };
            Cell::new(&waits, tone)
        }
        (_, None) => at_work(app, agent).into(),
    };
    Row {
        cells: vec![
            Cell::new(status.symbol(), tone),
            name,
            Cell::new(&agent.in_mode(status), tone),
            ago(app, agent.since),
            ticket.into(),
            some(agent.step > 0, agent.step.to_string()),
            some(tokens > 0, view::tokens(tokens)),
            view::cost(usage).into(),
        ],
        last: vec![what],
        chosen,
        below: Vec::new(),
    }
}

/// How deep in a tree of children a ticket stands.
fn depth(app: &App, id: &TicketId) -> usize {
    app.ticket(id).map_or(0, |ticket| ticket.depth() as usize)
}

/// The last work of an idle agent: its summary, else the title of the ticket.
fn last_work(app: &App, agent: &Agent) -> Cell {
    let mut landed = app.crew.landed.iter().rev();
    match landed.find(|landed| landed.agent.as_ref() == Some(&agent.name)) {
        Some(landed) => {
            let ago = view::span(app.now.since(landed.at));
            let what = app.summary(&landed.ticket).unwrap_or(&landed.title);
            Cell::new(&format!("landed {} {ago} ago: {what}", landed.ticket), Tone::Dim)
        }
        None => Cell::default(),
    }
}

/// Draws the queue.
pub(super) fn queue(app: &App, buffer: &mut Buffer, area: Rect) {
    if app.queue.is_empty() {
        return empty(
            app,
            buffer,
            area,
            "the queue is empty: `crew ticket create <title>` adds to it",
        );
    }
    let columns = [
        column("", 0),
        column("TICKET", 0),
        column("P", 5),
        column("STATE", 0),
        column("AGENT", 2),
        figure("FOR", 4),
    ];
    let (from, lines) = window(app.in_queue.at(), app.queue.len(), area);
    let shown = app.queue.iter().enumerate().skip(from).take(lines);
    let rows = shown.filter_map(|(place, id)| {
        let priority = format!("P{}", app.ticket(id)?.spec.priority);
        let cells = |symbol, state, agent, since| {
            let name = Cell::in_tree(depth(app, id), id.as_str());
            vec![symbol, name, priority.into(), state, agent, since]
        };
        // The reason why a held ticket waits matters more than its title.
        let is_held = app.ticket(id)?.held.is_some();
        ticket(app, id, (place == app.in_queue.at(), is_held), cells)
    });
    let table = Table {
        columns: &columns,
        last: "TITLE",
        rows: rows.collect(),
        focused: app.focus == Pane::Queue,
    };
    table.draw(buffer, area, app.theme);
}

/// The column in which the text about the target begins, behind its symbol.
const INDENT: usize = 2;

/// The checks of the bare target in lines; none where there is nothing to say about them.
fn target_lines(app: &App, area: Rect) -> Vec<String> {
    let Some(says) = app.crew.target_checks(app.look(), None) else {
        return Vec::new();
    };
    let columns = usize::from(area.width).saturating_sub(INDENT);
    // The train keeps most of the area.
    let most = usize::from(area.height.div_ceil(3));
    super::wrap::at_most(&text::sanitise::line(&(app.in_words)(&says)), columns, most)
}

/// The area below the target's lines.
fn below_target(app: &App, area: Rect) -> Rect {
    let lines = target_lines(app, area).len();
    let y = area.y.saturating_add(u16::try_from(lines).unwrap_or(u16::MAX));
    Rect {
        y,
        height: area.bottom().saturating_sub(y),
        ..area
    }
}

/// Draws the checks of the bare target at the top, and returns the rest of the area.
fn target(app: &App, buffer: &mut Buffer, area: Rect) -> Rect {
    let lines = target_lines(app, area);
    let target = app.crew.project.target.as_deref();
    let Some(target) = target.filter(|_| !lines.is_empty()) else {
        return area;
    };
    let (symbol, tone) = match &target.verdict {
        Verdict::Checking { .. } => ("◐", Tone::Moving),
        Verdict::Passed => ("✓", Tone::Good),
        Verdict::Unchecked => ("·", Tone::Waiting),
        Verdict::Failed { .. }
        | Verdict::Blind { .. }
        | Verdict::CouldNotRun { .. }
        | Verdict::OutOfReach { .. } => ("!", Tone::Wrong),
    };
    put(buffer, area, 0, symbol, app.theme, tone);
    for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
        let row = Rect { y, height: 1, ..area };
        put(buffer, row, INDENT, line, app.theme, tone);
    }
    below_target(app, area)
}

/// Draws the train, below the target that it is for.
pub(super) fn train(app: &App, buffer: &mut Buffer, area: Rect) {
    let area = target(app, buffer, area);
    if app.train.is_empty() {
        return empty(app, buffer, area, "nothing is submitted");
    }
    let columns = [
        column("", 0),
        figure("#", 0),
        column("TICKET", 0),
        column("STATE", 0),
        column("ON", 6),
        column("AGENT", 5),
        figure("FOR", 4),
    ];
    let entries = view::train(&app.crew, app.look());
    let (from, lines) = window(app.in_train.at(), app.train.len(), area);
    let shown = app.train.iter().enumerate().skip(from).take(lines);
    let rows = shown.filter_map(|(place, id)| {
        let entry = entries.iter().find(|entry| entry.ticket == *id);
        let (nth, on) = entry.map(place_in_train).unwrap_or_default();
        let cells = |symbol, state, agent, since| {
            let id = id.as_str().into();
            vec![symbol, nth.into(), id, state, on.into(), agent, since]
        };
        ticket(app, id, (Some(place) == app.in_train.row(), true), cells)
    });
    let table = Table {
        columns: &columns,
        last: "TITLE",
        rows: rows.collect(),
        focused: app.focus == Pane::Train,
    };
    table.draw(buffer, area, app.theme);
}

/// The place of an entry, and the entry that it is merged on; both empty while it waits for a place.
fn place_in_train(entry: &TrainEntry) -> (String, String) {
    let Some(place) = entry.place else {
        return (String::new(), String::new());
    };
    let on = entry.ahead.as_ref().map_or("target", TicketId::as_str);
    (place.to_string(), on.to_owned())
}

/// The row of a ticket. `why_first`: whether its reason stands before its title. `cells` puts its columns in
/// order: symbol, state, agent, time.
fn ticket(
    app: &App,
    id: &TicketId,
    (chosen, why_first): (bool, bool),
    cells: impl FnOnce(Cell, Cell, Cell, Cell) -> Vec<Cell>,
) -> Option<Row> {
    let ticket = app.ticket(id)?;
    let standing = app.standing(ticket);
    let (symbol, tone) = symbol_and_tone(standing.sign);
    let agent = ticket
        .attempt()
        .map_or("", |attempt| attempt.claim.agent.as_str());
    // Nobody knows since when a ticket waits that no engine has seen.
    let is_seen = !app.files.unseen.contains_key(id);
    let mut last = Vec::new();
    let why = standing.why.as_deref().unwrap_or_default();
    let title = Cell::new(
        &ticket.spec.title,
        if ticket.is_done() { Tone::Dim } else { Tone::Plain },
    );
    let why = Cell::new(why, Tone::Dim);
    if why_first {
        last.extend([why, title]);
    } else {
        last.extend([title, why]);
    }
    Some(Row {
        cells: cells(
            Cell::new(symbol, tone),
            Cell::new(standing.word, tone),
            agent.into(),
            ago(app, standing_since(ticket).filter(|_| is_seen)),
        ),
        last,
        chosen,
        below: Vec::new(),
    })
}
