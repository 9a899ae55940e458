//! Words for a trace.

use engine::driver::{Batch, Event};
use engine::{End, Input, Observation, Report};
use model::attempt::Signal;
use model::command::Command;
use model::journal::Write;
use model::ticket::Effect;

/// The decision, for the trace.
pub(crate) fn facts(writes: &[Write]) -> String {
    let mut text = String::new();
    for write in writes {
        for entry in &write.entries {
            text.push_str(&format!("; {} {}", write.stream, entry.fact.name()));
            for effect in &entry.effects {
                text.push_str(&format!(" +{}", name(effect)));
            }
        }
    }
    for (id, answer) in writes.iter().filter_map(|w| w.answers.as_ref()) {
        text.push_str(&format!("; {id}: {answer:?}"));
    }
    text
}

/// The notes beside it, for the trace.
pub(crate) fn notes(batch: &Batch) -> String {
    let refused = batch
        .refused
        .iter()
        .map(|refused| format!("; refused: {refused}"));
    let answers = batch
        .answers
        .iter()
        .map(|(id, answer)| format!("; {id}: {answer:?}"));
    refused.chain(answers).collect()
}

/// An event, in a few words.
pub(crate) fn came_in(event: &Event) -> String {
    match event {
        Event::Input(given) => input(given),
        Event::Observed { seen, whole, .. } => input(&Input::Observed {
            seen: seen.clone(),
            whole: *whole,
        }),
        Event::Performed(performed) => {
            let ordered = &performed.ordered;
            format!(
                "{} {} → {}",
                ordered.ticket,
                name(&ordered.effect),
                came(&performed.report)
            )
        }
        Event::RunEnded(end) => input(&Input::RunEnded(end.clone())),
        Event::CheckEnded(end) => input(&Input::CheckEnded(end.clone())),
        Event::InboxRead(asked) => {
            let asked = asked
                .iter()
                .map(|one| format!("{} asks to {} ({})", one.by, self::asked(&one.command), one.id));
            format!("the inbox: {}", asked.collect::<Vec<_>>().join(", "))
        }
        Event::Woken { due } => {
            let due = due
                .iter()
                .map(|timer| format!(", the timer {} of {} is due", timer.key, timer.stream));
            format!("time has passed{}", due.collect::<String>())
        }
        Event::StopAsked(how) => format!("a signal asks to stop, running steps: {how:?}"),
        Event::SettingsTouched => "somebody edits the settings".to_owned(),
        Event::SettingsRead(_) => "the settings have changed".to_owned(),
    }
}

/// An effect, in a few words.
pub(crate) fn name(effect: &Effect) -> String {
    use model::attempt::Effect as Step;
    match effect {
        Effect::PrepareWorkspace { agent, number, .. } => format!("prepare {agent}#{number}"),
        Effect::Attempt(Step::StartStep { run, .. }) => format!("start {run}"),
        Effect::Attempt(Step::StopRun { run }) => format!("stop {run}"),
        Effect::Attempt(Step::InspectWorkspace { agent }) => format!("inspect {agent}"),
        Effect::Attempt(Step::CreateChild { child }) => format!("create {}", child.id),
        Effect::Unify { .. } => "unify".to_owned(),
        Effect::BuildCandidate { round, .. } => format!("build {round}"),
        Effect::StartCheck { run, command, .. } => format!("check {run} `{command}`"),
        Effect::StartReview { run, .. } => format!("review {run}"),
        Effect::RemoveReview { agent, .. } => format!("remove the checkout of {agent}"),
        Effect::Land { .. } => "land".to_owned(),
        Effect::LookAtProposal { .. } => "look at the pull request".to_owned(),
        Effect::KeepWork { number, .. } => format!("keep #{number}"),
        Effect::RemoveWorkspace { number, .. } => format!("remove #{number}"),
        Effect::WriteFile(filing) => format!("file {:?}", filing.status),
        Effect::AddNote { .. } => "note".to_owned(),
        Effect::CreateTicket(new) => format!("create {}", new.id),
    }
}

/// The core's input.
pub(crate) fn input(given: &Input) -> String {
    match given {
        Input::Reported {
            ticket,
            effect,
            report,
            ..
        } => format!("{ticket} {} → {}", name(effect), came(report)),
        Input::Sampled { run, .. } => format!("a look at {run}"),
        Input::Observed { seen, .. } => match seen.as_slice() {
            [Observation::Read { ticket, status, .. }] => format!("the file of {ticket} has {status:?}"),
            [Observation::Unreadable { ticket, .. }] => format!("the file of {ticket} cannot be read"),
            [Observation::Gone { ticket, .. }] => format!("the file of {ticket} is gone"),
            many => format!("a look at {} files", many.len()),
        },
        Input::Commanded { id, by, command } => format!("{by} asks to {} ({id})", asked(command)),
        Input::TimerDue(timer) => format!("the timer {} of {} is due", timer.key, timer.stream),
        Input::RunEnded(ended) => {
            let how = match &ended.end {
                End::Finished(Signal::None) => "well".to_owned(),
                End::Finished(Signal::Done) => "with DONE".to_owned(),
                End::Finished(Signal::Blocked { .. }) => "blocked".to_owned(),
                End::Finished(Signal::Asked { .. }) => "with a question".to_owned(),
                End::Finished(Signal::WakeupSet { .. }) => "asleep".to_owned(),
                End::Finished(Signal::BrokenUp { .. }) => "broken up".to_owned(),
                End::Failed(failure) => format!("as {}: {}", failure.class.name(), failure.message),
            };
            format!("{} has ended {how}", ended.run)
        }
        Input::CheckEnded(ended) => format!("{} has ended as {:?}", ended.run, ended.outcome),
        Input::TargetSeen(seen) => format!("the target is {}", seen.commit.short()),
        Input::TargetChecked { round, found } => format!("check {round} of the target: {:?}", found.verdict),
        Input::GivenUp { run, failure } => {
            format!(
                "{run} tries in vain: {}, {}",
                failure.class.name(),
                failure.message
            )
        }
        Input::ModesAnnounced { run, modes } => {
            let names: Vec<&str> = modes.iter().map(|mode| mode.name()).collect();
            format!("{run} announces {}", names.join(", "))
        }
        Input::Ticked => "time has passed".to_owned(),
        Input::GitMoved => "git has moved".to_owned(),
        Input::FolderReplaced => "the ticket folder is another one".to_owned(),
    }
}

