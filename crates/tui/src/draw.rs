//! Drawing the state: a function of the state alone.

mod details;
mod diff;
mod front;
mod inbox;
mod lists;
mod wrap;

use model::view::{self, Counts};
use model::{RunId, project};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, BorderType, Clear, Widget as _};

use crate::app::App;
use crate::cell::put;
use crate::keys::{diff_word, key_words, keys_of};
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
            framed(app, buffer, *pane, *place);
        } else {
            titled(app, buffer, *pane, *place);
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
    let count = |shown: usize, what: &str| match shown {
        0 => String::new(),
        shown => format!(" {shown}{what}"),
    };
    let about = match pane {
        Pane::Agents => count(app.agents.len(), ""),
        Pane::Queue => {
            let open = app
                .queue
                .iter()
                .filter(|id| app.ticket(id).is_some_and(|ticket| !ticket.is_done()));
            count(open.count(), " open")
        }
        Pane::Train => count(app.train.len(), ""),
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

fn framed(app: &App, buffer: &mut Buffer, pane: Pane, area: Rect) {
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
    let room = usize::from(area.width).saturating_sub(4);
    let text = text::sanitise::fit(&title(app, pane), room);
    let line = Rect {
        height: area.height.min(1),
        ..area
    };
    let tone = if focused { Tone::Bold } else { Tone::Plain };
    if room > 0 {
        put(buffer, line, 2, &format!(" {text} "), app.theme, tone);
    }
}

fn titled(app: &App, buffer: &mut Buffer, pane: Pane, area: Rect) {
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
    let (over, total) = (counts.landed + counts.ended, counts.total());
    let mut usage = model::attempt::Usage::default();
    app.crew
        .members
        .values()
        .for_each(|member| usage.add(member.usage));
    let mut figures = vec![format!("{over}/{total} done")];
    figures.extend(words(&counts));
    figures.extend(Some(view::cost(app.by_agent.total.usage)).filter(|cost| !cost.is_empty()));
    put(buffer, area, x, &figures.join(" · "), theme, Tone::Plain);
}

fn words(counts: &Counts) -> Vec<String> {
    let all = [
        (counts.held, "held"),
        (counts.in_progress, "at work"),
        (counts.verifying, "in train"),
        (counts.open, "open"),
    ];
    let some = all.iter().filter(|(n, _)| *n > 0);
    some.map(|(n, what)| format!("{n} {what}")).collect()
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
        let filter = format!("/{} ({})", app.filter, app.queue.len());
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
    if x + unicode_width::UnicodeWidthStr::width(text) <= columns {
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
    let acts = match app.focus {
        Pane::Agents => {
            let works = app
                .chosen_agent()
                .and_then(|name| app.crew.agent(name))
                .is_some_and(|agent| agent.ticket.is_some());
            let acts = match (app.agents.is_empty(), works) {
                (true, _) => "",
                (false, true) => "W wake  K kill  ",
                (false, false) => "s assign  ",
            };
            format!("{}{acts}n spawn  / filter", diff_word(app))
        }
        Pane::Queue | Pane::Train => {
            let acts = app.chosen_ticket().and_then(|id| app.ticket(id));
            let acts = acts.map(|ticket| keys_of(app, ticket)).unwrap_or_default();
            format!("{}{acts}  / filter", diff_word(app))
                .trim_start()
                .to_owned()
        }
        Pane::Inbox => {
            let acts = app.chosen_item().map(key_words).unwrap_or_default();
            format!("{}{acts}", diff_word(app))
        }
        Pane::Output if app.log.unfolded => "↑↓ scroll  [ ] other runs  f fold results".to_owned(),
        Pane::Output => "↑↓ scroll  [ ] other runs  f unfold results".to_owned(),
        Pane::History => "↑↓ scroll  G end".to_owned(),
        Pane::Cost => "↑↓ scroll".to_owned(),
        Pane::Diff => {
            let acts = app.chosen_ticket().and_then(|id| app.ticket(id));
            let acts = acts.map(|ticket| keys_of(app, ticket)).unwrap_or_default();
            format!("↑↓ scroll  d read again  {acts}")
        }
    };
    let engine = if app.engine.is_none() { "R run  " } else { "" };
    let text = match app.focus {
        Pane::Diff => format!("? help  q back  {acts}"),
        Pane::Agents
        | Pane::Queue
        | Pane::Train
        | Pane::Inbox
        | Pane::Output
        | Pane::History
        | Pane::Cost => format!("? help  q quit  Tab pane  Enter zoom  {engine}{acts}"),
    };
    put(buffer, area, 0, &text, app.theme, Tone::Dim);
}
