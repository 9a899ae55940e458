//! The log for operators: the filter that chooses its events, and their form as lines.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::panic;
use std::sync::{Once, OnceLock};

use runtime::log::{Log, TARGETS};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, filter_fn};
use tracing_subscriber::layer::{Context as Layered, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::context::Context;
use crate::error::{Error, Result};
use client::secrets::secrets;

/// The variable with the filter, for engines that are started without `--log`.
const VARIABLE: &str = "CREW_LOG";
/// The filter when nobody chooses one.
const DEFAULT: &str = "info";
/// crew's crates that emit events under their own names, and the durations of `timing`.
const CRATES: [&str; 2] = ["runtime", "timing"];
/// The columns of a value at most.
const VALUE: usize = 1_000;

/// The choice of an operator: the events that the log has.
#[derive(Debug)]
pub(crate) struct Filter(EnvFilter);

impl Filter {
    /// The filter of `--log`, or else of the environment, or else the default.
    pub(crate) fn choose(given: Option<&str>, context: &Context) -> Result<Self> {
        match (given, context.var(VARIABLE)) {
            (Some(given), _) => Self::parse(given, "--log"),
            (None, Some(given)) => Self::parse(given, VARIABLE),
            (None, None) => Self::parse(DEFAULT, "the default"),
        }
    }

    fn parse(given: &str, source: &str) -> Result<Self> {
        let refuse = |why: &str| {
            Error::usage(
                format!("{source}: the filter {} is wrong: {why}", text::quoted(given)),
                format!(
                    "give a level (off, error, warn, info, debug, trace), or targets with levels: info,effect=debug. \
                     The targets are {}",
                    TARGETS.join(", ")
                ),
            )
        };
        for directive in given.split(',').map(str::trim) {
            // A bare word that is no level would be the name of a target: more likely a level is misspelt.
            let is_word = !directive.contains(['=', '[', ':']);
            if is_word && !is_level(directive) && !is_ours(directive) {
                let why = format!("{} is neither a level nor a target", text::quoted(directive));
                return Err(refuse(&why));
            }
            // A library's target may be named; one that is nearly crew's own would log nothing, silently.
            let name = directive.split(['=', '[', ':']).next().unwrap_or_default();
            let nearest = model::settings::nearest(name, TARGETS).filter(|_| !name.is_empty());
            if let Some(near) = nearest.filter(|_| !is_level(name) && !is_ours(name)) {
                let why = format!("there is no target {}: did you mean {near}?", text::quoted(name));
                return Err(refuse(&why));
            }
        }
        let parsed = EnvFilter::builder().parse(given);
        let filter = parsed.map_err(|error| refuse(&error.to_string()))?;
        Ok(Self(filter))
    }
}

/// Whether a word is a level. `LevelFilter` also takes the empty word for one.
fn is_level(word: &str) -> bool {
    !word.is_empty() && word.parse::<LevelFilter>().is_ok()
}

/// Whether a target is crew's own. Of libraries only warnings are logged: nobody has checked that their other
/// events hold no secret.
fn is_ours(target: &str) -> bool {
    let name = target.split("::").next().unwrap_or(target);
    TARGETS.contains(&name) || CRATES.contains(&name)
}

fn may_be_logged(metadata: &Metadata<'_>) -> bool {
    is_ours(metadata.target()) || *metadata.level() <= Level::WARN
}

/// The log of this process: it has one, as it has one subscriber of `tracing`.
pub(crate) fn log() -> Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    LOG.get_or_init(Log::default).clone()
}

/// Logs a panic before it is handled as usual.
pub(crate) fn log_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            let at = panicked.location().map(tracing::field::display);
            let why = panicked.payload_as_str();
            tracing::error!(target: "engine", state = "panicked", at, why);
            hook(panicked);
        }));
    });
}

