//! A line of the client's output: what of it concerns crew.
//!
//! Fields are looked up by name in whatever order they come, what is missing or of another type is as if it were not
//! there, and what is not known is nothing.

use std::path::Path;

use serde_json::Value;

use crate::event::Event;
use crate::money::{IMPLAUSIBLE, Tokens, micro};
use crate::sanitise;

/// What a line tells.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// A turn begins.
    Init { session: String, cwd: String },
    /// A finished part of a reply.
    Reply(Reply),
    /// Tools came back: their ids, and whether each worked.
    Tools(Vec<(String, bool)>),
    /// A reply begins: what it reads.
    Begun(Tokens),
    /// What the reply that is being written has used so far.
    Grown(Tokens),
    /// The service refused, and it tries again by itself.
    Retry(Retry),
    /// It was not permitted.
    Denied { what: String },
    /// A limit of the user's plan is reached; when it ends, in milliseconds since 1970.
    Limited { until_ms: Option<u64> },
    /// A turn has ended.
    Result(Box<Ended>),
    /// Nothing for crew.
    Other,
}

/// A part of a reply: of one message there are several.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Reply {
    /// The message's id.
    pub(super) message: String,
    /// The use of a tool by which the agent that speaks was started; `None`: the session's own.
    pub(super) parent: Option<String>,
    pub(super) text: Vec<String>,
    pub(super) tools: Vec<Tool>,
    pub(super) tokens: Tokens,
    /// It is no reply, but the client's word for a failure of its service: of this kind.
    pub(super) error: Option<String>,
}

/// A tool that is used.
#[derive(Debug, PartialEq)]
pub(super) struct Tool {
    pub(super) id: String,
    pub(super) name: String,
    /// On what.
    pub(super) on: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Retry {
    pub(super) attempt: u64,
    pub(super) status: Option<u64>,
    pub(super) kind: String,
    pub(super) delay_ms: Option<u64>,
}

/// How a turn has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ended {
    pub(super) is_error: bool,
    pub(super) subtype: String,
    /// Why it stopped: `completed`, `api_error`, `max_turns` …
    pub(super) reason: String,
    /// The service's, when it refused.
    pub(super) status: Option<u64>,
    /// Its last words, or the failure's.
    pub(super) text: String,
    /// What it used since the last of these, as far as it is told.
    pub(super) tokens: Tokens,
    /// What that cost, when the client tells it by itself.
    pub(super) micro_usd: Option<u64>,
    /// The session's running total.
    pub(super) total_micro_usd: Option<u64>,
}

/// Reads a line; `None`: it is no document.
pub(super) fn read(bytes: &[u8]) -> Option<Line> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    value.as_object()?;
    Some(match (text(&value, "type"), text(&value, "subtype")) {
        ("system", "init") => Line::Init {
            session: text(&value, "session_id").to_owned(),
            cwd: text(&value, "cwd").to_owned(),
        },
        ("system", "api_retry") => Line::Retry(Retry {
            attempt: value["attempt"].as_u64().unwrap_or(1),
            status: value["error_status"].as_u64(),
            kind: text(&value, "error").to_owned(),
            delay_ms: millis(&value["retry_delay_ms"]),
        }),
        ("system", "permission_denied") => Line::Denied {
            what: denied(text(&value, "tool_name"), text(&value, "message")),
        },
        ("assistant", _) => Line::Reply(reply(&value)),
        ("user", _) => Line::Tools(tool_results(&value)),
        ("stream_event", _) => streamed(&value),
        ("rate_limit_event", _) => limited(&value["rate_limit_info"]),
        ("result", subtype) => Line::Result(Box::new(ended(&value, subtype))),
        _ => Line::Other,
    })
}

/// Whether it is a line of the client's stream: each has its session, or is a piece of a reply.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    const TYPES: [&str; 6] = [
        "system",
        "assistant",
        "user",
        "stream_event",
        "rate_limit_event",
        "result",
    ];
    let value: Option<Value> = serde_json::from_slice(bytes).ok();
    value.is_some_and(|value| TYPES.contains(&text(&value, "type")) && value["session_id"].is_string())
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Milliseconds, whole or not.
fn millis(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let millis = value.as_f64().filter(|millis| (0.0..=1e12).contains(millis))?;
        // `micro` of thousandths of what is counted in thousandths: rounded.
        micro(millis / 1e6)
    })
}

fn count(usage: &Value, key: &str) -> u64 {
    usage[key]
        .as_u64()
        .filter(|count| *count <= IMPLAUSIBLE)
        .unwrap_or(0)
}

/// As the service counts them.
fn tokens(usage: &Value) -> Tokens {
    Tokens {
        input: count(usage, "input_tokens"),
        output: count(usage, "output_tokens"),
        cache_read: count(usage, "cache_read_input_tokens"),
        cache_write: count(usage, "cache_creation_input_tokens"),
    }
}

