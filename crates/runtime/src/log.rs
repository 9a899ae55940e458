//! The log for operators: the events of `tracing` that the engine emits about its own work.
//!
//! Each kind of event has a target of its own ([`TARGETS`]), so that a filter can choose it. No event holds
//! an environment value, a prompt or the text of a person or an agent: those are in the journal, or nowhere.

mod file;
mod writer;

use engine::driver::{Performance, Performed};
use engine::{CheckEnd, End, Postponed, Report, RunEnd};
use model::attempt::Signal;
use model::command::{Asked, Command, Outcome};
use model::journal::{Entry, Fact, Ordered, State, Write};
use model::ticket::{self, CheckCommand, CheckOutcome, Effect};
use model::{AgentName, Oid, TicketId, project};
use process::{Run, Status};

pub use writer::Log;
pub(crate) use writer::Writer;

use crate::{Result, timing};

/// The targets of the log's own events.
pub const TARGETS: [&str; 10] = [
    "check", "command", "decision", "effect", "engine", "hook", "log", "retry", "run", "set_up",
];

/// The columns of a reason at most: git's last words, for instance.
const REASON: usize = 500;

/// The engine has the repository, and begins.
pub(crate) fn engine_started() {
    let version = env!("CARGO_PKG_VERSION");
    tracing::info!(target: "engine", state = "started", pid = std::process::id(), version);
}

/// The engine ends.
pub(crate) fn engine_ended<T>(ended: &Result<T>) {
    match ended {
        Ok(_) => tracing::info!(target: "engine", state = "ended"),
        Err(error) => {
            tracing::error!(target: "engine", state = "failed", why = reason(&text::with_causes(error)));
        }
    }
}

/// A decision, as the log has it once it is durable.
pub(crate) struct Decision {
    stream: String,
    event: &'static str,
    agent: Option<AgentName>,
    fence: Option<u64>,
    /// The merge commit of a landing.
    commit: Option<Oid>,
    cause: String,
    /// The command that it answers, by id.
    answers: Option<(String, Outcome)>,
}

/// The decisions of these writes, before they are given to the journal.
///
/// Whether the log wants them is not asked: after `tracing::enabled!`, a subscriber with a filter for each
/// layer loses the next event of the thread, a warning for a person perhaps.
pub(crate) fn decisions(writes: &[Write]) -> Vec<Decision> {
    let mut decisions = Vec::new();
    for write in writes {
        let mut answers = write.answers.clone();
        for entry in &write.entries {
            decisions.push(Decision {
                stream: write.stream.to_string(),
                event: entry.fact.name(),
                agent: agent(entry).cloned(),
                commit: match &entry.fact {
                    Fact::Ticket(ticket::Event::Landed { commit }) => Some(commit.clone()),
                    Fact::Ticket(_) | Fact::Project(_) => None,
                },
                fence: write.new_fence.or(write.fence).map(|fence| fence.0),
                cause: write.cause.clone(),
                answers: answers.take(),
            });
        }
    }
    decisions
}

/// Decisions are durable, and with them these effects are ordered.
pub(crate) fn recorded(decisions: &[Decision], ordered: &[Ordered]) {
    for decision in decisions {
        tracing::info!(
            target: "decision",
            stream = decision.stream,
            event = decision.event,
            agent = decision.agent.as_ref().map(AgentName::as_str),
            fence = decision.fence,
            commit = decision.commit.as_ref().map(tracing::field::display),
            cause = decision.cause,
        );
        if let Some((id, outcome)) = &decision.answers {
            command_answered(id, outcome);
        }
    }
    for Ordered { id, ticket, effect } in ordered {
        tracing::debug!(target: "effect", state = "ordered", %ticket, effect = name(effect), %id);
    }
}

/// An executor begins with an effect.
pub(crate) fn effect_begun(performance: &Performance) {
    let Ordered { id, ticket, effect } = &performance.ordered;
    let run = effect.run().map(tracing::field::display);
    tracing::debug!(target: "effect", state = "begun", %ticket, effect = name(effect), %id, run);
}

