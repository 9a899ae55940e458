//! Colours; and what stands for them where there are none.

use model::view::Status;
use ratatui::style::{Color, Modifier, Style};

/// What a piece of text means, for its looks. Symbols and words say it too: looks are never alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// Beside the point.
    Dim,
    /// A heading, or at work.
    Bold,
    /// Good.
    Good,
    /// Waiting.
    Waiting,
    /// Wrong.
    Wrong,
    /// On its way.
    Moving,
}

impl Tone {
    /// A status's.
    pub(crate) fn of(status: Status) -> Self {
        match status {
            Status::Idle => Self::Dim,
            Status::Preparing | Status::Ready | Status::Verifying => Self::Moving,
            Status::Working => Self::Bold,
            Status::Waiting => Self::Waiting,
            Status::Done => Self::Good,
            Status::Stuck => Self::Wrong,
        }
    }
}

/// The looks of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    /// Whether there are colours.
    pub(crate) colour: bool,
}

impl Theme {
    /// A tone's looks.
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
        }
    }

    /// The looks of the chosen row, over those of its text.
    pub(crate) fn chosen(self, focused: bool) -> Style {
        if focused {
            Style::new().add_modifier(Modifier::REVERSED)
        } else {
            Style::new().add_modifier(Modifier::BOLD)
        }
    }

    /// The looks of a pane's frame.
    pub(crate) fn frame(self, focused: bool) -> Style {
        if focused {
            self.of(Tone::Moving)
        } else {
            self.of(Tone::Dim)
        }
    }
}
