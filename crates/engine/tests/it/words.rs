//! Decisions in words: one line a fact, with what it orders.

use std::fmt;
use std::time::Duration;

use engine::Output;
use model::attempt::{self, AfterStop, Prompt, StartPoint};
use model::command::Outcome;
use model::journal::{Fact, State, Stream, Write};
use model::project;
use model::ticket::{Effect, Event, FileStatus, Filing, Released, Repeat, SlotChange, TimerChange};
use model::{Actor, Time};

/// The decisions of a core about one input.
pub(crate) struct Decided {
    pub(crate) output: Output,
    lines: Vec<String>,
}

impl Decided {
    /// `finished` are the effects of `output.finished`, in words; `now` is when it was decided.
    pub(crate) fn new(output: Output, finished: &[String], now: Time) -> Self {
        let mut lines: Vec<String> = output.writes.iter().flat_map(|w| write(w, now)).collect();
        lines.extend(finished.iter().map(|effect| format!("finished: {effect}")));
        for postponed in &output.postponed {
            let why = postponed.why.as_deref().unwrap_or("nobody's fault");
            lines.push(format!("again {}: {why}", at(postponed.at, now)));
        }
        lines.extend(output.answers.iter().map(|(_, outcome)| answer(outcome)));
        lines.extend(output.refused.iter().map(|why| format!("refused: {why}")));
        lines.extend(
            output
                .warnings
                .iter()
                .map(|why| format!("warning: {}", why.replace('\n', " / "))),
        );
        lines.extend(output.wake_at.map(|wake| format!("wakes {}", at(wake, now))));
        lines.extend(output.ended.then(|| "the engine may end".to_owned()));
        Self { output, lines }
    }

    /// One line a fact, then what else was decided.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The answer to the command.
    pub(crate) fn answer(&self) -> String {
        let written = self.output.writes.iter().filter_map(|w| w.answers.as_ref());
        let answers: Vec<String> = written
            .chain(&self.output.answers)
            .map(|(_, o)| answer(o))
            .collect();
        assert_eq!(answers.len(), 1, "a command is answered once: {answers:?}");
        answers[0].clone()
    }

    /// The names of all events, in order.
    pub(crate) fn events(&self) -> Vec<&'static str> {
        let entries = self.output.writes.iter().flat_map(|w| &w.entries);
        entries.map(|entry| entry.fact.name()).collect()
    }
}

impl fmt::Display for Decided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lines.is_empty() {
            return f.write_str("nothing");
        }
        f.write_str(&self.lines.join("\n"))
    }
}

fn write(write: &Write, now: Time) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let stream = match &write.stream {
        Stream::Project => "crew".to_owned(),
        Stream::Ticket(id) => id.to_string(),
    };
    for (n, entry) in write.entries.iter().enumerate() {
        // A `+` marks a fact that is in one transaction with the line before.
        let joined = if n == 0 { ':' } else { '+' };
        let fact = match &entry.fact {
            Fact::Project(event) => project_event(event, now),
            Fact::Ticket(event) => event_in_words(event, now),
        };
        let effects: Vec<String> = entry.effects.iter().map(effect).collect();
        let ordered = if effects.is_empty() {
            String::new()
        } else {
            format!(" → {}", effects.join(", "))
        };
        lines.push(format!("{stream}{joined} {fact}{ordered}"));
    }
    let mut also = Vec::new();
    also.extend(write.slots.iter().map(|slot| match slot {
        SlotChange::Free(agent) => format!("frees {agent}"),
        SlotChange::Take(agent, _) => format!("takes {agent}"),
    }));
    also.extend(write.timers.iter().map(|timer| match timer {
        TimerChange::Cancel(key) => format!("cancels {}", key.as_str()),
        TimerChange::Set(deadline) => format!("sets {} {}", deadline.key.as_str(), at(deadline.at, now)),
    }));
    if let (Some(last), false) = (lines.last_mut(), also.is_empty()) {
        last.push_str(&format!("; {}", also.join(", ")));
    }
    if let (Some(last), Some(entry)) = (lines.last_mut(), write.entries.last())
        && let State::Ticket(ticket) = &entry.after
    {
        last.push_str(&format!(" ⇒ {}", ticket.state_name()));
    }
    lines.extend(write.answers.as_ref().map(|(_, outcome)| answer(outcome)));
    lines
}

