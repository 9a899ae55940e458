//! The inputs of the core: everything that happened in the world, as values.

use std::collections::BTreeSet;

use model::attempt::{ChildWork, Failure, Mode, Signal, Usage, Workspace};
use model::command::Command;
use model::commitment::Promise;
use model::journal::{EffectId, TimerRef};
use model::moved::Commit;
use model::policy::stall::Sample;
use model::target::{Canary, Verdict};
use model::ticket::{
    Candidate, CheckOutcome, Effect, FileStatus, Fingerprint, InTheWay, KeptWork, Leftovers, Loss, Origin,
    Part, PullRequest, Secret, Seen, Spec, Verdict as ReviewVerdict,
};
use model::{Actor, Oid, RunId, TicketId, Time};

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Ticket files were seen, changed or gone.
    Observed {
        /// The observation of each, in order.
        seen: Vec<Observation>,
        /// Whether that is every file there is: a known ticket without one is gone then.
        whole: bool,
    },
    /// git has moved since an engine last looked at the ticket files: it has taken those that the next look
    /// at every file does not show.
    GitMoved,
    /// The ticket folder is another than the one that an engine saw last: nobody can see who took the files
    /// that the next look at every file does not show.
    FolderReplaced,
    /// A frontend asks for something.
    Commanded {
        /// The command's id in the inbox.
        id: String,
        /// The person or program that asks.
        by: Actor,
        /// The command.
        command: Command,
    },
    /// A timer's time has come.
    TimerDue(TimerRef),
    /// An executor has finished an effect.
    Reported {
        /// The effect's place.
        id: EffectId,
        /// The ticket that ordered it.
        ticket: TicketId,
        /// The effect that was ordered.
        effect: Effect,
        /// The outcome.
        report: Report,
    },
    /// A step's process has ended.
    RunEnded(RunEnd),
    /// A check's process has ended.
    CheckEnded(CheckEnd),
    /// A look at a step or a check that runs.
    Sampled {
        /// Its run.
        run: RunId,
        /// The observation.
        sample: Sample,
    },
    /// A step's client tries again by itself something that cannot succeed. This comes at each look at it.
    GivenUp {
        /// Its run.
        run: RunId,
        /// How the step has failed.
        failure: Failure,
    },
    /// A step's output has come to announcements of modes. Whoever reads it from the beginning reports all of
    /// them again.
    ModesAnnounced {
        /// Its run.
        run: RunId,
        /// The modes so far, in order.
        modes: Vec<Mode>,
    },
    /// The target was looked at: at the start, and when it or the settings have changed.
    TargetSeen(TargetSeen),
    /// The checks of the bare target have gone on, or come to a verdict.
    TargetChecked {
        /// The round, as [`Core::target_to_check`](crate::Core::target_to_check) gave it.
        round: u32,
        /// The outcome.
        found: TargetFound,
    },
    /// Time has passed, or something changed by hand: look at everything again.
    Ticked,
}

/// A look at the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSeen {
    /// Its commit.
    pub commit: Oid,
    /// The tree of that.
    pub tree: Oid,
    /// A digest of the environment that checks get.
    pub environment: String,
    /// Whether a check has still to be tried on broken sources, with the manifests that this tree has.
    pub canary_due: bool,
    /// Whether agents are started on it whatever its checks say.
    pub anyway: bool,
    /// Whether a verdict that was not good is to be looked for again: the engine has just started.
    pub anew: bool,
    /// Whether the branch was not there when it was needed last.
    pub is_back: bool,
    /// What its remote says.
    pub at_remote: AtRemote,
    /// How it has moved; none where that was not looked at, or where it has not.
    pub moved: Option<TargetMoved>,
}

/// Where the target branch is expected, unless somebody but crew has moved it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The commit at which the journal has it; none where the journal does not have this branch.
    pub seen: Option<Oid>,
    /// The landings since then, oldest first.
    pub landed: Vec<Oid>,
}