/// Writes the events that pass the filter into the log, a line each.
pub(crate) fn layer<S>(log: Log, filter: Filter, context: &Context) -> impl Layer<S> + use<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let secrets = secrets(&context.env);
    let lines = Lines {
        log,
        secrets: secrets
            .map(|(name, value)| (format!("[{name}]"), value.to_owned()))
            .collect(),
    };
    lines.with_filter(filter.0.and(filter_fn(may_be_logged)))
}

/// The layer that makes lines of events.
#[derive(Debug)]
struct Lines {
    log: Log,
    /// Secrets of the environment, each after the text that stands in its place.
    secrets: Vec<(String, String)>,
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Layered<'_, S>) {
        let metadata = event.metadata();
        let mut line = Line {
            text: String::with_capacity(160),
            secrets: &self.secrets,
        };
        let now = jiff::Timestamp::from_millisecond(client::clock::now().0).unwrap_or_default();
        let time = now.strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
        // Writing to a string cannot fail.
        let _ = write!(line.text, "{time} {:<5} {}", metadata.level(), metadata.target());
        event.record(&mut line);
        self.log.push(line.text);
    }
}

/// A line that is being made: `time level target key=value key="value with spaces"`.
struct Line<'a> {
    text: String,
    secrets: &'a [(String, String)],
}

impl Line<'_> {
    fn add(&mut self, name: &str, value: &str) {
        let mut value = Cow::Borrowed(value);
        for (instead, secret) in self.secrets {
            if value.contains(secret.as_str()) {
                value = value.replace(secret.as_str(), instead).into();
            }
        }
        let value = text::sanitise::fit(&text::sanitise::line(&value), VALUE);
        let is_word = |character: char| !character.is_whitespace() && !"\"=\\".contains(character);
        let _ = if !value.is_empty() && value.chars().all(is_word) {
            write!(self.text, " {name}={value}")
        } else {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            write!(self.text, " {name}=\"{value}\"")
        };
    }
}

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field.name(), &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field.name(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(secrets: &[(String, String)], fields: &[(&str, &str)]) -> String {
        let mut line = Line {
            text: String::new(),
            secrets,
        };
        for (name, value) in fields {
            line.add(name, value);
        }
        line.text
    }

    #[test]
    fn a_value_is_quoted_where_it_would_not_be_one_word() {
        let fields = [("a", "t-1"), ("b", ""), ("c", "two words"), ("d", "x=\"1\"\\")];
        assert_eq!(line(&[], &fields), r#" a=t-1 b="" c="two words" d="x=\"1\"\\""#);
    }

    #[test]
    fn foreign_text_stays_on_its_line_without_control_characters() {
        let fields = [("why", "one\n2026 INFO forged\u{1b}]0;title\u{7}\u{202e}")];
        let line = line(&[], &fields);
        assert_eq!(line, " why=\"one 2026 INFO forged\"");
    }

    #[test]
    fn a_secret_of_the_environment_is_replaced_by_the_name_of_its_variable() {
        let secrets = [("[API_KEY]".to_owned(), "sk-123456789012".to_owned())];
        assert_eq!(
            line(&secrets, &[("why", "refused sk-123456789012!")]),
            " why=\"refused [API_KEY]!\""
        );
    }

    #[test]
    fn a_filter_is_a_level_or_targets_with_levels() {
        for good in [
            "info",
            "OFF",
            "debug,effect=trace",
            "decision",
            "runtime::queue=debug",
            "warn,sqlx=off",
        ] {
            assert!(Filter::parse(good, "--log").is_ok(), "{good}");
        }
        for bad in [
            "",
            "debgu",
            "info,",
            "effect=loud",
            "info,nothing",
            "a=b=c",
            "chek=debug",
            "info,decison=trace",
        ] {
            assert!(Filter::parse(bad, "--log").is_err(), "{bad}");
        }
    }

    #[test]
    fn of_libraries_only_warnings_may_be_logged() {
        assert!(is_ours("decision") && is_ours("runtime::queue") && is_ours("timing"));
        assert!(!is_ours("sqlx::query") && !is_ours("runtimes"));
    }
}
