//! The layout of the panes, which depends on the size of the terminal.

use ratatui::layout::{Constraint, Layout, Rect};

use crate::pane::Pane;

/// The least number of columns at which lists and details stand side by side.
const WIDE: u16 = 140;
/// The least number of columns at which several panes are shown, with frames.
const NARROW: u16 = 70;
/// The least number of lines at which several panes are shown, with frames.
const LOW: u16 = 16;

/// The facts that the layout depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) focus: Pane,
    /// The one of train and inbox that is shown when there is room for one.
    pub(crate) side: Pane,
    /// The one of output, history and cost that is shown when there is room for one.
    pub(crate) detail: Pane,
    pub(crate) zoomed: bool,
    /// Whether a pause must be shown.
    pub(crate) has_pause: bool,
    /// The number of agents.
    pub(crate) agents: usize,
}

/// The layout of a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) head: Rect,
    /// The line with the reason why no step is started.
    pub(crate) pause: Rect,
    /// The visible panes, each with its area, including the frame.
    pub(crate) panes: Vec<(Pane, Rect)>,
    /// Whether panes have frames; otherwise a line with their title.
    pub(crate) framed: bool,
    /// The status line.
    pub(crate) status: Rect,
    /// The line with the keys.
    pub(crate) keys: Rect,
}

impl Plan {
    /// The layout of an area.
    pub(crate) fn of(area: Rect, wanted: Wanted) -> Self {
        let keys_height = u16::from(area.height >= 4);
        let [head, pause, body, status, keys] = Layout::vertical([
            Constraint::Length(u16::from(area.height >= 2)),
            Constraint::Length(u16::from(wanted.has_pause && area.height >= 6)),
            Constraint::Min(0),
            Constraint::Length(u16::from(area.height >= 3)),
            Constraint::Length(keys_height),
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
            pause,
            panes,
            framed: !one,
            status,
            keys,
        }
    }

    /// The area of a pane without its frame or title.
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

    /// The area of a pane's content, if the pane is visible.
    pub(crate) fn content(&self, pane: Pane) -> Option<Rect> {
        let found = self.panes.iter().find(|(shown, _)| *shown == pane);
        found.map(|(_, area)| self.inner(*area))
    }
}

/// The layout with agents at the top, queue and train or inbox in the middle, details at the bottom.
fn stacked(body: Rect, wanted: Wanted) -> Vec<(Pane, Rect)> {
    let agents = u16::try_from(wanted.agents).unwrap_or(u16::MAX).saturating_add(3);
    let most = (body.height / 3).max(4);
    let [top, rest] =
        Layout::vertical([Constraint::Length(agents.clamp(4, most)), Constraint::Min(0)]).areas(body);
    // The focused inbox has reasons and advice to be read.
    let (high, broad) = match wanted.focus {
        Pane::Inbox => (62, 62),
        Pane::Agents | Pane::Queue | Pane::Train | Pane::Output | Pane::History | Pane::Cost | Pane::Diff => {
            (48, 45)
        }
    };
    let [middle, bottom] = Layout::vertical([Constraint::Percentage(high), Constraint::Min(0)]).areas(rest);
    let [left, right] = Layout::horizontal([Constraint::Min(0), Constraint::Percentage(broad)]).areas(middle);
    vec![
        (Pane::Agents, top),
        (Pane::Queue, left),
        (wanted.side, right),
        (wanted.detail, bottom),
    ]
}

/// The layout with lists on the left and details on the right.
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
    let (inbox, below) = match wanted.focus {
        Pane::Inbox => (45, 25),
        Pane::Agents | Pane::Queue | Pane::Train | Pane::Output | Pane::History | Pane::Cost | Pane::Diff => {
            (22, 34)
        }
    };
    let [inbox, output, below] = Layout::vertical([
        Constraint::Percentage(inbox),
        Constraint::Min(5),
        Constraint::Percentage(below),
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
