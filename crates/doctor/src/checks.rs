//! The checks: the last verdict on the bare target, and whether each command looks at the tree that it gets.
//! Nothing is run for that.

use std::collections::BTreeSet;

use client::clock;
use git::Branch;
use model::settings::{Blind, Settings};
use model::target::{Shown, Target, Verdict, install};
use model::ticket::{Check, CheckPlan};
use model::view::span;
use model::{Look, Oid};
use runtime::Place;

use crate::{Area, Caller, Finding, Subject};

const AREA: Area = Area::Checks;
/// So many lines of a check's output are shown.
const LINES: usize = 10;
/// Where the whole output is.
const WHOLE: &str = "`crew logs --check` shows all of the output";

/// Shows the last verdict, or that there is none.
pub(super) fn look(caller: &Caller<'_>, subject: &Subject, found: &mut Vec<Finding>) {
    let Some(settings) = &subject.settings else { return };
    let Some(target) = subject.crew.project.target.as_deref() else {
        return not_run_yet(caller, &subject.place, settings, found);
    };
    // The part that looks at the settings says that nothing guards the target.
    if !settings.has_checks() {
        return;
    }
    found.extend(refuses(&subject.place));
    found.extend(idle_paths(&subject.place, settings));
    found.push(verdict(subject, settings, target));
    found.extend(canaries(settings, target));
}

/// Shows that no engine has run them, and the programs that they would not find.
pub(super) fn not_run_yet(caller: &Caller<'_>, place: &Place, settings: &Settings, found: &mut Vec<Finding>) {
    if !settings.has_checks() {
        return;
    }
    found.push(Finding::fine(
        AREA,
        "they have not been run yet: `crew run` runs them on the bare target before it starts the first agent",
    ));
    found.extend(refuses(place));
    found.extend(idle_paths(place, settings));
    let missing = match runtime::missing_programs(place, settings, &caller.options()) {
        Ok(missing) => missing,
        Err(error) => return found.push(Finding::error(AREA, &error.into())),
    };
    let mut named = BTreeSet::new();
    for one in missing
        .into_iter()
        .filter(|one| named.insert(one.program.clone()))
    {
        let says = format!(
            "`{}` needs {}, which is not found on the PATH that checks get",
            one.command, one.program
        );
        let hint = install(&one.program);
        // A command before it may install it.
        found.push(match one.is_first {
            true => Finding::wrong(AREA, says, hint),
            false => Finding::note(AREA, says, hint),
        });
    }
}

/// The checks whose paths match nothing: they are skipped for all work that there is.
fn idle_paths(place: &Place, settings: &Settings) -> Vec<Finding> {
    // Another part of the examination shows a target that cannot be read.
    let idle = runtime::idle_paths(place, settings).unwrap_or_default();
    let note = |(name, paths): (String, Vec<String>)| {
        let (target, paths) = (&settings.project.target, paths.join(", "));
        Finding::note(
            AREA,
            format!("the paths of the check {name} match no file on {target}: {paths}"),
            "mend `paths` in its [[check]] table, if it is a slip",
        )
    };
    idle.into_iter().map(note).collect()
}

/// The reason for which there is no place for checks, so that no engine starts.
fn refuses(place: &Place) -> Option<Finding> {
    let error = place.check_slots_dir().err()?;
    Some(Finding::error(AREA, &error.into()))
}

fn verdict(subject: &Subject, settings: &Settings, target: &Target) -> Finding {
    let branch = &settings.project.target;
    let since = span(clock::now().since(target.since));
    let changed = changed(subject, settings, target);
    let anyway = match target.anyway {
        true => "; agents were started all the same, with --anyway",
        false => "",
    };
    let on = format!(
        "on {branch} at {}, {since} ago{anyway}{changed}",
        target.commit.short()
    );
    let outdated = !changed.is_empty();
    match &target.verdict {
        Verdict::Passed => Finding::fine(AREA, format!("they passed {on}")),
        Verdict::Checking { command, .. } => {
            let command = command.as_ref().map(|command| format!(": {command}"));
            let command = command.unwrap_or_default();
            match subject.holder {
                Some(_) => Finding::fine(AREA, format!("they run, begun {on}{command}")),
                None => Finding::fine(
                    AREA,
                    format!("they did not end: the next engine goes on with them, begun {on}{command}"),
                ),
            }
        }
        Verdict::Unchecked => Finding::note(
            AREA,
            format!("they were not run {on}"),
            "`crew run` without --anyway runs them before it starts agents",
        ),
        Verdict::OutOfReach { .. } => Finding::note(
            AREA,
            format!("they were not run {on}, since no work can land there"),
            "`crew inbox` says why and what helps; the next look at the remote has them run",
        ),
        Verdict::Failed { .. } | Verdict::Blind { .. } | Verdict::CouldNotRun { .. } => {
            let fault = target.verdict.fault().unwrap_or_default();
            let printed = target.verdict.printed().unwrap_or_default();
            let mut says = format!("{fault}: {on}");
            for line in text::excerpt(printed, LINES) {
                says.push_str(&format!("\n│ {line}"));
            }
            let says = text::sanitise::text(&says);
            let look = Look {
                now: clock::now(),
                engine: subject.holder.is_some(),
            };
            let remedy = target.remedy(look).unwrap_or_default();
            let hint = format!("{remedy}; {WHOLE}");
            match outdated || target.anyway {
                true => Finding::note(AREA, says, hint),
                false => Finding::wrong(AREA, says, hint),
            }
        }
    }
}

/// The differences between the target of the verdict and that of the next engine, as a part of a sentence.
fn changed(subject: &Subject, settings: &Settings, target: &Target) -> String {
    let repository = &subject.place.repository;
    let tip = Branch::parse(&settings.project.target).and_then(|branch| repository.target(&branch));
    let tip = tip.ok().and_then(|tip| Oid::new(tip.as_str()).ok());
    let moved = tip.filter(|tip| *tip != target.commit);
    let plan = CheckPlan::of(settings);
    let mut changed = String::new();
    if let Some(tip) = moved {
        changed.push_str(&format!("; the branch is at {} now", tip.short()));
    }
    if plan != target.basis.plan {
        changed.push_str("; [checks] have changed since");
    }
    changed
}

/// The last result of each command with broken sources.
fn canaries(settings: &Settings, target: &Target) -> Vec<Finding> {
    if settings.checks.blind == Blind::Allow {
        let says = "nobody tries whether they look at the tree: [checks] blind = \"allow\"";
        return vec![Finding::fine(AREA, says)];
    }
    let of = |command: &Check| {
        let tried = target
            .canaries
            .iter()
            .find(|canary| canary.command == command.to_string());
        match tried.map(|canary| canary.shown) {
            Some(Shown::Looks) => Finding::fine(
                AREA,
                format!("`{command}` fails with broken sources, as it should"),
            ),
            Some(Shown::Passes) => Finding::note(
                AREA,
                format!("`{command}` passes with broken sources too"),
                "nothing to do, if it is no test of them",
            ),
            None => Finding::fine(AREA, format!("`{command}` was not tried with broken sources")),
        }
    };
    // The verdict is about a blind one already.
    let is_blind = |command: &&Check| {
        target.verdict
            == Verdict::Blind {
                which: command.to_string(),
            }
    };
    let plan = CheckPlan::of(settings);
    let commands = plan.commands.iter();
    commands.filter(|command| !is_blind(command)).map(of).collect()
}
