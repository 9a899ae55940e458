//! `notify.toml`: whom to tell what, by which program. It is a person's, and no repository's.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use client::{Error, Place};
use model::settings::Diagnostic;
use model::view::{Item, Kind, Urgency};
use sha2::{Digest as _, Sha256};

use crate::program::PLACEHOLDERS;
use crate::reader::{Reader, Table};

/// Its place below the folder of a person's settings.
const FILE: &str = "crew/notify.toml";
/// The largest file that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Anybody may write.
const OTHERS_WRITE: u32 = 0o002;
/// The keys of the file, and of a `[[to]]`.
const KEYS: [&str; 2] = ["url", "to"];
const KEYS_OF_TO: [&str; 9] = [
    "kinds", "after", "command", "stdin", "settled", "brief", "digest", "quiet", "pass_env",
];
/// The address of a page that is served as `crew web` does unless told otherwise.
pub(crate) const PAGE: &str = "http://127.0.0.1:7627";
/// The wait of an item before anybody is told, where `after` says no other.
const AFTER: Duration = Duration::from_secs(5);
/// The shortest time between two digests.
const SHORTEST_DIGEST: Duration = Duration::from_secs(60);

/// The settings of a notifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address that links begin with, without a `/` at its end; none for that of a page on this machine.
    pub url: Option<String>,
    /// The ways of telling: at least one.
    pub to: Vec<To>,
}

/// A way of telling: what is told, and by which program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct To {
    /// The name under which the notifier keeps what this one was told: it is another one once the command or
    /// the kinds change.
    pub key: String,
    /// Urgencies and kinds of items, by their names.
    pub kinds: BTreeSet<String>,
    /// How long an item has waited before it is told.
    pub after: Duration,
    /// The program and its arguments, with placeholders.
    pub command: Vec<String>,
    /// What the program reads.
    pub stdin: Stdin,
    /// Whether it is told too that an item is settled.
    pub settled: bool,
    /// Whether it gets nothing but crew's own sentence and the link.
    pub brief: bool,
    /// The time between two messages about items that lie until somebody has time; none: each has its own.
    pub digest: Option<Duration>,
    /// The hours at which it is told only what holds everyone up.
    pub quiet: Option<Quiet>,
    /// Variables of the notifier's environment that the program gets beside the usual ones.
    pub pass_env: Vec<String>,
}

/// What a program reads on its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// The message with its items, as one JSON document.
    Json,
    /// The body and the link.
    Body,
    /// The message as a mail, with its headers.
    Mail,
}

/// The hours of a day at which nobody is told what can wait: minutes since midnight, local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiet {
    from: u16,
    until: u16,
}

impl Quiet {
    /// Whether it is quiet at this minute of the day.
    #[must_use]
    pub fn is_at(self, minute: u16) -> bool {
        if self.from <= self.until {
            (self.from..self.until).contains(&minute)
        } else {
            minute >= self.from || minute < self.until
        }
    }

    /// `22:00-07:00`.
    fn parse(text: &str) -> Option<Self> {
        let minute = |text: &str| {
            let (hour, minute) = text.trim().split_once(':')?;
            let is_number = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            if !is_number(hour) || !is_number(minute) {
                return None;
            }
            let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
            (hour < 24 && minute < 60).then_some(hour * 60 + minute)
        };
        let (from, until) = text.split_once('-')?;
        let (from, until) = (minute(from)?, minute(until)?);
        (from != until).then_some(Self { from, until })
    }
}

impl To {
    /// Whether an item is told this way.
    #[must_use]
    pub fn wants(&self, item: &Item) -> bool {
        self.kinds.contains(urgency(item.urgency)) || self.kinds.contains(item.kind.name())
    }

    /// The program's name.
    #[must_use]
    pub fn program(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }
}

/// The name of an urgency.
pub(crate) fn urgency(urgency: Urgency) -> &'static str {
    match urgency {
        Urgency::Everyone => "everyone",
        Urgency::Word => "word",
        Urgency::Parked => "parked",
    }
}

/// All names that `kinds` may have.
fn kinds() -> BTreeSet<&'static str> {
    let urgencies = [Urgency::Everyone, Urgency::Word, Urgency::Parked].map(urgency);
    Kind::names().chain(urgencies).collect()
}