fn answer(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Accepted { message } => format!("accepted: {message}"),
        Outcome::Refused { why } => format!("not possible: {why}"),
    }
}

pub(crate) fn at(time: Time, now: Time) -> String {
    if time >= now {
        format!("in {}", span(time.since(now)))
    } else {
        format!("{} ago", span(now.since(time)))
    }
}

fn span(span: Duration) -> String {
    format!("{} s", span.as_secs_f64())
}

fn by(actor: &Actor) -> String {
    match actor {
        Actor::File => "the file".to_owned(),
        Actor::Agent { run } => run.to_string(),
        other => other.to_string(),
    }
}

fn project_event(event: &project::Event, now: Time) -> String {
    let name = project::Event::name(event);
    match event {
        project::Event::AgentSpawned { name: agent } | project::Event::AgentRetired { name: agent } => {
            format!("{name} {agent}")
        }
        project::Event::HarnessPaused { harness, pause } => {
            let until = pause
                .until
                .map_or("until a retry".to_owned(), |until| at(until, now));
            format!("{name} {harness} ({}), over {until}", pause.class.name())
        }
        project::Event::HarnessFreed { harness, by: who } => format!("{name} {harness} by {}", by(who)),
        project::Event::DayBudgetLow { budget, .. } => format!("{name} {budget}"),
        project::Event::DayBudgetSpent { pause } => {
            format!("{name} {}, over {}", pause.budget, at(pause.until, now))
        }
        _ => name.to_owned(),
    }
}

fn event_in_words(event: &Event, now: Time) -> String {
    let name = event.name();
    let repeats = |repeat: &Option<Repeat>| {
        repeat
            .as_ref()
            .map_or(String::new(), |r| format!(", time {} of the same", r.times))
    };
    match event {
        Event::Attempt(event) => attempt_event(event, now),
        Event::Claimed { agent, fence, .. } => format!("{name} by {agent} under {fence}"),
        Event::Submitted { by: who, .. }
        | Event::Reopened { by: who }
        | Event::SensitiveApproved { by: who } => {
            format!("{name} by {}", by(who))
        }
        Event::Dropped { by: who, reason } | Event::Waived { by: who, reason } => {
            format!("{name} by {}: {reason}", by(who))
        }
        Event::Retried {
            by: who, slot_free, ..
        } => {
            let slot = if *slot_free {
                "its slot is free"
            } else {
                "without its slot"
            };
            format!("{name} by {}, {slot}", by(who))
        }
        Event::BudgetRaised { slot_free } => {
            format!(
                "{name}, {}",
                if *slot_free {
                    "its slot is free"
                } else {
                    "without its slot"
                }
            )
        }
        Event::BudgetSpent { budget } => format!("{name} {budget}"),
        Event::Released { why } => match why {
            Released::Killed { by: who } => format!("{name}: killed by {}", by(who)),
            Released::Reaped { why } => format!("{name}: reaped: {why}"),
            Released::WorkspaceFailed {
                why,
                attempts_left,
                reopen_at,
            } => format!(
                "{name}: no workspace: {why}; {attempts_left} attempts left, due {}",
                at(*reopen_at, now)
            ),
            Released::SetUpFailed {
                why,
                output,
                may_pass: _,
                for_all: _,
                retry_at,
            } => format!(
                "{name}: not set up: {why}: {output:?}; again {}",
                at(*retry_at, now)
            ),
            Released::WorkspaceLost {
                attempts_left,
                reopen_at,
            } => format!(
                "{name}: its workspace is lost; {attempts_left} attempts left, due {}",
                at(*reopen_at, now)
            ),
        },
        Event::ChecksFailed {
            which,
            steps_left,
            repeat,
            ..
        } => format!("{name}: {which}; {steps_left} steps left{}", repeats(repeat)),
        Event::NoCommits {
            steps_left, repeat, ..
        } => {
            format!("{name}; {steps_left} steps left{}", repeats(repeat))
        }
        Event::Conflicted {
            paths,
            resolutions_left,
            overtaken,
            repeat,
        } => format!(
            "{name} in {}{}; {resolutions_left} resolutions left{}",
            paths.join(" "),
            if *overtaken { ", overtaken" } else { "" },
            repeats(repeat)
        ),
        Event::CouldNotRun { why, retry_at, .. } => format!("{name}: {why}, again {}", at(*retry_at, now)),
        Event::TargetRed { which, retry_at, .. } => format!("{name}: {which}, again {}", at(*retry_at, now)),
        Event::CheckoutEdited { paths, retry_at } => {
            let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
            format!("{name}: {}, again {}", paths.join(" "), at(*retry_at, now))
        }
        Event::Sensitive { paths, .. } => format!("{name}: {}", paths.join(" ")),
        Event::ChecksPassed { passed, .. } => format!("{name}: {}", passed.join(" ")),
        _ => name.to_owned(),
    }
}

