//! Pauses: the reasons for which no step is started on a harness, or no agent on the target, in words.

use super::{Snapshot, clock, left, span};
use crate::policy::attention;
use crate::target::Verdict;
use crate::{Look, Time};

impl Snapshot {
    /// The reasons for which no agent is started at all, or no step on a harness, a line for each: not
    /// sanitised.
    #[must_use]
    pub fn obstacles(&self, look: Look) -> Vec<String> {
        // The times stand before the command, which may be cut.
        let times = self.target_times(look);
        let why = self
            .project
            .target
            .as_ref()
            .and_then(|target| target.in_the_way());
        let target = why.map(|why| format!("no agent is started{times}: {why}"));
        target.into_iter().chain(self.pauses(look.now)).collect()
    }

    /// The result of the checks of the bare target so far, in one line: not sanitised. None where no engine
    /// has seen a target with checks.
    #[must_use]
    pub fn target_checks(&self, look: Look) -> Option<String> {
        let target = self.project.target.as_deref()?;
        if target.basis.plan.commands.is_empty() {
            return None;
        }
        let commit = target.commit.short();
        let since = span(look.now.since(target.since));
        Some(match &target.verdict {
            Verdict::Unchecked => format!("target {commit}: its checks are not run, because of --anyway"),
            Verdict::Checking { .. } if !look.engine => {
                format!("target {commit}: the next engine goes on with its checks")
            }
            Verdict::Checking { command: None, .. } => format!("target {commit}: its checks begin"),
            Verdict::Checking {
                command: Some(command),
                is_canary,
            } => {
                let how = if *is_canary { ", with broken sources" } else { "" };
                format!("target {commit}: its checks run, for {since}{how}: {command}")
            }
            Verdict::Passed => format!("target {commit}: it passed its checks {since} ago"),
            Verdict::Failed { .. } | Verdict::Blind { .. } | Verdict::CouldNotRun { .. } => {
                let fault = target.verdict.fault().unwrap_or_default();
                format!("{fault}, at {commit}")
            }
        })
    }

    /// Since when the checks of the target go on, or when they are tried again, in brackets; or that nothing
    /// happens without an engine.
    fn target_times(&self, look: Look) -> String {
        let Some(target) = self.project.target.as_deref() else {
            return String::new();
        };
        match target.retry_at {
            _ if !look.engine => " before an engine runs again (`crew run`)".to_owned(),
            _ if target.is_checking() => format!(" (for {})", span(look.now.since(target.since))),
            Some(at) => look.added(look.tried_again(at)),
            None => String::new(),
        }
    }

    /// The reason for which no agent is started on the target, as a sentence of one line: not sanitised.
    #[must_use]
    pub fn target_in_the_way(&self) -> Option<String> {
        let why = self.project.target.as_ref()?.in_the_way()?;
        Some(format!("no agent is started: {why}"))
    }

    /// The reasons for which no step is started on a harness now, a line for each: not sanitised.
    #[must_use]
    pub fn pauses(&self, now: Time) -> Vec<String> {
        let paused = self.project.paused.iter().filter(|(_, pause)| pause.holds(now));
        let paused = paused.map(|(harness, pause)| match pause.until {
            Some(until) => format!(
                "{harness}: {} until {} UTC, in {}: {}",
                pause.class.name(),
                clock(until),
                left(until.since(now)),
                pause.message
            ),
            None => attention::refused(harness, pause),
        });
        paused.collect()
    }
}
