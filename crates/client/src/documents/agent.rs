//! An agent, as `ps` has it.

use model::attempt::{self, Mode};
use model::view::{self, Role, Status};
use model::{AgentName, Look, Moment, RunId, SessionId, TicketId, session};
use schemars::JsonSchema;
use serde::Serialize;

use super::Usage;
use crate::{activity, outputs};

/// An agent of the roster. The fields about its work belong to the attempt that it is at.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Agent {
    /// Its name.
    name: AgentName,
    /// Its role. A gatekeeper is listed while it is at a review, and the fields about its work belong to
    /// that.
    role: Role,
    /// Its state. Between two steps it is `waiting` while no engine runs.
    state: Status,
    /// The same as a symbol: `○` idle, `◐` preparing or ready, `●` working, `◌` waiting, `◍` verifying, `◎`
    /// reviewing, `✓` done, `!` stuck.
    symbol: &'static str,
    /// The ticket that it works on; `null` when it is idle.
    ticket: Option<TicketId>,
    /// The ticket's title.
    title: Option<String>,
    /// The ticket's n-th attempt, from 1.
    attempt: Option<u32>,
    /// The step that runs, or the last that ended well; 0 before the first.
    step: u32,
    /// `true` while a process of that step may be alive.
    running: bool,
    /// The run of that step, or of the last one: a folder in `.crew/runs/`.
    run: Option<RunId>,
    /// The client's session.
    session: Option<SessionId>,
    /// The state of that session: no client has seen a `new` one, a process talks in an `active` one, and a
    /// `suspended` one waits for the next step. A `corrupt` one is replaced by a new one.
    session_state: Option<session::State>,
    /// The number of sessions of the attempt, this one included.
    session_number: Option<u32>,
    /// Its task mode, until its work is submitted.
    mode: Option<Mode>,
    /// The time since which it is in this state.
    since: Option<Moment>,
    /// The time since which it has the ticket.
    assigned_at: Option<Moment>,
    /// The fact that it waits for, in words; `null` when it waits for nothing.
    waits_for: Option<String>,
    /// The latest end of the wait; `null` when nothing but a fact ends it.
    waits_until: Option<Moment>,
    /// The command that sets up its workspace now; `null` when none runs.
    setting_up: Option<SettingUp>,
    /// What runs in its step at this moment; `null` where nothing is seen of it.
    activity: Option<Activity>,
    /// The silence of its step; `null` while the step shows signs of life, or none runs.
    quiet: Option<Quiet>,
    /// The progress that it has reported last in the step that runs; `null` where it has reported none.
    progress: Option<Progress>,
    /// The tasks that crew has for its ticket and cannot do, however often it tries, each with the reason.
    failing: Vec<String>,
    /// Failed steps in a row.
    errors: u32,
    /// The last of them, or the refusal for which its service asked it to wait.
    failure: Option<Failure>,
    /// The usage of this attempt.
    usage: Usage,
    /// Its sums over all its tickets.
    totals: Totals,
}

/// What runs in the step of an agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Activity {
    /// The program with its first argument, or the tool of the client.
    what: String,
    /// The time at which it began; `null` where that is not known.
    since: Option<Moment>,
}

impl From<activity::Activity> for Activity {
    fn from(activity: activity::Activity) -> Self {
        Self {
            what: activity.what,
            since: activity.since.map(Moment),
        }
    }
}

/// The progress that an agent has reported.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Progress {
    /// The agent's words.
    text: String,
    /// The time of the report.
    at: Moment,
}

impl From<&attempt::Progress> for Progress {
    fn from(progress: &attempt::Progress) -> Self {
        Self {
            text: progress.text.clone(),
            at: Moment(progress.at),
        }
    }
}

/// The silence of a step.
#[derive(Debug, Serialize, JsonSchema)]
struct Quiet {
    /// The time since which the step has shown no sign of life.
    since: Moment,
    /// What is seen of it, in words.
    says: String,
}

/// A command that sets up a workspace.
#[derive(Debug, Serialize, JsonSchema)]
struct SettingUp {
    /// The run: a folder in `.crew/runs/`.
    run: RunId,
    /// The command, as the settings have it.
    command: String,
    /// The time since which it runs; `null` in its first moments.
    since: Option<Moment>,
}

/// The sums of an agent over all its tickets.
#[derive(Debug, Serialize, JsonSchema)]
struct Totals {
    /// The time of its spawning.
    spawned_at: Option<Moment>,
    /// The time at which its last step began or ended.
    last_step_at: Option<Moment>,
    /// Steps that ended well.
    steps: u64,
    /// Tickets that landed.
    landed: u32,
    /// The usage of all its steps.
    usage: Usage,
}

/// The failure of a step.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Failure {
    /// Its kind.
    class: attempt::Class,
    /// The message that was seen.
    message: String,
    /// The time from which the service takes work again, where it named one.
    until: Option<Moment>,
}

impl Agent {
    /// The document of an agent in the snapshot; `failing` are the orders for its ticket that fail.
    pub fn of(
        agent: view::Agent,
        look: Look,
        failing: Vec<String>,
        setting_up: Option<outputs::SettingUp>,
        activity: Option<activity::Activity>,
    ) -> Self {
        let state = agent.status_at(look);
        let (waits_for, waits_until) = match agent.waits {
            Some(waits) => (Some(waits.what), waits.until),
            None => (None, None),
        };
        Self {
            name: agent.name,
            role: agent.role,
            state,
            symbol: state.symbol(),
            ticket: agent.ticket,
            title: agent.title,
            attempt: agent.attempt,
            step: agent.step,
            running: agent.running,
            run: agent.run,
            session_state: agent.session.as_ref().map(|session| session.state),
            session_number: agent.session.as_ref().map(|session| session.number),
            session: agent.session.map(|session| session.id),
            mode: agent.mode,
            since: agent.since.map(Moment),
            assigned_at: agent.assigned_at.map(Moment),
            waits_for,
            waits_until: waits_until.map(Moment),
            setting_up: setting_up.map(|it| SettingUp {
                run: it.run,
                command: it.command,
                since: it.since.map(Moment),
            }),
            activity: activity.map(Activity::from),
            quiet: agent.quiet.map(|quiet| Quiet {
                since: Moment(quiet.since),
                says: quiet.how.to_string(),
            }),
            progress: agent.progress.as_ref().map(Progress::from),
            failing,
            errors: agent.errors,
            failure: agent.failure.as_ref().map(Failure::of),
            usage: Usage::of(agent.usage),
            totals: Totals {
                spawned_at: agent.totals.spawned_at.map(Moment),
                last_step_at: agent.totals.last_step_at.map(Moment),
                steps: agent.totals.steps,
                landed: agent.totals.landed,
                usage: Usage::of(agent.totals.usage),
            },
        }
    }
}

impl Failure {
    /// The document of the failure of a step.
    pub fn of(failure: &attempt::Failure) -> Self {
        Self {
            class: failure.class,
            message: failure.message.clone(),
            until: failure.until.map(Moment),
        }
    }
}