/// How the target branch is not where it was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetMoved {
    /// [`Expected::seen`], as it was when this was found out.
    pub since: Option<Oid>,
    /// The commits that are new, newest first: those that the remote does not have.
    pub by_hand: Vec<Commit>,
    /// Those that it has.
    pub from_remote: Vec<Commit>,
    /// The commits that are no longer in it.
    pub lost: Vec<Oid>,
}

/// What the remote of the target says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtRemote {
    /// It was not asked, or gave no answer: its last word holds.
    Unasked,
    /// Nothing is in the way of work that is to land: the remote has the target and the local branch can
    /// follow it, or there is no remote.
    Free,
    /// Nothing can land.
    OutOfReach {
        /// Why: one line.
        why: String,
        /// The remedy, where `why` does not name it.
        help: Option<String>,
        /// Whether the cause may pass without a person.
        may_pass: bool,
    },
}

/// The outcome of the checks of the bare target, so far or in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetFound {
    /// The command that runs, or the end.
    pub verdict: Verdict,
    /// The commands that were tried with broken sources.
    pub canaries: Vec<Canary>,
    /// The names of the checks that failed first, and passed when they were repeated.
    pub flaky: Vec<String>,
    /// The last run; none where none was needed.
    pub run: Option<RunId>,
}

/// A look at one ticket file.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "the common one is the large one")]
pub enum Observation {
    /// It can be read.
    Read {
        /// Its id.
        ticket: TicketId,
        /// The content of the file.
        spec: Spec,
        /// Its status.
        status: FileStatus,
        /// crew's own tags in it.
        tags: BTreeSet<String>,
        /// Its notes in the order of the file, without those of crew and of agents.
        notes: Vec<String>,
        /// When it last changed.
        changed_at: Time,
        /// The origin of its content.
        origin: Origin,
        /// Another ticket that the file states to be, and that has no file of its own.
        renamed: Option<TicketId>,
    },
    /// It is there and cannot be read: the last good reading stands.
    Unreadable {
        /// Its id.
        ticket: TicketId,
        /// When that was noticed.
        at: Time,
    },
    /// It is not there any more.
    Gone {
        /// Its id.
        ticket: TicketId,
        /// The origin of that.
        origin: Origin,
        /// Whether git tracks the file: somebody who deletes it can have it back.
        is_tracked: bool,
    },
}