/// The file of a person's settings; none where neither `XDG_CONFIG_HOME` nor `HOME` says where it may be.
#[must_use]
pub fn path(place: &Place) -> Option<PathBuf> {
    let set = |name: &str| place.env.get(name).filter(|value| value.starts_with('/'));
    let folder = set("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(Path::new(set("HOME")?).join(".config")))?;
    Some(folder.join(FILE))
}

/// A file to begin with, after its heading.
const EXAMPLE: &str = r#"command = ["notify-send", "--app-name=crew", "{title}", "{body}"]"#;

impl Settings {
    /// The settings of a person.
    ///
    /// # Errors
    /// [`Error::Refused`] where there is no file, with one to begin with, and where others can write it;
    /// [`Error::Settings`] with everything that is wrong with it.
    pub fn read(place: &Place) -> client::Result<Self> {
        let Some(path) = path(place) else {
            return Err(Error::refused(
                "neither HOME nor XDG_CONFIG_HOME is set, so nobody knows where notify.toml is",
                "set HOME",
            ));
        };
        match Self::read_file(&path)? {
            Some(settings) => Ok(settings),
            None => Err(Error::refused(
                format!(
                    "there is no {}, so nobody knows whom to tell, and how",
                    path.display()
                ),
                format!("write this into it, then try `crew notify --test`:\n[[to]]\n{EXAMPLE}"),
            )),
        }
    }

    /// The settings in a file; none where there is no file.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn read_file(path: &Path) -> client::Result<Option<Self>> {
        let cannot = |source| Error::Io {
            doing: "read",
            path: path.to_owned(),
            source,
        };
        let meta = match path.metadata() {
            Ok(meta) => meta,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(cannot(error)),
        };
        let me = rustix::process::geteuid().as_raw();
        let refused =
            |what: &str, hint: String| Err(Error::refused(format!("{} {what}", path.display()), hint));
        if !meta.is_file() {
            return refused("is no file", "put a file there".to_owned());
        }
        if meta.mode() & OTHERS_WRITE != 0 {
            let hint = format!("its programs run as you: `chmod o-w {}`", path.display());
            return refused("can be written by everybody on this machine", hint);
        }
        if meta.uid() != me && meta.uid() != 0 {
            return refused(
                "belongs to another user",
                "its programs run as you: make a file of your own there".to_owned(),
            );
        }
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
        read.map_err(cannot)?;
        let shown = path.display().to_string();
        let faults = |diagnostics| Error::Settings {
            file: path.to_owned(),
            diagnostics,
        };
        let text = std::str::from_utf8(&bytes)
            .ok()
            .filter(|_| bytes.len() as u64 <= MOST_BYTES);
        let Some(text) = text else {
            let message = "the file is not UTF-8 text, or longer than 1 MiB".to_owned();
            let hint = Some("save it as UTF-8 text".to_owned());
            return Err(faults(vec![Diagnostic::new(&shown, "", 0..0, message, hint)]));
        };
        Self::parse(text, &shown).map(Some).map_err(faults)
    }

    /// The settings of a text. `file` is the name that its faults are told with.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str, file: &str) -> Result<Self, Vec<Diagnostic>> {
        let (mut reader, mut top) = Reader::open(file, text)?;
        let url = top.take("url").and_then(|value| {
            let url = reader.string(&value)?;
            let is_one = ["http://", "https://"]
                .iter()
                .any(|scheme| url.starts_with(scheme))
                && !url.contains(|c: char| c.is_whitespace() || c.is_control());
            if !is_one {
                reader.refuse(
                    &value,
                    "is no address of a web page",
                    "write it like \"http://127.0.0.1:7627\"",
                );
            }
            Some(url.trim_end_matches('/').to_owned())
        });
        let mut to: Vec<To> = Vec::new();
        let tables = top.take("to").map(|value| reader.tables("[[to]]", value));
        for table in tables.into_iter().flatten() {
            let span = table.span.clone();
            let Some(one) = one(&mut reader, table) else {
                continue;
            };
            if to.iter().any(|other| other.key == one.key) {
                reader.report(
                    span,
                    "this [[to]] has the kinds and the command of an earlier one",
                    "keep one of them",
                );
            }
            to.push(one);
        }
        // Of one that cannot be used, the fault is reported.
        if to.is_empty() && reader.is_clean() {
            reader.report(
                0..0,
                "there is no [[to]], so nobody is told",
                format!("write [[to]] on a line, and below it {EXAMPLE}"),
            );
        }
        reader.finish(top, &KEYS);
        let found = reader.into_found();
        if found.is_empty() {
            Ok(Self { url, to })
        } else {
            Err(found)
        }
    }
}

