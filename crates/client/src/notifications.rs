//! Notifications: where a notifier keeps what it has told, and what it says of the programs that fail.

use std::path::{Path, PathBuf};

use model::Time;
use runtime::Place;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock;

/// The file below a notifier's folder that says what fails.
const FILE: &str = "health.json";

/// The folder of the notifier of this person and repository; none where neither `XDG_STATE_HOME` nor `HOME`
/// says where it may be.
#[must_use]
pub fn folder(place: &Place) -> Option<PathBuf> {
    let set = |name: &str| place.env.get(name).filter(|value| value.starts_with('/'));
    let state = set("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.or_else(|| Some(Path::new(set("HOME")?).join(".local/state")))?;
    // Folders of one name are told apart.
    let of_path = Uuid::new_v5(&Uuid::NAMESPACE_URL, place.root.as_os_str().as_encoded_bytes());
    let digest: String = of_path.simple().to_string().chars().take(12).collect();
    let name = place.root.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
                c
            } else {
                '_'
            }
        })
        .take(60)
        .collect();
    Some(state.join("crew/notify").join(format!("{name}-{digest}")))
}

/// The health of a notifier, as it was written last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Health {
    /// The fault of its settings file, in a line; none where it can be used.
    pub settings: Option<String>,
    /// The programs that fail now.
    pub failing: Vec<FailingProgram>,
}

/// A program that did not take a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailingProgram {
    /// Its name, as the settings file has it.
    pub program: String,
    /// The last failure, in a line.
    pub why: String,
    /// The time of the first failure, in milliseconds since the epoch.
    pub since_ms: i64,
    /// The failures since then.
    pub tries: u32,
    /// The messages that wait for it.
    pub waiting: usize,
}

impl Health {
    /// The health that the notifier of a repository has written; none where no notifier ran, or it is well.
    #[must_use]
    pub fn of(place: &Place) -> Option<Self> {
        let text = std::fs::read_to_string(folder(place)?.join(FILE)).ok()?;
        let health: Self = serde_json::from_str(&text).ok()?;
        (health != Self::default()).then_some(health)
    }

    /// The file that it is written to.
    #[must_use]
    pub fn file(folder: &Path) -> PathBuf {
        folder.join(FILE)
    }

    /// Each fault in a sentence, with its remedy.
    #[must_use]
    pub fn words(&self) -> Vec<(String, String)> {
        let settings = self.settings.iter().map(|why| {
            (
                format!("nobody is notified: {}", text::sanitise::line(why)),
                "mend the file; `crew notify --test` says whether it can be used".to_owned(),
            )
        });
        let failing = self.failing.iter().map(|failing| {
            let since = clock::local_date_time(Time(failing.since_ms));
            let waiting = match failing.waiting {
                1 => "1 message waits".to_owned(),
                many => format!("{many} messages wait"),
            };
            let says = format!(
                "notifications by `{}` fail since {since}, {} so far: {}; {waiting} for it",
                text::sanitise::line(&failing.program),
                text::counted(failing.tries, "time"),
                text::sanitise::line(&failing.why),
            );
            let hint = "mend the program, or its line in notify.toml; `crew notify --test` tries it";
            (says, hint.to_owned())
        });
        settings.chain(failing).collect()
    }
}
