//! Activity: what runs in the step of an agent at this moment, from the files of its run.

use model::view::{Agent, span};
use model::{RunId, Time};
use process::{Beat, Run, Said};
use runtime::Place;

/// A heartbeat that is older than this, in milliseconds, says nothing of this moment.
const STALE: u64 = 60_000;
/// The engine looks at a run, and its shim at the processes, a few seconds apart: a process that began so
/// long before the tool that is in use, in milliseconds, may be that tool's.
const APART: u64 = 10_000;

/// What runs in the step of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The program with its first argument, or the tool of the client: the agent's text, fit to be shown.
    pub what: String,
    /// Whether it is a tool of the client.
    pub is_tool: bool,
    /// The time at which it began; none where that is not known.
    pub since: Option<Time>,
}

impl Activity {
    /// What runs in the step of an agent now; none where no step runs, or nothing is seen of it. `engine`:
    /// whether an engine runs, which alone reads what the client says.
    pub fn of(place: &Place, agent: &Agent, engine: bool, now: Time) -> Option<Self> {
        let run = agent.run.as_ref().filter(|_| agent.running)?;
        Self::of_run(place, run, engine, now)
    }

    fn of_run(place: &Place, run: &RunId, engine: bool, now: Time) -> Option<Self> {
        let run = Run::open(place.run_dir(run)).ok()?;
        let now = u64::try_from(now.0).unwrap_or_default();
        let mut beat = run.beat().ok().flatten()?;
        if now.saturating_sub(beat.at) > STALE {
            return None;
        }
        // A heartbeat is some seconds old. Where the process that it shows is gone, those that are there now
        // are looked at.
        if beat.work().is_some_and(|work| !work.is_there())
            && let Some(children) = run.children()
        {
            beat.children = children;
        }
        let said = run.said().ok().flatten().filter(|_| engine);
        Self::seen(&beat, said.as_ref())
    }

    fn seen(beat: &Beat, said: Option<&Said>) -> Option<Self> {
        let time = |ms: u64| i64::try_from(ms).ok().filter(|ms| *ms > 0).map(Time);
        let program = || {
            let work = beat.work()?;
            Some(Self {
                what: work.name(),
                is_tool: false,
                since: time(work.started_at),
            })
        };
        let Some(said) = said else { return program() };
        // Between two tools the agent thinks, whatever its client has started for itself.
        let tool = said.tool.as_ref()?;
        let is_of_tool = |work: &process::Child| work.started_at.saturating_add(APART) >= said.at;
        if beat.work().is_some_and(is_of_tool) {
            return program();
        }
        Some(Self {
            what: text::sanitise::line(tool),
            is_tool: true,
            since: time(said.at),
        })
    }

    /// The activity in words: "in `cargo build` for 4m".
    pub fn words(&self, now: Time) -> String {
        let time = self.since.map(|since| format!(" for {}", span(now.since(since))));
        format!("{}{}", self.place(), time.unwrap_or_default())
    }

    /// The activity in words, without its time: "in `cargo build`".
    pub fn place(&self) -> String {
        match self.is_tool {
            true => format!("in {}", self.what),
            false => format!("in `{}`", self.what),
        }
    }
}

#[cfg(test)]
mod tests {
    use process::Child;

    use super::*;

    fn beat(command: &str, started_at: u64) -> Beat {
        let child = Child {
            pid: 7,
            parent: 6,
            started_at,
            cpu_ms: 0,
            command: command.to_owned(),
        };
        Beat {
            children: vec![child],
            ..Beat::default()
        }
    }

    #[test]
    fn a_process_of_the_tool_says_more_than_the_tool_and_an_older_one_nothing() {
        let words = |beat: &Beat, said: Option<&Said>| {
            Activity::seen(beat, said).map(|activity| activity.words(Time(300_000)))
        };
        let said = |tool: Option<&str>| Said {
            at: 240_000,
            tool: tool.map(str::to_owned),
        };
        let (build, server) = (beat("cargo build", 235_000), beat("node server.js", 1_000));
        let bash = said(Some("Bash: cd"));
        assert_eq!(words(&build, None).as_deref(), Some("in `cargo build` for 1m"));
        assert_eq!(
            words(&build, Some(&bash)).as_deref(),
            Some("in `cargo build` for 1m")
        );
        assert_eq!(words(&server, Some(&bash)).as_deref(), Some("in Bash: cd for 1m"));
        assert_eq!(words(&server, Some(&said(None))), None, "it thinks");
        assert_eq!(words(&Beat::default(), None), None);
    }
}
