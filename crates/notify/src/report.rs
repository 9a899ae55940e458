//! Reports: what a notifier did, for whoever runs it.

use model::Time;

/// What a notifier did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// It holds the lock, and follows the inbox.
    Begins {
        /// The programs by which it tells.
        programs: Vec<String>,
    },
    /// A program has taken a message.
    Told {
        /// The program's name.
        program: String,
        /// The message's id.
        id: String,
        /// The message's title.
        title: String,
    },
    /// A program has not taken a message.
    Failed {
        /// The program's name.
        program: String,
        /// The message's id.
        id: String,
        /// The message's title.
        title: String,
        /// The failure, in a line.
        why: String,
        /// How often it has failed in a row.
        tries: u32,
        /// The time of the next try; none where the message is given up.
        next: Option<Time>,
    },
    /// Something is wrong that is no program's: a sentence, and what to do.
    Warning {
        /// The fault.
        what: String,
        /// The remedy.
        hint: Option<String>,
    },
}

impl Report {
    /// A warning of an error.
    pub(crate) fn of(error: &client::Error) -> Self {
        let what = match error {
            client::Error::Settings { file, diagnostics } => match diagnostics.first() {
                Some(first) => first.to_string(),
                None => format!("{} cannot be used", file.display()),
            },
            other => text::with_causes(other),
        };
        Self::Warning {
            what,
            hint: error.hint(),
        }
    }

    /// It in a line or two.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Begins { programs } => format!("notifies by {}", programs.join(", ")),
            Self::Told { program, title, .. } => format!("{program} was told: {title}"),
            Self::Failed {
                program,
                title,
                why,
                tries,
                next,
                ..
            } => {
                let then = match next {
                    Some(next) => format!(
                        "{} so far; next try at {}",
                        text::counted(*tries, "failure"),
                        client::clock::local(*next)
                    ),
                    None => "given up after a day".to_owned(),
                };
                format!("{program} failed: {why}\n  not told: {title} ({then})")
            }
            Self::Warning { what, hint } => match hint {
                Some(hint) => format!("{what}\n  {hint}"),
                None => what.clone(),
            },
        }
    }
}