/// The outcome of an effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// The work of a child is committed in the workspace of its parent, or does not merge there.
    Unified {
        /// What it did to the branch; none where that cannot be told.
        work: Option<Box<ChildWork>>,
        /// Why it did not merge.
        unmerged: Option<String>,
        /// The children of its own whose commits are not in its work any more.
        absent: BTreeSet<TicketId>,
    },
    /// The work of a child cannot be brought into the workspace of its parent.
    NotUnified {
        /// Why.
        why: String,
    },
    /// The workspace is whole.
    WorkspaceReady {
        /// The commit its branch was built on.
        base: Oid,
        /// Whether earlier work is in it.
        earlier_work: bool,
    },
    /// The workspace could not be made.
    WorkspaceFailed {
        /// Why.
        why: String,
    },
    /// The workspace was made, could not be set up, and is gone again.
    SetUpFailed {
        /// Why.
        why: String,
        /// The end of what the failed command printed, and on the last line how it ended; empty if no
        /// command ran.
        output: String,
        /// Whether the cause may pass without a person, such as a network that is away.
        may_pass: bool,
        /// Whether every workspace on the target's commit fails for the same cause.
        for_all: bool,
    },
    /// The step's shim runs, or has run.
    StepSpawned,
    /// The step could not be started, and no process of it lives.
    StepNotSpawned {
        /// Why.
        failure: Failure,
    },
    /// The step's workspace is not there.
    WorkspaceMissing,
    /// The run was told to stop; its end is reported apart.
    Stopped,
    /// The workspace was looked at.
    Inspected {
        /// The state of the workspace.
        workspace: Workspace,
    },
    /// The branch was saved, imported and merged on the target.
    Built {
        /// The merged result.
        candidate: Candidate,
        /// The names of the checks of whose paths it changes none.
        untouched: Vec<String>,
        /// The files that its agent had not committed.
        leftovers: Leftovers,
        /// The paths in which its tip resolves conflicts, where that is all that it adds to the tip that was
        /// approved before.
        resolves: Option<Box<[String]>>,
        /// The commits that it would bring to the target, the newest ones.
        ahead: Box<[Oid]>,
        /// The children whose commits are not in its branch any more.
        absent: Box<BTreeSet<TicketId>>,
    },
    /// The branch adds nothing to the target.
    NoCommits,
    /// The branch does not merge.
    Conflicted {
        /// The paths in conflict.
        paths: Vec<String>,
        /// The branch's tip.
        tip: Oid,
        /// The target's.
        target: Oid,
        /// Whether the branch holds the target's commit with which its agent was asked to resolve a conflict.
        resolved: bool,
    },
    /// The branch does not merge on the entry of the train that is ahead of it.
    ConflictsAhead {
        /// The paths in conflict.
        paths: Vec<String>,
    },
    /// The branch holds what may not be taken over.
    ImportRefused {
        /// Why.
        why: String,
    },
    /// It touches paths that a person must approve, or would land what looks like secrets.
    Sensitive {
        /// The paths.
        paths: Vec<String>,
        /// What looks like secrets.
        secrets: Vec<Secret>,
        /// The tip that has them.
        tip: Oid,
    },
    /// The ticket's file is not there, and its folder is.
    FileMissing,
    /// Something outside the agent's reach failed.
    CouldNotRun {
        /// Why.
        why: String,
    },
    /// The remote cannot be reached, and holds nothing of the candidate. That may pass without a person.
    RemoteAway {
        /// Why.
        why: String,
    },
    /// The remote refuses, and holds nothing of the candidate: a person has to mend that, there or here.
    RemoteRefused {
        /// Why.
        why: String,
    },
    /// The local target has commits that the remote's does not have, which holds nothing of the candidate.
    Diverged {
        /// The two branches, and the commands that mend it.
        why: String,
    },
    /// The machine was in the way: no room, no descriptors, no process to be had, a git that somebody killed.
    /// Nobody's failure, and nothing is held for it: it is tried again until it works.
    Hindered {
        /// By what.
        why: String,
    },
    /// The check's shim runs, or has run.
    CheckSpawned,
    /// The check could not be started, and no process of it lives.
    CheckNotSpawned {
        /// Why.
        why: String,
    },
    /// The check need not run: its command passed on this tree before.
    PassedBefore,
    /// The check cannot run before its checkout is set up.
    NotSetUp,
    /// The target is at the merged result.
    Landed {
        /// The merge commit.
        commit: Oid,
    },
    /// The remote has the branch, and a pull request for it.
    Proposed {
        /// The pull request.
        request: PullRequest,
    },
    /// The pull request is open.
    ProposalSeen {
        /// Its state.
        seen: Seen,
    },
    /// People want the pull request changed.
    ChangesRequested {
        /// Their reviews that no agent has been given yet, by the number at the host.
        reviews: Vec<u64>,
        /// Their names at the host.
        by: String,
        /// Their words.
        why: String,
    },
    /// The pull request was closed without a merge.
    ProposalClosed,
    /// The landing was ended, and the target does not hold the merged result.
    NotLanded,
    /// Someone else moved the target, or the candidate is gone.
    TargetMoved,
    /// A person's edits are in the way.
    CheckoutEdited {
        /// The paths that are in the way, each with its obstacle.
        paths: Vec<InTheWay>,
    },
    /// A person's edits are in the way of a batch.
    BatchInTheWay {
        /// The first entry that changes such a path.
        entry: TicketId,
        /// The paths that are in the way, each with its obstacle.
        paths: Vec<InTheWay>,
    },
    /// The workspace is gone, and left work that no branch holds.
    WorkKept {
        /// The work, with the places at which it is kept.
        work: Vec<KeptWork>,
    },
    /// Done; there is nothing to tell.
    Done,
}

