//! `.crew/state.json`, in the shape of the Crew seed: for people and scripts; crew itself never reads it.

use serde_json::{Value, json};

use super::{Agent, Snapshot};
use crate::Time;

/// The document. `workspaces` is the folder that workspaces stand in, as an absolute path without a slash at
/// its end.
///
/// Every key of the seed is there with its meaning; `status` is one of the seed's five words (a workspace
/// being made is `ready`, waiting is `working`, being checked is `done`). The further keys are `state` and
/// `symbol` as `crew ps` shows them, `attempt`, `waits_for`, `waits_until`, and the queue's counts. Step
/// count and session belong to the present attempt, the totals to the agent over all its tickets. Times are
/// UTC, RFC 3339.
#[must_use]
pub fn state_json(crew: &Snapshot, workspaces: &str) -> Value {
    let agents: Vec<Value> = crew.agents().iter().map(|agent| one(agent, workspaces)).collect();
    json!({
        "agents": agents,
        "engine": Value::from(engine(crew)),
        "queue": crew.counts(),
        "seq": crew.seq,
        "updated_at": (crew.seq > 0).then(|| crew.at.to_string()),
    })
}

fn engine(crew: &Snapshot) -> &'static str {
    use crate::project::State;
    match crew.project.state {
        State::Uninitialized => "uninitialized",
        State::Initializing => "initializing",
        State::Ready => "ready",
        State::Busy => "busy",
        State::ShuttingDown => "shutting_down",
        State::Closed => "closed",
    }
}

fn one(agent: &Agent, workspaces: &str) -> Value {
    let time = |at: Option<Time>| at.map(|at| at.to_string());
    let place = agent
        .ticket
        .as_ref()
        .map(|ticket| format!("{}-{ticket}", agent.name));
    let usage = agent.totals.usage;
    json!({
        "name": agent.name,
        "session": agent.session.as_ref().map(|session| session.id.to_string()).unwrap_or_default(),
        "worktree": place.as_ref().map(|place| format!("{workspaces}/{place}")),
        "branch": place.as_ref().map(|place| format!("agent/{place}")).unwrap_or_default(),
        "task": agent.ticket,
        "task_assigned_at": time(agent.assigned_at),
        "status": agent.status.seed_name(),
        "state": agent.status.name(),
        "symbol": agent.status.symbol(),
        "attempt": agent.attempt,
        "started_at": time(agent.totals.spawned_at),
        "step_count": agent.step,
        "last_step_at": time(agent.totals.last_step_at),
        "waits_for": agent.waits.as_ref().map(|waits| waits.what.as_str()),
        "waits_until": time(agent.waits.as_ref().and_then(|waits| waits.until)),
        "total_input_tokens": usage.input_tokens,
        "total_output_tokens": usage.output_tokens,
        "total_cost_usd": dollars(usage.cost_micro_usd),
    })
}

/// Millionths of a dollar as a JSON number of dollars.
#[expect(
    clippy::cast_precision_loss,
    reason = "a crew's costs are far below 2^53 millionths of a dollar"
)]
fn dollars(micro: u64) -> f64 {
    micro as f64 / 1e6
}
