//! Pauses: the reasons for which no step is started on a harness, or no agent on the target, in words.

use super::{Snapshot, left, span};
use crate::policy::attention;
use crate::target::{Target, Verdict};
use crate::{Look, Oid, Time};

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
    /// has seen a target with checks. `head`: the commit at which the target is, where that is known; else
    /// the last one that landed counts.
    #[must_use]
    pub fn target_checks(&self, look: Look, head: Option<&Oid>) -> Option<String> {
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
            Verdict::Passed => {
                let moved = self.moved_since(target, head).unwrap_or_default();
                format!("target {commit}: it passed its checks {since} ago{moved}")
            }
            Verdict::Failed { .. }
            | Verdict::Blind { .. }
            | Verdict::CouldNotRun { .. }
            | Verdict::OutOfReach { .. } => {
                let fault = target.verdict.fault().unwrap_or_default();
                format!("{fault}, at {commit}")
            }
        })
    }

    /// Where the target is now, if that is not the commit that passed: as the end of a sentence.
    fn moved_since(&self, target: &Target, head: Option<&Oid>) -> Option<String> {
        let last = self.landed.last().filter(|landed| landed.at >= target.since);
        let head = head.or(last.map(|landed| &landed.commit))?;
        if *head == target.commit {
            return None;
        }
        let landed = self.landed.iter().rev().find(|landed| landed.commit == *head);
        let short = head.short();
        Some(match landed {
            Some(landed) => format!("; since then {} has landed there, as {short}", landed.ticket),
            None => format!("; the branch has moved to {short} since, where its checks have not run yet"),
        })
    }

    /// Since when the checks of the target go on, or when they are tried again, in brackets; or that nothing
    /// happens without an engine.
    fn target_times(&self, look: Look) -> String {
        let Some(target) = self.project.target.as_deref() else {
            return String::new();
        };
        match () {
            () if !look.engine => " before an engine runs again (`crew run`)".to_owned(),
            () if target.is_checking() => format!(" (for {})", span(look.now.since(target.since))),
            () => look.added(target.again(look)),
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
                "{harness}: {} for another {}: {}",
                pause.class.name(),
                left(until.since(now)),
                pause.message
            ),
            None => attention::refused(harness, pause),
        });
        paused.collect()
    }
}
