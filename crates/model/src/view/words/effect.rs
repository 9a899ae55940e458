//! Orders in words.

use crate::attempt::{self, Prompt};
use crate::journal::State;
use crate::ticket::{self, FileStatus};

/// The order, in words, beside the state of the row that has given it: that knows in whose workspace an agent
/// works.
#[must_use]
pub fn describe_effect(effect: &ticket::Effect, after: &State) -> String {
    use ticket::Effect;
    let shared = match after {
        State::Ticket(ticket) => ticket.shared_workspace(),
        State::Project(_) => None,
    };
    match effect {
        Effect::PrepareWorkspace { agent, .. } if let Some(shared) = shared => {
            format!("have {agent} work in the workspace of {}", shared.of)
        }
        Effect::PrepareWorkspace { agent, from, .. } => match from {
            attempt::StartPoint::Target => format!("make the workspace of {agent} on the target"),
            attempt::StartPoint::Rewound { commit } => {
                format!(
                    "make the workspace of {agent} on {}, an earlier commit",
                    commit.short()
                )
            }
            attempt::StartPoint::Revert { commit } => {
                format!(
                    "make the workspace of {agent} with a commit that takes {} back",
                    commit.short()
                )
            }
            attempt::StartPoint::Kept { .. } => {
                format!(
                    "make the workspace of {agent} on the branch that earlier attempts left, or on the target"
                )
            }
        },
        Effect::Attempt(effect) => match effect {
            attempt::Effect::StartStep {
                agent, step, prompt, ..
            } => {
                format!("start step {step} of {agent} ({})", prompt_name(prompt))
            }
            attempt::Effect::StopRun { run } => format!("stop run {run}"),
            attempt::Effect::CreateChild { child } => format!("write the ticket {}", child.id),
            attempt::Effect::InspectWorkspace { agent } => format!("look at the workspace of {agent}"),
        },
        Effect::Unify { agent, .. } => format!("commit what {agent} has not committed"),
        Effect::BuildCandidate { round, .. } => format!("save, import and merge the work (round {round})"),
        Effect::StartCheck { command, commit, .. } => format!("run `{command}` on {}", commit.short()),
        Effect::Land {
            candidate,
            batch: Some(batch),
            ..
        } => format!(
            "move the target to {}, with {}",
            candidate.commit.short(),
            text::counted(batch.entries.len(), "ticket")
        ),
        Effect::StartReview {
            agent,
            step,
            candidate,
            ..
        } => format!(
            "start step {step} of the review of {} by {agent}",
            candidate.commit.short()
        ),
        Effect::LookAtProposal { url, .. } => format!("look at {url}"),
        Effect::RemoveReview { agent, .. } => format!("remove the checkout of {agent}"),
        Effect::Land { candidate, .. } => format!("move the target to {}", candidate.commit.short()),
        Effect::KeepWork { number, .. } => {
            format!("keep the work of attempt {number}, remove workspace and branch")
        }
        Effect::RemoveWorkspace { agent, .. } => format!("remove workspace and branch of {agent}"),
        Effect::WriteFile(filing) => {
            let status = match filing.status {
                FileStatus::Open => "open",
                FileStatus::InProgress => "in_progress",
                FileStatus::Closed => "closed",
            };
            let tags: Vec<&str> = filing.tags.iter().map(String::as_str).collect();
            let tags = match tags.is_empty() {
                true => String::new(),
                false => format!(" and {}", tags.join(", ")),
            };
            let note = filing.note.as_ref();
            let note = note.map(|note| format!(", with the note {}", note.text));
            format!("write {status}{tags} into its file{}", note.unwrap_or_default())
        }
        Effect::CreateTicket(new) => format!("write the file of {}, which its agent has made", new.id),
        Effect::AddNote { text, by: None } => format!("add a note to its file: {text}"),
        Effect::AddNote {
            text,
            by: Some(agent),
        } => format!("add a note of {agent} to its file: {text}"),
    }
}

fn prompt_name(prompt: &Prompt) -> &'static str {
    match prompt {
        Prompt::Init => "init",
        Prompt::Resume => "resume",
        Prompt::Step => "step",
        Prompt::ChecksFailed { which, .. } if which == Prompt::TAKING_OVER => "branch refused",
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
