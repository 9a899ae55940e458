//! Colours, and their replacement on terminals without colours.

use model::view::Status;
use ratatui::style::{Color, Modifier, Style};

/// The meaning of a text, which decides its style. The style is never the only sign: symbols and words show
/// the meaning too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Normal text.
    #[default]
    Plain,
    /// Less important text.
    Dim,
    /// A heading, or work in progress.
    Bold,
    /// A success.
    Good,
    /// Something that waits.
    Waiting,
    /// An error.
    Wrong,
    /// A transition.
    Moving,
    /// A line that a change takes away.
    Removed,
    /// Blanks that must be seen.
    Blanks,
}

impl Tone {
    /// The tone of an agent's status.
    pub(crate) fn of(status: Status) -> Self {
        match status {
            Status::Idle => Self::Dim,
            Status::Preparing | Status::Ready | Status::Verifying | Status::Reviewing => Self::Moving,
            Status::Working => Self::Bold,
            Status::Waiting => Self::Waiting,
            Status::Done => Self::Good,
            Status::Stuck => Self::Wrong,
        }
    }
}

/// The theme: the style of everything that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    /// Whether there are colours.
    pub(crate) colour: bool,
}

impl Theme {
    /// The style of a tone.
    pub(crate) fn of(self, tone: Tone) -> Style {
        let plain = Style::new();
        let coloured = |colour| if self.colour { plain.fg(colour) } else { plain };
        match tone {
            Tone::Plain => plain,
            Tone::Dim if self.colour => plain.fg(Color::DarkGray),
            Tone::Dim => plain.add_modifier(Modifier::DIM),
            Tone::Bold => plain.add_modifier(Modifier::BOLD),
            Tone::Good => coloured(Color::Green),
            Tone::Waiting => coloured(Color::Yellow),
            Tone::Wrong => coloured(Color::Red).add_modifier(Modifier::BOLD),
            Tone::Moving => coloured(Color::Cyan),
            Tone::Removed => coloured(Color::Red),
            Tone::Blanks if self.colour => plain.bg(Color::Red),
            Tone::Blanks => plain.add_modifier(Modifier::REVERSED),
        }
    }

    /// The style of the chosen row, applied over that of its text.
    pub(crate) fn chosen(self, focused: bool) -> Style {
        if focused {
            Style::new().add_modifier(Modifier::REVERSED)
        } else {
            Style::new().add_modifier(Modifier::BOLD)
        }
    }

    /// The style of a pane's frame.
    pub(crate) fn frame(self, focused: bool) -> Style {
        if focused {
            self.of(Tone::Moving)
        } else {
            self.of(Tone::Dim)
        }
    }
}