/// An effect was performed, or could not be.
pub(crate) fn effect_ended(performed: &Performed) {
    let Ordered { id, ticket, effect } = &performed.ordered;
    let run = effect.run().map(tracing::field::display);
    let (outcome, why) = outcome(&performed.report);
    let effect = name(effect);
    match why {
        None => tracing::info!(target: "effect", state = "done", %ticket, effect, outcome, %id, run),
        Some(why) => {
            let why = reason(why);
            tracing::warn!(target: "effect", state = "failed", %ticket, effect, outcome, %id, run, why);
        }
    }
}

/// An effect is performed again later, since it failed.
pub(crate) fn effect_retried(postponed: &Postponed) {
    let why = postponed.why.as_deref().map(reason);
    let at = jiff::Timestamp::from_millisecond(postponed.at.0).ok();
    let at = at.map(tracing::field::display);
    tracing::warn!(target: "retry", what = "effect", id = %postponed.effect, at, why);
}

/// The journal cannot be used now, and is tried again after a pause.
pub(crate) fn journal_retried(error: &crate::Error, pause: std::time::Duration) {
    let why = reason(&text::with_causes(error));
    tracing::warn!(target: "retry", what = "journal", after = ?pause, why);
}

/// A run cannot be watched, and is looked at again.
pub(crate) fn watch_retried(run: &model::RunId, error: &str) {
    tracing::warn!(target: "retry", what = "watch", %run, why = reason(error));
}

/// The process of a step is there: it was started now, or before and goes on.
pub(crate) fn run_started(run: &Run) {
    let (pid, spec) = (pid(run), run.spec().ok());
    let command = spec.and_then(|spec| Some(spec.program.file_name()?.to_string_lossy().into_owned()));
    tracing::info!(target: "run", state = "started", run = folder(run), pid, command);
}

/// The end of a run is waited for.
pub(crate) fn run_watched(run: &model::RunId) {
    tracing::debug!(target: "run", state = "watched", %run);
}

/// A step has ended. The text of a failure may be the agent's, and is in the journal.
pub(crate) fn run_ended(end: &RunEnd) {
    let run = &end.run;
    match &end.end {
        End::Finished(signal) => {
            let signal = match signal {
                Signal::None => "none",
                Signal::Done => "done",
                Signal::Blocked { .. } => "blocked",
                Signal::Asked { .. } => "asked",
                Signal::WakeupSet { .. } => "wakeup_set",
                Signal::BrokenUp { .. } => "broken_up",
            };
            tracing::info!(target: "run", state = "ended", %run, signal);
        }
        End::Failed(failure) => {
            tracing::warn!(target: "run", state = "failed", %run, class = failure.class.name());
        }
    }
}

/// The process of a check is there. Of its command only the name of the program is logged.
pub(crate) fn check_started(run: &Run) {
    let (pid, spec) = (pid(run), run.spec().ok());
    let command = spec.and_then(|spec| match crate::check::command_of(&spec) {
        CheckCommand::Shell(line) => program(&line),
        CheckCommand::Argv(argv) => program(argv.first()?),
    });
    tracing::info!(target: "check", state = "started", run = folder(run), pid, command);
}

/// A run of a check has ended. What it printed is in the folder of the run.
pub(crate) fn check_ended(end: &CheckEnd) {
    let run = &end.run;
    let (outcome, why) = match &end.outcome {
        CheckOutcome::Passed => ("passed", None),
        CheckOutcome::Flaky { .. } => ("flaky", None),
        CheckOutcome::PassedBefore => ("passed_before", None),
        CheckOutcome::FewerTests { tests, .. } => ("fewer_tests", Some(tests.to_string())),
        CheckOutcome::Failed { .. } => ("failed", None),
        CheckOutcome::CouldNotRun { why } => ("could_not_run", Some(reason(why))),
        CheckOutcome::Lost { how } => ("lost", Some(how.to_string())),
        CheckOutcome::NotSetUp => ("not_set_up", None),
    };
    tracing::info!(target: "check", state = "ended", %run, outcome, why);
}