fn reply(value: &Value) -> Reply {
    let message = &value["message"];
    let mut reply = Reply {
        message: text(message, "id").to_owned(),
        parent: value["parent_tool_use_id"].as_str().map(str::to_owned),
        tokens: tokens(&message["usage"]),
        error: value["error"].as_str().map(str::to_owned),
        ..Reply::default()
    };
    if text(message, "model") == "<synthetic>" && reply.error.is_none() {
        reply.error = Some(String::new());
    }
    for block in items(&message["content"]) {
        match text(block, "type") {
            "text" => reply.text.push(text(block, "text").to_owned()),
            "tool_use" => reply.tools.push(Tool {
                id: text(block, "id").to_owned(),
                name: text(block, "name").to_owned(),
                on: on(&block["input"]),
            }),
            _ => {}
        }
    }
    reply
}

/// What of a tool's input tells a person on what it is used.
fn on(input: &Value) -> Option<String> {
    const TELLING: [&str; 11] = [
        "command",
        "file_path",
        "notebook_path",
        "path",
        "pattern",
        "url",
        "query",
        "description",
        "skill",
        "name",
        "prompt",
    ];
    TELLING
        .into_iter()
        .map(|key| text(input, key))
        .find(|value| !value.trim().is_empty())
        .map(|value| value.chars().take(sanitise::EXCERPT).collect())
}

fn tool_results(value: &Value) -> Vec<(String, bool)> {
    items(&value["message"]["content"])
        .iter()
        .filter(|block| text(block, "type") == "tool_result")
        .map(|block| {
            let ok = !block["is_error"].as_bool().unwrap_or(false);
            (text(block, "tool_use_id").to_owned(), ok)
        })
        .collect()
}

fn streamed(value: &Value) -> Line {
    let event = &value["event"];
    match text(event, "type") {
        "message_start" => Line::Begun(tokens(&event["message"]["usage"])),
        "message_delta" => Line::Grown(tokens(&event["usage"])),
        _ => Line::Other,
    }
}

fn limited(info: &Value) -> Line {
    if text(info, "status") != "rejected" {
        return Line::Other;
    }
    let seconds = info["resetsAt"]
        .as_u64()
        .filter(|seconds| *seconds <= IMPLAUSIBLE);
    Line::Limited {
        until_ms: seconds.map(|seconds| seconds.saturating_mul(1_000)),
    }
}

fn denied(tool: &str, message: &str) -> String {
    let said = sanitise::fit(&sanitise::line(message), 200);
    match (sanitise::line(tool), said.is_empty()) {
        (tool, true) => tool,
        (tool, false) => format!("{tool}: {said}"),
    }
}

fn ended(value: &Value, subtype: &str) -> Ended {
    let mut ended = Ended {
        // Missing, it is not to be trusted.
        is_error: value["is_error"].as_bool().unwrap_or(true),
        subtype: subtype.to_owned(),
        reason: text(value, "terminal_reason").to_owned(),
        status: value["api_error_status"].as_u64(),
        text: text(value, "result").to_owned(),
        tokens: tokens(&value["usage"]),
        micro_usd: None,
        // A run that came to nothing says 0, whatever the session has cost.
        total_micro_usd: value["total_cost_usd"]
            .as_f64()
            .and_then(micro)
            .filter(|total| *total > 0),
    };
    if ended.text.is_empty() {
        let errors: Vec<&str> = items(&value["errors"]).iter().filter_map(Value::as_str).collect();
        ended.text = errors.join("; ");
    }
    // By model, and with what the agents below it used, which `usage` leaves out.
    if let Some(models) = value["model_usage_since_last_result"].as_object() {
        let (mut all, mut usd) = (Tokens::default(), 0.0);
        for used in models.values() {
            all.add(Tokens {
                input: count(used, "inputTokens"),
                output: count(used, "outputTokens"),
                cache_read: count(used, "cacheReadInputTokens"),
                cache_write: count(used, "cacheCreationInputTokens"),
            });
            usd += used["costUSD"].as_f64().unwrap_or(0.0);
        }
        (ended.tokens, ended.micro_usd) = (all, micro(usd));
    }
    ended
}

impl Tool {
    /// For people: the tool, and on what; a path inside the workspace is told from there.
    pub(super) fn start(&self, cwd: &str) -> Event {
        let name = sanitise::fit(&sanitise::line(&self.name), 60);
        let on = self.on.as_deref().unwrap_or_default();
        let inside = (!cwd.is_empty())
            .then(|| Path::new(on).strip_prefix(cwd).ok()?.to_str())
            .flatten()
            .filter(|inside| !inside.is_empty());
        let on = sanitise::fit(&sanitise::line(inside.unwrap_or(on)), 200);
        Event::ToolStart {
            id: id(&self.id),
            name: if on.is_empty() {
                name
            } else {
                format!("{name}: {on}")
            },
        }
    }
}

/// An id as it may be shown.
pub(super) fn id(id: &str) -> String {
    sanitise::fit(&sanitise::line(id), 100)
}