fn attempt_event(event: &attempt::Event, now: Time) -> String {
    let name = event.name();
    match event {
        attempt::Event::StepStarted { run, budget, change } => {
            let budget = budget.map_or(String::new(), |budget| format!(", warned of {budget}"));
            let change = change.as_ref();
            let change = change.map_or(String::new(), |change| format!(", changed to {}", change.to.name));
            format!("{name} {run}{budget}{change}")
        }
        attempt::Event::StopOrdered { then } => format!("{name}, then {}", after_stop(then)),
        attempt::Event::StepFinished {
            signal,
            steps_left,
            answer_by,
            ..
        } => {
            let answer_by = answer_by.map_or(String::new(), |by| format!(", to be answered {}", at(by, now)));
            format!(
                "{name} {}, {steps_left} steps left{answer_by}",
                signal_in_words(signal)
            )
        }
        attempt::Event::StepFailed {
            failure,
            retry_at,
            errors_left,
            repeats_left,
            ..
        } => format!(
            "{name} {}: {}, again {}, {errors_left} errors and {repeats_left} repeats left",
            failure.class.name(),
            failure.message,
            at(*retry_at, now)
        ),
        attempt::Event::Answered {
            by: who,
            text,
            question,
        } => {
            format!("{name} by {}: {question} {text}", by(who))
        }
        attempt::Event::WokenEarly { by: who } => format!("{name} by {}", by(who)),
        attempt::Event::WorkspaceReady { earlier_work, .. } => {
            format!("{name}{}", if *earlier_work { " with earlier work" } else { "" })
        }
        attempt::Event::Recovered {
            workspace,
            recoveries_left,
            attempts_left,
            reopen_at,
            ..
        } => format!(
            "{name} {workspace:?}, {recoveries_left} recoveries and {attempts_left} attempts left, due {}",
            at(*reopen_at, now)
        ),
        _ => name.to_owned(),
    }
}

fn signal_in_words(signal: &attempt::Signal) -> &'static str {
    match signal {
        attempt::Signal::None => "without a signal",
        attempt::Signal::Done => "done",
        attempt::Signal::Blocked { .. } => "blocked",
        attempt::Signal::Asked { .. } => "asking",
        attempt::Signal::WakeupSet { .. } => "sleeping",
        attempt::Signal::BrokenUp { .. } => "broken up",
    }
}

fn after_stop(then: &AfterStop) -> String {
    match then {
        AfterStop::Retry { class } => format!("retry ({})", class.name()),
        AfterStop::Fail { failure } => format!("fail ({})", failure.class.name()),
        AfterStop::Conclude => "conclude".to_owned(),
        AfterStop::Pause => "pause".to_owned(),
        AfterStop::Release { by: who } => format!("release for {}", by(who)),
        AfterStop::Reap { why } => format!("reap: {why}"),
        AfterStop::Drop { by: who, reason } => format!("drop for {}: {reason}", by(who)),
    }
}