/// The process of a command that sets up a workspace is there.
pub(crate) fn set_up_started(run: &Run) {
    let (pid, spec) = (pid(run), run.spec().ok());
    let command = spec.and_then(|spec| program(&spec.args.last()?.to_string_lossy()));
    tracing::info!(target: "set_up", state = "started", run = folder(run), pid, command);
}

/// A command that sets up a workspace has ended, or was ended.
pub(crate) fn set_up_ended(run: &Run, exit: &process::Exit) {
    let (code, signal) = (exit.code, exit.signal);
    let outcome = if exit.is_success() { "passed" } else { "failed" };
    tracing::info!(target: "set_up", state = "ended", run = folder(run), outcome, code, signal);
}

/// The program of a hook runs for a notice, by its row.
pub(crate) fn hook_started(hook: &str, notice: u64) {
    tracing::info!(target: "hook", state = "started", hook, notice);
}

/// The program of a hook has ended, with the end of what it printed where it failed.
pub(crate) fn hook_ended(hook: &str, notice: u64, failure: Option<&str>) {
    match failure {
        None => tracing::info!(target: "hook", state = "ended", hook, notice),
        Some(why) => {
            tracing::warn!(target: "hook", state = "failed", hook, notice, why = reason(why));
        }
    }
}

/// A command was read from the inbox. Its free text, such as an answer, is not logged.
pub(crate) fn command_read(asked: &Asked) {
    let (command, agent) = command_name(&asked.command);
    let agent = agent.map(AgentName::as_str);
    let ticket = asked.command.ticket().map(TicketId::as_str);
    tracing::info!(target: "command", state = "read", id = asked.id, by = asked.by, command, ticket, agent);
}

/// A command was answered.
pub(crate) fn command_answered(id: &str, outcome: &Outcome) {
    match outcome {
        Outcome::Accepted { .. } => tracing::info!(target: "command", state = "accepted", id),
        Outcome::Refused { why } => {
            tracing::warn!(target: "command", state = "refused", id, why = reason(why));
        }
    }
}

/// The agent that an event is about: the one at work on the ticket, or the one that came or went.
fn agent(entry: &Entry) -> Option<&AgentName> {
    match (&entry.fact, &entry.after) {
        (
            Fact::Project(project::Event::AgentSpawned { name } | project::Event::AgentRetired { name, .. }),
            _,
        ) => Some(name),
        (Fact::Ticket(_), State::Ticket(ticket)) => ticket.attempt().map(|attempt| &attempt.claim.agent),
        (Fact::Project(_) | Fact::Ticket(_), _) => None,
    }
}

/// The name of an effect as a word.
fn name(effect: &Effect) -> String {
    timing::name(effect).replace(' ', "_")
}

/// Foreign text as the reason of something, on one line and not too long.
fn reason(why: &str) -> String {
    text::sanitise::fit(&text::sanitise::line(why), REASON)
}