impl Report {
    /// The end of a check of which this says that no process was started; none where one may have been.
    #[must_use]
    pub fn check_outcome(&self) -> Option<CheckOutcome> {
        Some(match self {
            Report::PassedBefore => CheckOutcome::PassedBefore,
            Report::NotSetUp => CheckOutcome::NotSetUp,
            Report::CheckNotSpawned { why } => CheckOutcome::Lost {
                how: Loss::NotStarted { why: why.clone() },
            },
            Report::WorkspaceReady { .. }
            | Report::WorkspaceFailed { .. }
            | Report::SetUpFailed { .. }
            | Report::StepSpawned
            | Report::StepNotSpawned { .. }
            | Report::WorkspaceMissing
            | Report::Stopped
            | Report::Inspected { .. }
            | Report::Built { .. }
            | Report::NoCommits
            | Report::Conflicted { .. }
            | Report::ConflictsAhead { .. }
            | Report::BatchInTheWay { .. }
            | Report::ImportRefused { .. }
            | Report::Sensitive { .. }
            | Report::FileMissing
            | Report::CouldNotRun { .. }
            | Report::RemoteAway { .. }
            | Report::RemoteRefused { .. }
            | Report::Diverged { .. }
            | Report::Hindered { .. }
            | Report::TargetMoved
            | Report::CheckSpawned
            | Report::Landed { .. }
            | Report::Proposed { .. }
            | Report::ProposalSeen { .. }
            | Report::ChangesRequested { .. }
            | Report::ProposalClosed
            | Report::NotLanded
            | Report::CheckoutEdited { .. }
            | Report::WorkKept { .. }
            | Report::Unified { .. }
            | Report::NotUnified { .. }
            | Report::Done => return None,
        })
    }
}

/// The end of a check's process.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckEnd {
    /// Its run.
    pub run: RunId,
    /// How it ended.
    pub outcome: CheckOutcome,
    /// The end of its output, where it passed: sanitised.
    pub printed: String,
    /// The number of tests that it ran, where its output says it.
    pub tests: Option<u64>,
}

impl CheckEnd {
    /// The end of a run of whose output nothing is to be kept.
    #[must_use]
    pub fn new(run: RunId, outcome: CheckOutcome) -> Self {
        Self {
            run,
            outcome,
            printed: String::new(),
            tests: None,
        }
    }
}

/// The end of a step's process.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// Its run.
    pub run: RunId,
    /// The tokens and money that it used.
    pub usage: Usage,
    /// The session's running total by the client's own count, in millionths of a US dollar; none when it gave
    /// none.
    pub total_micro_usd: Option<u64>,
    /// The agent's own summary of its work.
    pub summary: Option<String>,
    /// The modes that it announced, in order.
    pub modes: Vec<Mode>,
    /// How it ended.
    pub end: End,
    /// The lines of the agent's that crew could not use, each in a message for the agent; for a gatekeeper's
    /// run, the reason for which its last line is no verdict.
    pub unusable: Vec<String>,
    /// The commitments that the agent has made, in order.
    pub commitments: Vec<Promise>,
    /// The tickets of its agent's that were found when a step ended in the mode break_up: those that it made
    /// since it has its ticket.
    pub made: Vec<Part>,
    /// The state in which a step without a signal left everything, and its words; or the files that a step
    /// which had to be stopped had changed after it had submitted.
    pub left: Option<Fingerprint>,
    /// The verdict that the output ends with; it counts for a gatekeeper's run only.
    pub verdict: Option<ReviewVerdict>,
    /// The end that its output states, where crew stopped its process after that.
    pub stated: Option<End>,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// Well.
    Finished(Signal),
    /// In any other way.
    Failed(Failure),
}
