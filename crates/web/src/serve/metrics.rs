//! Metrics: the crew in numbers, in the text format of Prometheus.

use std::fmt::Write as _;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use model::view::{Snapshot, Status, Urgency};

use crate::app::{App, Repo};

/// Millionths of a dollar in a dollar.
const MICRO: f64 = 1e6;
/// Every status of an agent, with its name.
const STATUSES: [(Status, &str); 9] = [
    (Status::Idle, "idle"),
    (Status::Preparing, "preparing"),
    (Status::Ready, "ready"),
    (Status::Working, "working"),
    (Status::Waiting, "waiting"),
    (Status::Verifying, "verifying"),
    (Status::Reviewing, "reviewing"),
    (Status::Done, "done"),
    (Status::Stuck, "stuck"),
];
/// Every urgency, with its name.
const URGENCIES: [(Urgency, &str); 3] = [
    (Urgency::Everyone, "everyone"),
    (Urgency::Word, "word"),
    (Urgency::Parked, "parked"),
];

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/metrics", get(metrics))
}

async fn metrics(State(app): State<App>) -> Response {
    let mut text = Text::default();
    text.family("crew_info", "gauge", "The version of crew that serves this.");
    text.sample("crew_info", &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    let repos: Vec<Numbers> = app.repos.iter().map(Numbers::of).collect();
    for (name, kind, help, samples) in FAMILIES {
        text.family(name, kind, help);
        for numbers in &repos {
            for (label, value) in samples(numbers) {
                let mut labels = vec![("repo", numbers.repo.as_str())];
                labels.extend(label);
                text.sample(name, &labels, value);
            }
        }
    }
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, text.0).into_response()
}

/// What the numbers of one repository are taken from.
struct Numbers {
    repo: String,
    snapshot: std::sync::Arc<Snapshot>,
    agents: Vec<Status>,
    waiting: Vec<Urgency>,
    engine: bool,
}

/// The samples of a family, each with the label that tells it from the others.
type Samples = fn(&Numbers) -> Vec<(Option<(&'static str, &'static str)>, f64)>;

/// Name, kind, help and samples of each family.
const FAMILIES: [(&str, &str, &str, Samples); 12] = [
    (
        "crew_engine_up",
        "gauge",
        "1 while an engine runs on the repository.",
        |numbers| one(if numbers.engine { 1.0 } else { 0.0 }),
    ),
    (
        "crew_journal_rows",
        "counter",
        "Rows of the journal.",
        |numbers| one(float(numbers.snapshot.seq)),
    ),
    (
        "crew_tickets",
        "gauge",
        "Tickets by state; ready ones are open ones too.",
        |numbers| {
            let counts = numbers.snapshot.counts();
            let states = [
                ("open", counts.open),
                ("ready", counts.ready),
                ("in_progress", counts.in_progress),
                ("verifying", counts.verifying),
                ("held", counts.held),
                ("epic", counts.epics),
            ];
            states
                .into_iter()
                .map(|(state, count)| (Some(("state", state)), f64::from(count)))
                .collect()
        },
    ),
    ("crew_agents", "gauge", "Agents by status.", |numbers| {
        counted("status", &STATUSES, &numbers.agents)
    }),
    (
        "crew_inbox_items",
        "gauge",
        "Entries of the inbox by urgency.",
        |numbers| counted("urgency", &URGENCIES, &numbers.waiting),
    ),
    (
        "crew_landings_total",
        "counter",
        "Tickets that landed.",
        |numbers| one(float(numbers.snapshot.landings() as u64)),
    ),
    (
        "crew_steps_total",
        "counter",
        "Steps that ended well.",
        |numbers| one(numbers.snapshot.members.values().map(|it| float(it.steps)).sum()),
    ),
    (
        "crew_input_tokens_total",
        "counter",
        "Tokens that agents read.",
        |numbers| one(float(numbers.snapshot.paid().input_tokens)),
    ),
    (
        "crew_output_tokens_total",
        "counter",
        "Tokens that agents wrote.",
        |numbers| one(float(numbers.snapshot.paid().output_tokens)),
    ),
    (
        "crew_cost_usd_total",
        "counter",
        "US dollars that steps cost, estimates included.",
        |numbers| one(float(numbers.snapshot.paid().cost_micro_usd) / MICRO),
    ),
    (
        "crew_estimated_cost_usd_total",
        "counter",
        "The part of the cost that is estimated, since the client reported no price.",
        |numbers| one(float(numbers.snapshot.paid().estimated_micro_usd) / MICRO),
    ),
    (
        "crew_harness_pauses",
        "gauge",
        "Harnesses on which no step is started now.",
        |numbers| {
            let now = client::clock::now();
            let paused = numbers.snapshot.project.paused.values();
            one(float(paused.filter(|pause| pause.holds(now)).count() as u64))
        },
    ),
];

impl Numbers {
    fn of(repo: &Repo) -> Self {
        let snapshot = repo.board.snapshot();
        Self {
            repo: repo.id.clone(),
            agents: snapshot.agents().into_iter().map(|agent| agent.status).collect(),
            waiting: repo.board.items().iter().map(|item| item.urgency).collect(),
            engine: repo.board.has_engine(),
            snapshot,
        }
    }
}

fn one(value: f64) -> Vec<(Option<(&'static str, &'static str)>, f64)> {
    vec![(None, value)]
}

/// The number of each kind among those that there are; kinds of which there is none are samples too.
fn counted<T: PartialEq + Copy>(
    label: &'static str,
    kinds: &[(T, &'static str)],
    there: &[T],
) -> Vec<(Option<(&'static str, &'static str)>, f64)> {
    let of = |kind: T| there.iter().filter(|one| **one == kind).count() as u64;
    kinds
        .iter()
        .map(|(kind, name)| (Some((label, *name)), float(of(*kind))))
        .collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the format has floating-point numbers only"
)]
fn float(count: u64) -> f64 {
    count as f64
}

/// Text in the format of Prometheus.
#[derive(Debug, Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        let _ = writeln!(self.0, "{name}{{{}}} {value}", labels.join(","));
    }
}

/// The value of a label: the name of a folder may have any character.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_cannot_be_broken_by_the_value_of_a_label() {
        let mut text = Text::default();
        text.sample(
            "crew_tickets",
            &[("repo", "a\"} 1\nevil\\"), ("state", "open")],
            2.0,
        );
        assert_eq!(
            text.0,
            "crew_tickets{repo=\"a\\\"} 1\\nevil\\\\\",state=\"open\"} 2\n"
        );
    }
}