/// The name of an effect: tests order reports by it.
pub(crate) fn effect_name(effect: &Effect) -> &'static str {
    match effect {
        Effect::PrepareWorkspace { .. } => "prepare_workspace",
        Effect::Attempt(attempt::Effect::StartStep { .. }) => "start_step",
        Effect::Attempt(attempt::Effect::StopRun { .. }) => "stop_run",
        Effect::Attempt(attempt::Effect::InspectWorkspace { .. }) => "inspect_workspace",
        Effect::Attempt(attempt::Effect::CreateChild { .. }) => "create_child",
        Effect::Unify { .. } => "unify",
        Effect::BuildCandidate { .. } => "build_candidate",
        Effect::StartCheck { .. } => "start_check",
        Effect::StartReview { .. } => "start_review",
        Effect::RemoveReview { .. } => "remove_review",
        Effect::LookAtProposal { .. } => "look_at_proposal",
        Effect::Land { .. } => "land",
        Effect::KeepWork { .. } => "keep_work",
        Effect::RemoveWorkspace { .. } => "remove_workspace",
        Effect::WriteFile(_) => "write_file",
        Effect::AddNote { .. } => "add_note",
        Effect::CreateTicket(_) => "create_ticket",
    }
}

pub(crate) fn effect(effect: &Effect) -> String {
    let name = effect_name(effect);
    match effect {
        Effect::PrepareWorkspace {
            agent, number, from, ..
        } => {
            let from = match from {
                StartPoint::Target => "the target".to_owned(),
                StartPoint::Kept { number } => format!("attempt {number}"),
                StartPoint::Revert { commit } => format!("the revert of {commit}"),
                StartPoint::Rewound { commit } => format!("{commit}"),
            };
            format!("{name} of {agent}, attempt {number} from {from}")
        }
        Effect::Attempt(attempt::Effect::StartStep {
            run,
            harness,
            new_session,
            prompt,
            edited,
            budget,
            ..
        }) => {
            let session = if *new_session { "new" } else { "old" };
            let edited = if *edited { ", the text has changed" } else { "" };
            let budget = budget.map_or(String::new(), |budget| format!(", {budget}"));
            let (prompt, harness) = (prompt_name(prompt), &harness.name);
            format!("{name} {run} on {harness} ({prompt}, {session} session{edited}{budget})")
        }
        Effect::Attempt(attempt::Effect::StopRun { run }) => format!("{name} {run}"),
        Effect::BuildCandidate { round, approved, .. } => {
            let approved = if approved.is_some() { ", approved" } else { "" };
            format!("{name} {round}{approved}")
        }
        Effect::KeepWork { agent, number } | Effect::RemoveWorkspace { agent, number } => {
            format!("{name} of {agent}, attempt {number}")
        }
        Effect::WriteFile(filing) => format!("{name} {}", filing_in_words(filing)),
        Effect::AddNote { text, by: None } => format!("{name} “{text}”"),
        Effect::AddNote {
            text,
            by: Some(agent),
        } => format!("{name} “{text}” of {agent}"),
        _ => name.to_owned(),
    }
}

fn filing_in_words(filing: &Filing) -> String {
    let tags: Vec<&str> = filing.tags.iter().map(String::as_str).collect();
    let tags = if tags.is_empty() {
        String::new()
    } else {
        format!(" [{}]", tags.join(" "))
    };
    let note = filing.note.as_ref();
    let note = note.map(|note| format!(" “{}”", note.text)).unwrap_or_default();
    format!("{}{tags}{note}", status_name(filing.status))
}

pub(crate) fn status_name(status: FileStatus) -> &'static str {
    match status {
        FileStatus::Open => "open",
        FileStatus::InProgress => "in_progress",
        FileStatus::Closed => "closed",
    }
}

fn prompt_name(prompt: &Prompt) -> &'static str {
    match prompt {
        Prompt::Init => "init",
        Prompt::Resume => "resume",
        Prompt::Step => "step",
        Prompt::ChecksFailed { .. } => "checks failed",
        Prompt::CommitmentUnmet { .. } => "commitment unmet",
        Prompt::NothingCommitted => "nothing committed",
        Prompt::MergeConflict { .. } => "merge conflict",
        Prompt::Returned { .. } => "returned",
        Prompt::LastChance => "last chance",
        Prompt::Answer { .. } => "answer",
        Prompt::Wakeup { .. } => "wakeup",
        Prompt::Unanswered { .. } => "unanswered",
        Prompt::Unify { .. } => "unify",
        Prompt::ChangedAfter { .. } => "changed after submission",
    }
}