/// A `[[to]]`; none where it has no command.
fn one<'t>(reader: &mut Reader<'t>, mut table: Table<'t>) -> Option<To> {
    let span = table.span.clone();
    let given = table.take("kinds").and_then(|value| {
        let at = value.span.clone();
        let names = reader.strings(value)?;
        if names.is_empty() {
            reader.report(
                at,
                "`kinds` is empty, so nothing is told",
                "name a kind, or remove it",
            );
        }
        Some(names)
    });
    let known = kinds();
    let kinds: BTreeSet<String> = match given {
        Some(names) => names
            .into_iter()
            .map(|(name, at)| {
                if !known.contains(name.as_str()) {
                    let message = format!("`kinds` has the unknown kind \"{}\"", text::escaped(&name));
                    let known: Vec<&str> = known.iter().copied().collect();
                    reader.report(
                        at,
                        message,
                        format!(
                            "the urgencies are everyone, word and parked; the kinds are {}",
                            known.join(", ")
                        ),
                    );
                }
                name
            })
            .collect(),
        None => ["everyone", "word"].map(str::to_owned).into(),
    };
    let after = table.take("after").and_then(|value| reader.duration(&value));
    let settled = table.take("settled").and_then(|value| reader.boolean(&value));
    let brief = table.take("brief").and_then(|value| reader.boolean(&value));
    let digest = table.take("digest").and_then(|value| {
        let digest = reader.duration(&value)?;
        if digest < SHORTEST_DIGEST {
            reader.refuse(&value, "is shorter than a minute", "write it like \"30m\"");
        }
        Some(digest)
    });
    let quiet = table.take("quiet").and_then(|value| {
        let quiet = reader.string(&value)?;
        let quiet = Quiet::parse(&quiet);
        if quiet.is_none() {
            reader.refuse(&value, "is no time of the day", "write it like \"22:00-07:00\"");
        }
        quiet
    });
    let stdin = table.take("stdin").and_then(|value| {
        Some(match reader.string(&value)?.as_str() {
            "json" => Stdin::Json,
            "body" => Stdin::Body,
            "mail" => Stdin::Mail,
            _ => {
                reader.refuse(&value, "is unknown", "write \"json\", \"body\" or \"mail\"");
                return None;
            }
        })
    });
    let pass_env = table.take("pass_env").and_then(|value| reader.strings(value));
    let pass_env = pass_env.unwrap_or_default().into_iter().map(|(name, at)| {
        let is_name = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if !is_name || name.starts_with("CREW_") {
            let message = format!("`pass_env` has \"{}\"", text::escaped(&name));
            let hint = "write names of variables, none of crew's own (CREW_…)";
            reader.report(at, message, hint);
        }
        name
    });
    let pass_env = pass_env.collect();
    let command = command(reader, &mut table, span);
    reader.finish(table, &KEYS_OF_TO);
    let command = command?;
    Some(To {
        key: key(&command, &kinds),
        kinds,
        after: after.unwrap_or(AFTER),
        command,
        stdin: stdin.unwrap_or(Stdin::Json),
        settled: settled.unwrap_or(false),
        brief: brief.unwrap_or(false),
        digest,
        quiet,
        pass_env,
    })
}

/// The program and its arguments; none where there is none, which is reported.
fn command<'t>(reader: &mut Reader<'t>, table: &mut Table<'t>, span: Range<usize>) -> Option<Vec<String>> {
    let words = match table.take("command") {
        Some(value) => reader.strings(value)?,
        None => Vec::new(),
    };
    for (word, at) in &words {
        for unknown in PLACEHOLDERS.unknown(word) {
            reader.report(
                at.clone(),
                format!(
                    "`command` has the unknown placeholder {{{}}}",
                    text::escaped(unknown)
                ),
                format!("the placeholders are {}", PLACEHOLDERS.shown()),
            );
        }
    }
    let Some((program, at)) = words.first().filter(|(program, _)| !program.is_empty()) else {
        reader.report(
            span.start..span.start,
            "this [[to]] has no `command` that names a program",
            format!("name one with its arguments: {EXAMPLE}"),
        );
        return None;
    };
    let (program, at) = (program.as_str(), at.clone());
    if PLACEHOLDERS.is_in(program) {
        reader.report(
            at,
            "`command` has a placeholder in the name of the program",
            "put it into an argument: what is told must not choose the program",
        );
    } else if program.contains('/') && !program.starts_with(['/', '~']) {
        reader.report(
            at,
            format!(
                "`command` names the program \"{}\" by a part of its path",
                text::escaped(program)
            ),
            "write its whole path, one that begins with `~/`, or a name that is looked up in PATH",
        );
    }
    Some(words.into_iter().map(|(word, _)| word).collect())
}