/// The report of an effect.
pub(crate) fn came(report: &Report) -> String {
    match report {
        Report::WorkspaceReady { base, earlier_work } => {
            let from = if *earlier_work {
                ", with earlier work in it"
            } else {
                ""
            };
            format!("ready on {}{from}", base.short())
        }
        Report::WorkspaceFailed { why } => format!("it could not be made: {why}"),
        Report::SetUpFailed { why, .. } => format!("it could not be set up: {why}"),
        Report::Unified { .. } => "its work is its parent's".to_owned(),
        Report::NotUnified { why } => format!("its work is not its parent's: {why}"),
        Report::StepSpawned => "it runs".to_owned(),
        Report::StepNotSpawned { failure } => format!("it did not start: {}", failure.message),
        Report::WorkspaceMissing => "no workspace is there".to_owned(),
        Report::Stopped => "asked to stop".to_owned(),
        Report::Inspected { workspace } => format!("the workspace is {workspace:?}"),
        Report::Built { candidate, .. } => {
            format!("{} on {}", candidate.commit.short(), candidate.target.short())
        }
        Report::NoCommits => "nothing is committed".to_owned(),
        Report::Conflicted { paths, .. } => format!("conflicts in {}", paths.join(", ")),
        Report::ConflictsAhead { paths } => format!("conflicts with the train in {}", paths.join(", ")),
        Report::BatchInTheWay { entry, paths } => {
            format!("{} edits are in the way of {entry}", paths.len())
        }
        Report::ImportRefused { why } => format!("refused: {why}"),
        Report::Sensitive { paths, .. } => format!("touches {}", paths.join(", ")),
        Report::CouldNotRun { why } => format!("it could not run: {why}"),
        Report::RemoteAway { why } | Report::RemoteRefused { why } | Report::Diverged { why } => why.clone(),
        Report::Hindered { why } => format!("hindered: {why}"),
        Report::CheckSpawned => "the check runs".to_owned(),
        Report::CheckNotSpawned { why } => format!("the check was not started: {why}"),
        Report::PassedBefore => "passed before".to_owned(),
        Report::NotSetUp => "not set up".to_owned(),
        Report::Landed { commit } => format!("the target is at {}", commit.short()),
        Report::Proposed { request } => format!("pull request {}", request.number),
        Report::ProposalSeen { .. } => "the pull request is open".to_owned(),
        Report::ChangesRequested { .. } => "changes are asked for".to_owned(),
        Report::ProposalClosed => "the pull request is closed".to_owned(),
        Report::NotLanded => "the target does not hold it".to_owned(),
        Report::TargetMoved => "the target has moved".to_owned(),
        Report::CheckoutEdited { paths } => format!("{} edits are in the way", paths.len()),
        Report::FileMissing => "no file is there".to_owned(),
        Report::WorkKept { work } => format!("{} pieces of work are kept apart", work.len()),
        Report::Done => "done".to_owned(),
    }
}

/// The command of a person.
pub(crate) fn asked(command: &Command) -> String {
    match command {
        Command::Spawn { name } => format!("spawn {name}"),
        Command::SpawnMany { count } => format!("spawn {count} more"),
        Command::Assign { agent, ticket } => format!("assign {ticket} to {agent}"),
        Command::Kill { agent } => format!("kill {agent}"),
        Command::Cleanup { agent } => format!("clean up after {agent}"),
        Command::Merge { ticket } => format!("merge {ticket}"),
        Command::Retry { ticket } => format!("retry {ticket}"),
        Command::Drop { ticket, .. } => format!("drop {ticket}"),
        Command::SetStatus { ticket, status, .. } => format!("set {ticket} to {}", status.word()),
        Command::WaiveCommitment { ticket, id, .. } => format!("waive commitment {id} of {ticket}"),
        Command::Waive { ticket, .. } => format!("waive {ticket}"),
        Command::CommitTo { ticket, promise } => format!("commit {ticket} to: {promise}"),
        Command::Approve { ticket, .. } => format!("approve {ticket}"),
        Command::Reject { ticket, .. } => format!("reject {ticket}"),
        Command::Answer { agent, text, .. } => format!("answer {agent}: {text}"),
        Command::Wake { agent } => format!("wake {agent}"),
        Command::Say { agent, text } => format!("tell {agent}: {text}"),
        Command::Bait { agent } => format!("bait {agent}"),
        Command::Reap { agent } => format!("reap {agent}"),
        Command::SetMode { agent, mode } => format!("set {agent} to {}", mode.name()),
        Command::Rewind { ticket, commit, at } => format!("rewind {ticket} to {} of {at}", commit.short()),
        Command::Stop { running } => format!("stop, running steps: {running:?}"),
        Command::Tool { run, call, .. } => format!("{} in {run}", call.name()),
        Command::IfIdle { agent, then } => format!("{}, if {agent} is idle", asked(then)),
        Command::IfSeen { seen, then } => format!("{}, if {} is as seen", asked(then), seen.ticket),
    }
}
