//! The pieces of every `--json` document: docs/json.md says what they mean. Times are UTC, RFC 3339.

use model::Time;
use model::attempt::{Failure, Usage};
use model::journal::{Fact, State};
use model::policy::budget::Pause;
use model::project::Bar;
use model::view::{self, Act, Agent, Costs, Held, Item, Landed, Line, Sum};
use serde_json::{Value, json};
use store::Fold;

/// An agent.
pub(crate) fn agent(agent: &Agent) -> Value {
    json!({
        "name": agent.name,
        "state": agent.status.name(),
        "symbol": agent.status.symbol(),
        "ticket": agent.ticket,
        "title": agent.title,
        "attempt": agent.attempt,
        "step": agent.step,
        "running": agent.running,
        "run": agent.run,
        "session": agent.session,
        "mode": agent.mode,
        "since": time(agent.since),
        "assigned_at": time(agent.assigned_at),
        "waits_for": agent.waits.as_ref().map(|waits| waits.what.as_str()),
        "waits_until": time(agent.waits.as_ref().and_then(|waits| waits.until)),
        "errors": agent.errors,
        "failure": agent.failure.as_ref().map(failure),
        "usage": usage(agent.usage),
        "totals": {
            "spawned_at": time(agent.totals.spawned_at),
            "last_step_at": time(agent.totals.last_step_at),
            "steps": agent.totals.steps,
            "landed": agent.totals.landed,
            "usage": usage(agent.totals.usage),
        },
    })
}

/// A failed step.
pub(crate) fn failure(failure: &Failure) -> Value {
    json!({
        "class": failure.class.name(),
        "message": failure.message,
        "until": time(failure.until),
    })
}

/// A harness on which no step is started.
pub(crate) fn bar(harness: &str, bar: &Bar) -> Value {
    json!({
        "harness": harness,
        "class": bar.class.name(),
        "message": bar.message,
        "until": time(bar.until),
        "since": time(Some(bar.since)),
        "ticket": bar.ticket,
    })
}

/// What steps used.
pub(crate) fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_micro_usd": usage.cost_micro_usd,
        "estimated_micro_usd": usage.estimated_micro_usd,
    })
}

/// Why no step is started.
pub(crate) fn pause(pause: Option<Pause>) -> Value {
    json!(pause.map(|pause| json!({
        "says": pause.to_string(),
        "until": time(Some(pause.until)),
        "spent_micro_usd": pause.purse.spent_micro_usd,
        "limit_micro_usd": pause.purse.limit_micro_usd,
    })))
}

/// A held ticket.
pub(crate) fn held(held: &Held) -> Value {
    json!({
        "ticket": held.ticket,
        "title": held.title,
        "why": held.why,
        "note": held.note,
        "since": time(Some(held.since)),
        "retry_at": time(held.retry_at),
        "submitted": held.submitted,
    })
}

/// Something that waits for a person.
pub(crate) fn item(item: &Item) -> Value {
    json!({
        "id": item.id,
        "kind": item.kind.name(),
        "urgency": item.urgency,
        "ticket": item.ticket,
        "agent": item.agent,
        "title": item.title,
        "since": time(item.since),
        "why": item.why,
        "until": time(item.until),
        "acts": item.acts.iter().map(act).collect::<Vec<_>>(),
    })
}

fn act(act: &Act) -> Value {
    json!({ "verb": act.verb(), "typed": act.typed(), "wants_text": act.wants_text() })
}

/// A landed ticket.
pub(crate) fn landed(landed: &Landed) -> Value {
    json!({
        "ticket": landed.ticket,
        "title": landed.title,
        "agent": landed.agent,
        "commit": landed.commit,
        "at": time(Some(landed.at)),
        "seq": landed.seq,
        "steps": landed.steps,
        "usage": usage(landed.usage),
    })
}

/// What was paid.
pub(crate) fn costs(costs: &Costs) -> Value {
    let sum = |sum: Sum| json!({ "steps": sum.steps, "failed": sum.failed, "usage": usage(sum.usage) });
    let line = |line: &Line| {
        let mut document = sum(line.sum);
        let charge = line.charge.as_ref();
        let more = json!({
            "ticket": line.ticket,
            "title": line.title,
            "attempt": line.attempt,
            "agent": line.agent,
            "day": line.day.map(|day| day.to_string()),
            "step": charge.map(|charge| charge.step),
            "run": charge.map(|charge| &charge.run),
            "seq": charge.map(|charge| charge.seq),
            "at": time(charge.map(|charge| charge.at)),
            "failure": charge.map(|charge| charge.failed),
        });
        if let (Value::Object(document), Value::Object(more)) = (&mut document, more) {
            document.extend(more);
        }
        document
    };
    json!({
        "lines": costs.lines.iter().map(line).collect::<Vec<_>>(),
        "total": sum(costs.total),
        "running": costs.running,
    })
}

/// An event.
pub(crate) fn event(fold: &Fold) -> Value {
    let body = match &fold.fact {
        Fact::Project(event) => serde_json::to_value(event),
        Fact::Ticket(event) => serde_json::to_value(event),
    };
    json!({
        "seq": fold.seq,
        "at": time(Some(fold.at)),
        "stream": fold.stream.to_string(),
        "version": fold.version,
        "kind": fold.fact.name(),
        "cause": fold.cause,
        "says": view::describe(&fold.fact),
        "state": state_name(&fold.after),
        "event": body.unwrap_or_default(),
    })
}

/// A stream's state, whole.
pub(crate) fn state(state: &State) -> Value {
    match state {
        State::Project(project) => serde_json::to_value(project),
        State::Ticket(ticket) => serde_json::to_value(ticket),
    }
    .unwrap_or_default()
}

/// A stream's state by name.
pub(crate) fn state_name(state: &State) -> String {
    use model::machine::Machine as _;
    match state {
        State::Project(project) => model::project::Machine::state_name(project),
        State::Ticket(ticket) => ticket.state_name(),
    }
}

/// A moment.
pub(crate) fn time(at: Option<Time>) -> Option<String> {
    at.map(|at| at.to_string())
}