fn key(command: &[String], kinds: &BTreeSet<String>) -> String {
    let mut digest = Sha256::new();
    for word in command.iter().chain(kinds) {
        digest.update(word.as_bytes());
        digest.update([0]);
    }
    let digest = digest.finalize();
    digest[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let found = Settings::parse(text, "notify.toml").unwrap_err();
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_with_one_command_has_sensible_defaults() {
        let settings = Settings::parse("[[to]]\ncommand = [\"say\", \"{title}\"]\n", "notify.toml").unwrap();
        let [to] = settings.to.as_slice() else {
            panic!("{settings:?}")
        };
        assert_eq!(settings.url, None);
        assert_eq!(to.kinds, ["everyone", "word"].map(str::to_owned).into());
        assert_eq!((to.after, to.stdin), (Duration::from_secs(5), Stdin::Json));
        assert!(!to.settled && !to.brief && to.digest.is_none() && to.quiet.is_none());
    }

    #[test]
    fn each_fault_is_told_with_its_place_and_what_to_do() {
        for (text, wanted) in [
            ("", "notify.toml:1:1: there is no [[to]]"),
            (
                "url = 1\n[[to]]\ncommand = [\"a\"]\n",
                "notify.toml:1:7: `url` must be a string",
            ),
            (
                "url = \"crew.lan\"\n[[to]]\ncommand = [\"a\"]\n",
                "1:7: `url` is no address",
            ),
            ("[[to]]\n", "notify.toml:1:1: this [[to]] has no `command`"),
            (
                "[[to]]\ncommand = []\n",
                "notify.toml:1:1: this [[to]] has no `command`",
            ),
            (
                "[[to]]\ncommand = \"a b\"\n",
                "2:11: `command` must be a list of strings",
            ),
            (
                "[[to]]\ncommand = [\"a\"]\nafterr = \"1s\"\n",
                "3:1: unknown key `afterr` in [[to]]",
            ),
            (
                "[[to]]\ncommand = [\"a\"]\nafter = 5\n",
                "3:9: `after` must be a duration in quotes",
            ),
            (
                "[[to]]\ncommand = [\"a\"]\nafter = \"5\"\n",
                "3:9: `after` = \"5\" has a number without a unit",
            ),
            (
                "[[to]]\ncommand = [\"a\"]\nkinds = [\"all\"]\n",
                "3:10: `kinds` has the unknown kind \"all\"",
            ),
            ("[[to]]\ncommand = [\"a\"]\nkinds = []\n", "3:9: `kinds` is empty"),
            (
                "[[to]]\ncommand = [\"a\"]\nquiet = \"22-7\"\n",
                "3:9: `quiet` is no time of the day",
            ),
            (
                "[[to]]\ncommand = [\"a\"]\ndigest = \"5s\"\n",
                "3:10: `digest` is shorter than a minute",
            ),
            (
                "[[to]]\ncommand = [\"a\"]\npass_env = [\"CREW_WORKER\"]\n",
                "3:13: `pass_env` has",
            ),
            (
                "[[to]]\ncommand = [\"a\", \"{titel}\"]\n",
                "2:17: `command` has the unknown placeholder {titel}",
            ),
            (
                "[[to]]\ncommand = [\"{title}\"]\n",
                "2:12: `command` has a placeholder in the name",
            ),
            (
                "[[to]]\ncommand = [\"./a\"]\n",
                "2:12: `command` names the program \"./a\" by a part",
            ),
            (
                "[[to]]\ncommand = [\"a\"]\n[[to]]\ncommand = [\"a\"]\n",
                "3:1: this [[to]] has the kinds",
            ),
            ("to = 3\n", "1:6: `to` must be a list of tables"),
            ("to = []\n", "1:1: there is no [[to]]"),
            ("[[to]\n", "notify.toml:1:"),
        ] {
            let found = faults(text);
            let first = found.first().unwrap();
            assert!(first.contains(wanted), "{text:?}: {first}");
            assert!(first.contains("\n  hint: "), "{first}");
        }
    }

    #[test]
    fn quiet_hours_may_go_on_over_midnight() {
        let quiet = Quiet::parse("22:00-07:00").unwrap();
        let at = |hour: u16| quiet.is_at(hour * 60);
        assert_eq!(
            [21, 22, 23, 0, 6, 7, 12].map(at),
            [false, true, true, true, true, false, false]
        );
        let day = Quiet::parse("09:00-17:30").unwrap();
        assert_eq!(
            [8 * 60, 9 * 60, 17 * 60 + 29, 17 * 60 + 30].map(|m| day.is_at(m)),
            [false, true, true, false]
        );
        for bad in ["", "9-17", "24:00-01:00", "22:00", "07:00-07:00", "22:00-7:00"] {
            assert_eq!(Quiet::parse(bad), None, "{bad}");
        }
    }
}
