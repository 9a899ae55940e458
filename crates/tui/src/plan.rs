//! Which pane stands where, by the terminal's size.

use ratatui::layout::{Constraint, Layout, Rect};

use crate::pane::Pane;

/// From so many columns on, panes stand side by side.
const WIDE: u16 = 140;
/// Below these, one pane is shown at a time, without a frame.
const NARROW: u16 = 70;
const LOW: u16 = 16;

/// What is known when the screen is divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) focus: Pane,
    /// Of train and inbox, the one that is shown where there is room for one.
    pub(crate) side: Pane,
    /// Of output, history and cost, the same.
    pub(crate) detail: Pane,
    pub(crate) zoomed: bool,
    /// Whether a harness is paused.
    pub(crate) bar: bool,
    /// How many agents there are.
    pub(crate) agents: usize,
}

/// The screen, divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) head: Rect,
    /// Why nothing moves on a harness.
    pub(crate) bar: Rect,
    /// The panes that are shown, each with its area, frame included.
    pub(crate) panes: Vec<(Pane, Rect)>,
    /// Whether panes have frames; else they have a line with their name.
    pub(crate) framed: bool,
    /// What was said last.
    pub(crate) status: Rect,
    /// What can be pressed.
    pub(crate) keys: Rect,
}

impl Plan {
    /// For an area.
    pub(crate) fn of(area: Rect, wanted: Wanted) -> Self {
        let bars = u16::from(area.height >= 4);
        let [head, bar, body, status, keys] = Layout::vertical([
            Constraint::Length(u16::from(area.height >= 2)),
            Constraint::Length(u16::from(wanted.bar && area.height >= 6)),
            Constraint::Min(0),
            Constraint::Length(u16::from(area.height >= 3)),
            Constraint::Length(bars),
        ])
        .areas(area);
        let one = area.width < NARROW || area.height < LOW;
        let panes = if one || wanted.zoomed {
            vec![(wanted.focus, body)]
        } else if area.width >= WIDE {
            wide(body, wanted)
        } else {
            stacked(body, wanted)
        };
        Self {
            head,
            bar,
            panes,
            framed: !one,
            status,
            keys,
        }
    }

    /// What a pane's content has: its area without the frame.
    pub(crate) fn inner(&self, area: Rect) -> Rect {
        if self.framed {
            Rect {
                x: area.x.saturating_add(1),
                y: area.y.saturating_add(1),
                width: area.width.saturating_sub(2),
                height: area.height.saturating_sub(2),
            }
        } else {
            Rect {
                y: area.y.saturating_add(1),
                height: area.height.saturating_sub(1),
                ..area
            }
        }
    }

    /// A pane's content, if it is shown.
    pub(crate) fn content(&self, pane: Pane) -> Option<Rect> {
        let found = self.panes.iter().find(|(shown, _)| *shown == pane);
        found.map(|(_, area)| self.inner(*area))
    }
}

/// Agents above, queue beside train or inbox, details below.
fn stacked(body: Rect, wanted: Wanted) -> Vec<(Pane, Rect)> {
    let agents = u16::try_from(wanted.agents).unwrap_or(u16::MAX).saturating_add(3);
    let most = (body.height / 3).max(4);
    let [top, rest] =
        Layout::vertical([Constraint::Length(agents.clamp(4, most)), Constraint::Min(0)]).areas(body);
    let [middle, bottom] =
        Layout::vertical([Constraint::Percentage(48), Constraint::Percentage(52)]).areas(rest);
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(55), Constraint::Percentage(45)]).areas(middle);
    vec![
        (Pane::Agents, top),
        (Pane::Queue, left),
        (wanted.side, right),
        (wanted.detail, bottom),
    ]
}

/// Lists on the left, what they are about on the right.
fn wide(body: Rect, wanted: Wanted) -> Vec<(Pane, Rect)> {
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(body);
    let agents = u16::try_from(wanted.agents).unwrap_or(u16::MAX).saturating_add(3);
    let most = (body.height / 3).max(4);
    let [agents, queue, train] = Layout::vertical([
        Constraint::Length(agents.clamp(4, most)),
        Constraint::Min(5),
        Constraint::Percentage(20),
    ])
    .areas(left);
    let [inbox, output, below] = Layout::vertical([
        Constraint::Percentage(22),
        Constraint::Min(5),
        Constraint::Percentage(34),
    ])
    .areas(right);
    let below_is = if wanted.detail == Pane::Cost {
        Pane::Cost
    } else {
        Pane::History
    };
    vec![
        (Pane::Agents, agents),
        (Pane::Queue, queue),
        (Pane::Train, train),
        (Pane::Inbox, inbox),
        (Pane::Output, output),
        (below_is, below),
    ]
}