fn folder(run: &Run) -> String {
    let name = run.dir().file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The process id of a run's program.
fn pid(run: &Run) -> Option<u32> {
    match run.status() {
        Ok(Status::Running { started }) => Some(started?.child?.pid),
        Ok(Status::NotStarted | Status::Ended(_) | Status::Lost { .. }) | Err(_) => None,
    }
}

/// The program of a shell command, without the assignments before it, which may hold secrets.
fn program(command: &str) -> Option<String> {
    let word = command.split_whitespace().find(|word| !word.contains('='))?;
    let name = word.rsplit('/').next().unwrap_or(word);
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._+-".contains(character);
    (!name.is_empty() && name.chars().all(is_plain)).then(|| name.to_owned())
}

/// What came of an effect, and the reason if it failed.
fn outcome(report: &Report) -> (&'static str, Option<&str>) {
    match report {
        Report::WorkspaceReady { .. } => ("workspace_ready", None),
        Report::WorkspaceFailed { why } => ("workspace_failed", Some(why)),
        Report::SetUpFailed { why, .. } => ("set_up_failed", Some(why)),
        Report::Unified { .. } => ("unified", None),
        Report::NotUnified { why } => ("not_unified", Some(why)),
        Report::StepSpawned => ("step_spawned", None),
        Report::StepNotSpawned { failure } => ("step_not_spawned", Some(&failure.message)),
        Report::WorkspaceMissing => ("workspace_missing", None),
        Report::Stopped => ("stopped", None),
        Report::Inspected { .. } => ("inspected", None),
        Report::Built { .. } => ("built", None),
        Report::NoCommits => ("no_commits", None),
        Report::Conflicted { .. } => ("conflicted", None),
        Report::ConflictsAhead { .. } => ("conflicts_ahead", None),
        Report::ImportRefused { .. } => ("import_refused", None),
        Report::Sensitive { .. } => ("sensitive", None),
        Report::FileMissing => ("file_missing", None),
        Report::CouldNotRun { why } => ("could_not_run", Some(why)),
        Report::RemoteAway { why } => ("remote_away", Some(why)),
        Report::RemoteRefused { why } => ("remote_refused", Some(why)),
        Report::Diverged { why } => ("diverged", Some(why)),
        Report::Hindered { why } => ("hindered", Some(why)),
        Report::CheckSpawned => ("check_spawned", None),
        Report::CheckNotSpawned { why } => ("check_not_spawned", Some(why)),
        Report::PassedBefore => ("passed_before", None),
        Report::NotSetUp => ("not_set_up", None),
        Report::Landed { .. } => ("landed", None),
        Report::Proposed { .. } => ("proposed", None),
        Report::ProposalSeen { .. } => ("proposal_seen", None),
        Report::ChangesRequested { .. } => ("changes_requested", None),
        Report::ProposalClosed => ("proposal_closed", None),
        Report::NotLanded => ("not_landed", None),
        Report::TargetMoved => ("target_moved", None),
        Report::CheckoutEdited { .. } => ("checkout_edited", None),
        Report::BatchInTheWay { .. } => ("batch_in_the_way", None),
        Report::WorkKept { .. } => ("work_kept", None),
        Report::Done => ("done", None),
    }
}

/// The name of a command, and the agent that it is about.
fn command_name(command: &Command) -> (&'static str, Option<&AgentName>) {
    match command {
        Command::Spawn { name } => ("spawn", Some(name)),
        Command::SpawnMany { .. } => ("spawn_many", None),
        Command::Assign { agent, .. } => ("assign", Some(agent)),
        Command::Kill { agent } => ("kill", Some(agent)),
        Command::Cleanup { agent } => ("cleanup", Some(agent)),
        Command::Merge { .. } => ("merge", None),
        Command::Retry { .. } => ("retry", None),
        Command::Drop { .. } => ("drop", None),
        Command::SetStatus { .. } => ("set_status", None),
        Command::Waive { .. } | Command::WaiveCommitment { .. } => ("waive", None),
        Command::Approve { .. } => ("approve", None),
        Command::Reject { .. } => ("reject", None),
        Command::CommitTo { .. } => ("commit_to", None),
        Command::Answer { agent, .. } => ("answer", Some(agent)),
        Command::Wake { agent } => ("wake", Some(agent)),
        Command::Say { agent, .. } => ("say", Some(agent)),
        Command::Bait { agent } => ("bait", Some(agent)),
        Command::Reap { agent } => ("reap", Some(agent)),
        Command::SetMode { agent, .. } => ("set_mode", Some(agent)),
        Command::Rewind { .. } => ("rewind", None),
        Command::Stop { .. } => ("stop", None),
        Command::Tool { call, .. } => (call.name(), None),
        Command::IfSeen { then, .. } | Command::IfIdle { then, .. } => command_name(then),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_shell_command_only_the_name_of_the_program_is_logged() {
        assert_eq!(program("cargo test --all").as_deref(), Some("cargo"));
        assert_eq!(program("TOKEN=abc ./ci/run.sh x").as_deref(), Some("run.sh"));
        assert_eq!(program("$(cat secret)"), None);
        assert_eq!(program("A=b"), None);
    }

    #[test]
    fn a_reason_is_one_line_without_control_characters() {
        assert_eq!(
            reason("git failed:\n\u{1b}[31mfatal\u{1b}[0m"),
            "git failed: fatal"
        );
        assert!(reason(&"x".repeat(5_000)).len() <= REASON + 3);
    }
}
