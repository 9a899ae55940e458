//! The table of all failpoints: what has happened at each, and what has not yet.

/// A failpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Its name.
    pub name: &'static str,
    /// The operation of crew's that it belongs to.
    pub operation: &'static str,
    /// What has just become durable there, or is about to.
    pub says: &'static str,
}

macro_rules! points {
    ($($operation:literal { $($name:literal: $says:literal,)* })*) => {
        /// All failpoints.
        pub const POINTS: &[Point] = &[$($(Point { name: $name, operation: $operation, says: $says },)*)*];
    };
}

points! {
    "submit ticket" {
        "ask.parsed": "a person's command is understood, and nobody else knows it",
        "ask.asked": "a person's command is in the inbox, and they were not told",
        "inbox.read": "the engine has read a command, and decided nothing",
        "decided.created": "a ticket's file was seen, its event is not in the journal",
        "durable.created": "its event is in the journal, and nothing came of it",
        "decided.edited": "a ticket's file was changed, the event is missing",
        "durable.edited": "the event is in the journal",
        "decided.answered": "a question is answered, the event is missing",
        "durable.answered": "the event is there, the command is not settled for whoever asked",
        "decided.retried": "a held ticket is to go on, the event is missing",
        "durable.retried": "the event is there, nobody was told",
        "decided.dropped": "a ticket is given up, the event is missing",
        "durable.dropped": "the event is there, its file is not written",
        "decided.closed_by_person": "a person has closed an open ticket's file, the event is missing",
        "durable.closed_by_person": "the event is there, nothing came of it",
        "decided.reopened": "a closed file is open again, the event is missing",
        "durable.reopened": "the event is there, nobody has it",
        "decided.file_drifted": "a file does not say what is true, the event is missing",
        "durable.file_drifted": "the event is there, the file is not written",
        "decided.recovery_not_needed": "what a ticket recovers is done, the event is missing",
        "durable.recovery_not_needed": "the event is there, its file is not closed",
        "decided.waived": "a person lets it pass, the event is missing",
        "durable.waived": "the event is there, nobody was told",
        "decided.sensitive_approved": "a person approves of paths, the event is missing",
        "durable.sensitive_approved": "the event is there, nobody was told",
    }
    "journal" {
        "journal.made": "a new journal is whole, under no name",
        "journal.named": "it has its name, which is not durable",
        "journal.begun": "a transaction is open",
        "journal.written": "its rows are written, not committed",
        "journal.committed": "it is committed, and nobody was answered",
        "decided.initialized": "a new project is known to nobody else",
        "durable.initialized": "a new project is in the journal",
        "decided.opened": "an engine is up, the event is missing",
        "durable.opened": "the event is there, and nothing else was done",
        "decided.agents_busy": "work begins, the event is missing",
        "durable.agents_busy": "the event is there",
        "decided.agents_idle": "work pauses, the event is missing",
        "durable.agents_idle": "the event is there",
        "decided.branch_seen": "the target branch was seen first, the event is missing",
        "durable.branch_seen": "the event is there",
        "decided.branch_moved": "somebody has moved the target, the event is missing",
        "durable.branch_moved": "the event is there",
        "decided.target_seen": "the target was looked at, the event is missing",
        "durable.target_seen": "the event is there, no check has begun",
        "decided.target_check_started": "a check runs on the target, the event is missing",
        "durable.target_check_started": "the event is there",
        "decided.target_passed": "the target passes, the event is missing",
        "durable.target_passed": "the event is there, no ticket was given out",
        "decided.target_left_unchecked": "nobody waits for the target's checks, the event is missing",
        "durable.target_left_unchecked": "the event is there, no ticket was given out",
        "decided.agent_spawned": "an agent has a name, the event is missing",
        "durable.agent_spawned": "the event is there",
        "decided.harness_paused": "a service refuses, and nobody else knows",
        "durable.harness_paused": "nobody starts a step before somebody says so",
        "decided.harness_freed": "a person says that it may be tried again, the event is missing",
        "durable.harness_freed": "the event is there, no step was started",
        "decided.day_budget_low": "what the day may cost is soon spent, the event is missing",
        "durable.day_budget_low": "the event is there, nobody was told",
        "decided.day_budget_spent": "what the day may cost is spent, the event is missing",
        "durable.day_budget_spent": "no step is started before the next day",
        "decided.day_budget_free": "there is money again, the event is missing",
        "durable.day_budget_free": "the event is there, no step was started",
        "decided.closing": "an engine is about to end, the event is missing",
        "durable.closing": "the event is there",
        "decided.closed": "an engine has ended its work, the event is missing",
        "durable.closed": "the event is there, the process goes on for a moment",
    }
    "claim" {
        "decided.claimed": "a ticket was selected, and the journal does not know",
        "durable.claimed": "the claim is committed, and nothing of it is performed",
    }
    "provision" {
        "begun.prepare_workspace": "the intent is durable, nothing is there",
        "prepare.refs": "pin and branch are there",
        "prepare.gitdir": "the workspace's git directory and instructions are written, under a passing name",
        "prepare.pooled": "a checkout that was kept is taken, and not yet fitted",
        "prepare.built": "all files are written, under a passing name",
        "prepare.recorded": "whose it is stands beside it",
        "prepare.renamed": "it has its name",
        "set_up.noted": "its set-up is noted, and no command of it has run",
        "set_up.begun": "a command that sets it up runs",
        "performed.prepare_workspace": "all of it is done, the event is missing",
        "decided.workspace_ready": "the report was judged, the event is missing",
        "durable.workspace_ready": "the event is there, the next step was not ordered",
    }
    "spawn" {
        "decided.step_started": "a step is to be started, the event is missing",
        "durable.step_started": "the intent is durable, nothing is there",
        "begun.start_step": "its turn has come",
        "run.written": "the run's folder is written with the prompt, under a passing name",
        "run.made": "it has its name, nothing runs",
        "run.launched": "the shim is on its way, and has said nothing",
        "shim.locked": "the shim has the run's lock, and nobody knows who it is",
        "shim.known": "who it is stands there, the program was not started",
        "shim.spawned": "the program runs, its number is not recorded",
        "shim.child_known": "the number is recorded, the environment still on disk",
        "run.begun": "the engine knows that the shim has begun",
        "performed.start_step": "all of it is done, the event is missing",
        "decided.worker_spawned": "the report was judged, the event is missing",
        "durable.worker_spawned": "the event is there",
    }
    "stream" {
        "shim.ended": "the program has ended, the record is missing",
        "shim.recorded": "the record is there, the lock is held",
        "stream.swept": "nothing of the run is alive, its output is not read",
        "stream.read": "its output is read and understood, nobody was told",
        "decided.step_finished": "the core knows how it ended, the journal does not",
        "durable.step_finished": "the journal knows, and nothing came of it",
        "decided.step_failed": "the core knows that it failed, the journal does not",
        "durable.step_failed": "the journal knows, and nothing came of it",
        "decided.woken": "an agent has slept long enough, the event is missing",
        "durable.woken": "the event is there, no step was started",
        "decided.woken_early": "a person wakes an agent, the event is missing",
        "durable.woken_early": "the event is there, no step was started",
        "decided.wait_timed_out": "nobody has answered in time, the event is missing",
        "durable.wait_timed_out": "the event is there, no step was started",
        "decided.recovered": "a stuck attempt's workspace was looked at, the event is missing",
        "durable.recovered": "the event is there, no step was started",
        "decided.budget_spent": "what a ticket may cost is spent, the event is missing",
        "durable.budget_spent": "the event is there, its file does not say so",
        "decided.budget_raised": "it may cost more, the event is missing",
        "durable.budget_raised": "the event is there, no step was started",
    }
    "submit for merge" {
        "begun.build_candidate": "the intent is durable",
        "import.packed": "the agent's objects are in a pack of nobody's",
        "import.unpacked": "the objects are in the repository, no ref has them",
        "import.branch_moved": "the branch has them, the event is missing",
        "save.committed": "what was not committed is a commit that no ref has",
        "save.imported": "the branch has it, the workspace does not know",
        "save.settled": "the workspace knows, crew's index of it is the old one",
        "candidate.merged": "the merged tree is written",
        "candidate.committed": "the merge is a commit that no ref has",
        "candidate.pinned": "a ref has it, and an earlier candidate of the ticket may have one still",
        "performed.build_candidate": "all of it is done, the event is missing",
        "decided.candidate_built": "the report was judged, the event is missing",
        "durable.candidate_built": "the event is there",
        "decided.conflicted": "there was a conflict, the event is missing",
        "durable.conflicted": "the event is there, no step was started for it",
        "decided.submitted": "work is submitted between two steps, the event is missing",
        "durable.submitted": "the event is there, nothing was built",
        "decided.no_commits": "a branch adds nothing, the event is missing",
        "durable.no_commits": "the event is there, the agent does not know",
        "decided.sensitive": "a person must approve of paths, the event is missing",
        "durable.sensitive": "the event is there, its file does not say so",
    }
    "gate" {
        "decided.check_started": "a candidate is to be checked, the event is missing",
        "durable.check_started": "the intent is durable",
        "decided.check_ordered": "a run of the checks is next, the event is missing",
        "durable.check_ordered": "the event is there, nothing was started",
        "begun.start_check": "a run of the checks is to be started",
        "check.begun": "the checkout is about to be brought to the candidate",
        "check.read": "its files are, what else is there stands",
        "check.ready": "the checkout is ready, the run is not made",
        "check.made": "the run is made, and not noted as the checkout's",
        "performed.start_check": "the run is started, or need not be, the event is missing",
        "check.ended": "the exit code is known, nobody has noted that it passed",
        "decided.check_ended": "the end was judged, the event is missing",
        "durable.check_ended": "the event is there, with the verdict or the next run",
        "decided.checks_passed": "the report was judged, the event is missing",
        "durable.checks_passed": "the event is there, landing was not begun",
        "decided.checks_failed": "it failed, the event is missing",
        "durable.checks_failed": "the event is there, the agent does not know",
        "decided.could_not_run": "the checks could not be run, the event is missing",
        "durable.could_not_run": "the event is there, the ticket is held",
        "decided.diverged": "the local target is ahead of the remote's, the event is missing",
        "durable.diverged": "the event is there, the ticket is held",
        "decided.target_red": "the target alone fails, the event is missing",
        "durable.target_red": "the event is there, the ticket is held",
        "decided.retry_due": "they are to be tried again, the event is missing",
        "durable.retry_due": "the event is there, nothing was built",
    }
    "review and train" {
        "decided.coupled": "work is to be merged on the entry ahead, the event is missing",
        "durable.coupled": "the event is there, nothing was merged",
        "decided.joined_train": "the merge is an entry of the train, the event is missing",
        "durable.joined_train": "the event is there, no checks were ordered on it",
        "decided.trial_passed": "the checks have passed on a prefix, the event is missing",
        "durable.trial_passed": "the event is there, nothing lands yet",
        "decided.trial_failed": "the checks have failed on a prefix, the event is missing",
        "durable.trial_failed": "the event is there, the one at fault is not looked for",
        "decided.trial_cancelled": "the checks of a prefix are of no use any more, the event is missing",
        "durable.trial_cancelled": "the event is there, their run goes on",
        "decided.uncoupled": "an entry leaves the train, the event is missing",
        "durable.uncoupled": "the event is there, nothing was merged anew",
        "decided.batch_landing": "a prefix is to land, the event is missing",
        "durable.batch_landing": "the event is there, the target has not moved",
        "decided.batch_put_off": "an entry of a batch cannot land now, the event is missing",
        "durable.batch_put_off": "the event is there, the entries before it wait",
        "decided.review_claimed": "a gatekeeper gets a candidate, the event is missing",
        "durable.review_claimed": "the event is there, no step was ordered",
        "decided.review_started": "a step of a review is to be started, the event is missing",
        "durable.review_started": "the event is there, nothing was started",
        "decided.review_spawned": "the report was judged, the event is missing",
        "durable.review_spawned": "the event is there",
        "decided.review_finished": "the core knows how a review's step ended, the event is missing",
        "durable.review_finished": "the event is there, with the verdict or without",
        "decided.review_failed": "the core knows that a review's step failed, the event is missing",
        "durable.review_failed": "the event is there",
        "decided.review_asked": "a gatekeeper has asked a person, the event is missing",
        "durable.review_asked": "the question is in the inbox",
        "decided.review_answered": "a gatekeeper's question is answered, the event is missing",
        "durable.review_answered": "the event is there, its next step was not ordered",
        "decided.verdict_noted": "the core knows the verdict, the event is missing",
        "durable.verdict_noted": "the event is there, what follows may be too",
        "decided.approved": "enough gatekeepers approve, the event is missing",
        "durable.approved": "the event is there, the work is not merged anew",
        "decided.rejected": "a gatekeeper sends the work back, the event is missing",
        "durable.rejected": "the event is there, no agent knows",
        "decided.review_end_ordered": "a person decides while a gatekeeper is at work, the event is missing",
        "durable.review_end_ordered": "the event is there, the gatekeeper is at work",
        "decided.review_approved": "a person approves in the gatekeeper's place, the event is missing",
        "durable.review_approved": "the event is there, the work is not merged anew",
        "decided.returned": "a person sends the work back, the event is missing",
        "durable.returned": "the event is there, its agent does not know",
        "decided.commitment_added": "an agent makes a commitment, the event is missing",
        "durable.commitment_added": "the event is there, nothing was verified",
        "decided.leftovers_found": "crew has committed files for an agent, the event is missing",
        "durable.leftovers_found": "the event is there, and no file of them is told to the agent",
        "decided.commitment_unmet": "a commitment is not met, the event is missing",
        "durable.commitment_unmet": "the event is there, the agent does not know",
        "decided.commitments_held": "commitments wait for a person's word, the event is missing",
        "durable.commitments_held": "the event is there, nobody was asked",
        "decided.commitments_approved": "a person lets them count, the event is missing",
        "durable.commitments_approved": "the event is there, nothing was verified",
        "decided.tests_held": "far fewer tests ran than on the target, the event is missing",
        "durable.tests_held": "the event is there, nobody was asked",
        "decided.tests_approved": "a person lets the work land with fewer tests, the event is missing",
        "durable.tests_approved": "the event is there, the work is not in line",
        "begun.start_review": "a gatekeeper's turn has come",
        "performed.start_review": "its checkout is there and its step runs, the event is missing",
        "begun.remove_review": "the checkout of a review is to go",
        "performed.remove_review": "it is gone, the event is missing",
    }
    "land" {
        "begun.land": "the intent is durable, nothing was looked at",
        "remote.fetched": "the remote's target is here, nothing was built on it",
        "push.checked": "the checkout can follow, nothing was sent",
        "push.noted": "it is noted that the candidate is sent, nothing was sent",
        "push.sent": "git has ended, and nobody has looked at the remote",
        "push.landed": "the remote has the candidate, the local branch has not moved",
        "propose.noted": "it is noted that the branch is pushed, nothing was sent",
        "propose.pushed": "the remote has the branch, there is no pull request",
        "propose.created": "there is a pull request, the event is missing",
        "propose.merged": "crew has merged a pull request, the event is missing",
        "decided.proposed": "there is a pull request, the event is missing",
        "durable.proposed": "the event is there, nothing was looked at",
        "decided.look_ordered": "a pull request is to be looked at, the event is missing",
        "durable.look_ordered": "the event is there, nothing was looked at",
        "begun.look_at_proposal": "a pull request is to be looked at",
        "performed.look_at_proposal": "it was looked at, the event is missing",
        "decided.proposal_seen": "a pull request was looked at, the event is missing",
        "durable.proposal_seen": "the event is there, with the time of the next look",
        "decided.proposal_unseen": "a pull request could not be looked at, the event is missing",
        "durable.proposal_unseen": "the event is there, with the time of the next look",
        "decided.changes_requested": "people want changes, the event is missing",
        "durable.changes_requested": "the event is there, the ticket is in the queue",
        "decided.proposal_closed": "a pull request was closed, the event is missing",
        "durable.proposal_closed": "the event is there, the ticket is held",
        "land.index_locked": "the checkout's index is locked",
        "land.checked": "the checkout can follow",
        "follow.written_out": "new files are written out, half their names missing",
        "follow.staged": "new files and index wait beside the checkout",
        "land.ready": "all is durable, the ref is not moved",
        "land.moved": "the ref is moved, the event is missing, the checkout is behind",
        "follow.index": "the index is the new one, the files are the old",
        "follow.moved_aside": "a deleted file is out of the way, and was not looked at",
        "follow.deleted": "a deletion is done",
        "follow.exchanged": "a changed file is in place, the old one was not looked at",
        "follow.written": "a file is done",
        "follow.files": "all files are",
        "follow.index_built": "the index with their times waits",
        "follow.refreshed": "it is in place",
        "follow.cleaned": "nothing is left beside the checkout, the lock is",
        "land.followed": "a checkout has followed",
        "candidate.unpinned": "the target is all that has the candidate",
        "performed.land": "all of it is done, the event is missing",
        "decided.target_moved": "somebody else has moved the target, the event is missing",
        "durable.target_moved": "the event is there, nothing was built anew",
        "decided.checkout_edited": "a person's edits are in the way, the event is missing",
        "durable.checkout_edited": "the event is there, nobody was told",
        "decided.landing_retried": "landing is to be tried again, the event is missing",
        "durable.landing_retried": "the event is there, nothing was looked at",
        "decided.landed": "the report was judged, the event is missing",
        "durable.landed": "the event is there, the ticket is not closed",
        "begun.write_file": "a ticket's file is to be written",
        "file.put": "its new content is durable, under a passing name",
        "file.exchanged": "it is in place, what it displaced was not looked at",
        "file.placed": "it is in place, and not durable",
        "performed.write_file": "it is written, nobody was told: closed, and the branch is not archived",
        "call.sent": "an agent's call stands in the folder of its run, and nobody has seen it",
        "call.seen": "an agent's call was seen, and is in no inbox",
        "call.asked": "it is in the inbox, and was not decided on",
        "call.answered": "its answer stands in the folder of its run",
        "decided.commented": "an agent leaves a note, the event is missing",
        "durable.commented": "the event is there, the note is not in the file",
        "decided.called": "an agent calls its result, the event is missing",
        "durable.called": "the event is there, the agent was not answered",
        "decided.ticket_made": "an agent makes a ticket, the event is missing",
        "durable.ticket_made": "the event is there, its file is not",
        "begun.create_ticket": "the file of a ticket that an agent makes is to be written",
        "performed.create_ticket": "it is written, nobody was told",
        "begun.add_note": "a note is to be written",
        "performed.add_note": "it is written, nobody was told",
    }
    "clean-up" {
        "decided.stop_ordered": "a run is to be stopped, the event is missing",
        "durable.stop_ordered": "the intent is durable",
        "decided.check_stop_ordered": "a check is to be stopped with the engine, the event is missing",
        "durable.check_stop_ordered": "the intent is durable",
        "decided.released": "an attempt is over without a verdict, the event is missing",
        "durable.released": "the event is there, its workspace is there",
        "begun.stop_run": "its turn has come",
        "run.stop_wished": "the wish stands in the run's folder, the shim was not signalled",
        "performed.stop_run": "the shim was signalled, the event is missing",
        "sweep.half": "one of those that are left has its signal, the others have not",
        "begun.keep_work": "the intent is durable",
        "keep.kept": "a tip is kept under a ref",
        "performed.keep_work": "all of it is done, the event is missing",
        "decided.work_kept": "it is known under which refs work is kept, the event is missing",
        "durable.work_kept": "the event is there, nobody was told",
        "begun.remove_workspace": "the intent is durable",
        "remove.rescued": "whatever no ref had is kept",
        "remove.renamed": "the workspace has lost its name",
        "remove.half_pooled": "its checkout is half-way to those that are kept",
        "remove.half": "its files are gone or kept, what stood beside it is left",
        "remove.removed": "all files are gone, branch and pin are left",
        "remove.forgotten": "branch and pin are gone",
        "performed.remove_workspace": "all of it is done, the event is missing",
    }
    "recovery" {
        "recover.loaded": "an engine has read the journal, and done nothing",
        "recover.released": "locks of crew's own that were left behind are gone",
        "recover.adopted": "what still runs is watched, nothing was performed",
        "recover.lock_cleared": "one stale lock of a dead git's is gone, others may stand",
        "sweep.killed": "what a dead shim left is dead, the record is missing",
        "sweep.recorded": "the record is there, the environment still on disk",
    }
    "schema migration" {
        "migrate.begun": "the journal was found to be of an older schema, a transaction is open",
        "migrate.written": "the newer schema is written, not committed",
        "migrate.committed": "it is committed, and nobody has read or written by it",
    }
    "snapshot" {
        "state.written": "what people look at is written anew, under a passing name",
        "state.placed": "it is in place of the old",
    }
    "retention" {
        "archive.chosen": "the engine has a view without the old tickets, and the journal does not know",
        "archive.view_written": "the new view is written in the journal in place of the last, not committed",
        "archive.records_written": "the records of the old tickets are written beside it and their streams archived, not committed",
        "archive.committed": "all of it is committed, the engine still has the old view",
        "trim.chosen": "an old output is to go, and is there",
        "trim.renamed": "it has lost its name, its files are there",
        "trim.removed": "it is gone, others that are to go are there",
    }
    "clean" {
        "clean.begun": "which workspaces there are is noted, and all of them are there",
        "clean.workspace": "one is kept and gone, others stand",
        "clean.put_away": "all that attempts made is kept and gone, their tickets are held",
        "clean.reopened": "the tickets are the queue's again, the journal stands",
        "clean.swept": "nothing of crew's is in the folder of the workspaces, both folders stand",
        "clean.renamed": "crew's own folder has lost its name, its files are there",
        "clean.forgotten": "a commit that was kept is forgotten, others that are to be are kept",
    }
    "delegation" {
        "decided.delegated": "an agent delegates, the event is missing",
        "durable.delegated": "the event is there, the files of its children are not",
        "begun.create_child": "the file of a child is to be written",
        "performed.create_child": "it is written, nobody was told",
        "decided.delegated_by": "the file of a child was seen, the event is missing",
        "durable.delegated_by": "the event is there, nobody has the child",
        "begun.unify": "the work of a child is to come into its parent's workspace",
        "performed.unify": "it is there, nobody was told",
        "decided.unified": "a child's work is its parent's, the event is missing",
        "durable.unified": "the event is there, the next child has not begun",
        "decided.not_unified": "a child's work cannot be its parent's, the event is missing",
        "durable.not_unified": "the event is there, its work was not taken out",
        "decided.children_end_ordered": "the children of an attempt are to end, the event is missing",
        "durable.children_end_ordered": "the event is there, nobody was told",
        "decided.children_over": "all children of an attempt are over, the event is missing",
        "durable.children_over": "the event is there, its agent has not heard of it",
        "decided.landed_with_parent": "a child is done as its parent is, the event is missing",
        "durable.landed_with_parent": "the event is there, its file is not closed",
        "decided.mode_announced": "an agent says how it goes about its ticket, the event is missing",
        "durable.mode_announced": "the event is there",
        "decided.mode_set": "a person sets an agent's mode, the event is missing",
        "durable.mode_set": "the event is there, nobody was told",
        "decided.said": "a person tells an agent something, the event is missing",
        "durable.said": "the event is there, nobody was told",
        "decided.baited": "a person has an agent come to an end, the event is missing",
        "durable.baited": "the event is there, nobody was told",
        "move.noted": "a merge is to come into the files of a workspace, which are as they were",
        "move.filled": "its files are there, its branch is where it was",
        "move.moved": "its branch has it too, the note that it is under way is there",
        "clear.noted": "the unfinished work in a workspace is kept, and is to go out of it",
        "clear.filled": "it is out of the files, its branch is where it was",
    }
    "notify" {
        "notify.noted": "a message is noted as given to a program, which is not started",
        "notify.sent": "the program has taken it, and that is not noted",
        "notify.told": "it is noted as told",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;

    /// Beginnings of the names that the engine's loop puts together from a decision or an effect.
    const COMPOSED: [&str; 4] = ["decided.", "durable.", "begun.", "performed."];

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    #[test]
    fn the_table_and_the_code_have_the_same_points() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut files = Vec::new();
        for one in std::fs::read_dir(crates).unwrap() {
            let one = one.unwrap();
            if one.file_name() != "failpoint" && one.path().join("src").is_dir() {
                sources(&one.path().join("src"), &mut files);
            }
        }
        let text: String = files
            .iter()
            .map(|file| std::fs::read_to_string(file).unwrap())
            .collect();
        let code: Vec<&str> = text
            .split("failpoint::hit(\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap())
            .collect();
        let once: BTreeSet<&str> = code.iter().copied().collect();
        assert_eq!(once.len(), code.len(), "a point is in one place: {code:?}");
        let table: BTreeSet<&str> = POINTS.iter().map(|point| point.name).collect();
        assert_eq!(table.len(), POINTS.len(), "a name stands twice in the table");
        let fixed = |name: &&str| !COMPOSED.iter().any(|composed| name.starts_with(composed));
        let fixed: BTreeSet<&str> = table.into_iter().filter(fixed).collect();
        assert_eq!(fixed, once, "left: the table, right: the code");
    }
}
