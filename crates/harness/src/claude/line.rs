//! One line of the client's output (`--output-format stream-json`), parsed.
//!
//! Fields are looked up by name, in any order. A field of an unexpected type counts as missing, and a line
//! of an unknown type is [`Line::Other`], so that a newer client can be read too.

use std::path::Path;

use serde_json::Value;

use crate::event::Event;
use crate::money::{IMPLAUSIBLE, Tokens, micro};
use text::sanitise;

/// The meaning of one line.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// A turn begins, in this session and this working directory.
    TurnStarted { session: String, cwd: String },
    /// A finished part of a reply.
    Reply(Reply),
    /// The results of tools: the id of each use, and whether it worked.
    ToolResults(Vec<(String, bool)>),
    /// A reply begins, which has used these tokens so far.
    ReplyStarted(Tokens),
    /// The reply that is being written has used these tokens so far.
    ReplyUsage(Tokens),
    /// The service refused, and the client retries by itself.
    Retry(Retry),
    /// The client was not permitted to use a tool.
    Denied { what: String },
    /// A limit of the user's plan is reached, which ends at this time, in milliseconds since 1970.
    Limited { until_ms: Option<u64> },
    /// A turn has ended.
    TurnEnded(Box<TurnResult>),
    /// A line that does not concern crew.
    Other,
}

/// A part of a reply: one message comes in several.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Reply {
    /// The message's id.
    pub(super) message: String,
    /// The id of the tool use that started the subagent which replies; `None` for the session's own agent.
    pub(super) parent: Option<String>,
    pub(super) text: Vec<String>,
    pub(super) tools: Vec<Tool>,
    pub(super) tokens: Tokens,
    /// The kind of a service failure, when the client put a message about one in place of a reply.
    pub(super) error: Option<String>,
}

/// One use of a tool.
#[derive(Debug, PartialEq)]
pub(super) struct Tool {
    pub(super) id: String,
    pub(super) name: String,
    /// The part of the input that people recognise the use by: a command, a path, a pattern.
    pub(super) target: Option<String>,
}

/// A request that the service refused, and that the client will send again.
#[derive(Debug, PartialEq)]
pub(super) struct Retry {
    /// Counted from 1.
    pub(super) attempt: u64,
    /// The HTTP status of the refusal; `None` when there was no answer.
    pub(super) status: Option<u64>,
    pub(super) kind: String,
    pub(super) delay_ms: Option<u64>,
}

/// How a turn ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TurnResult {
    pub(super) is_error: bool,
    pub(super) subtype: String,
    /// The reason for its end: `completed`, `api_error`, `max_turns` …
    pub(super) reason: String,
    /// The HTTP status of the service, when it refused.
    pub(super) status: Option<u64>,
    /// The text of the last reply, or of the failure.
    pub(super) text: String,
    /// The tokens used since the previous result, as far as they are stated.
    pub(super) tokens: Tokens,
    /// The cost of those, in millionths of a US dollar, when the client states it.
    pub(super) micro_usd: Option<u64>,
    /// The session's running total, in millionths of a US dollar.
    pub(super) total_micro_usd: Option<u64>,
}

/// Parses a line; `None` when it is not a JSON object.
pub(super) fn parse(bytes: &[u8]) -> Option<Line> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    value.as_object()?;
    Some(match (text(&value, "type"), text(&value, "subtype")) {
        ("system", "init") => Line::TurnStarted {
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
        ("user", _) => Line::ToolResults(tool_results(&value)),
        ("stream_event", _) => streamed(&value),
        ("rate_limit_event", _) => limited(&value["rate_limit_info"]),
        ("result", subtype) => Line::TurnEnded(Box::new(turn_result(&value, subtype))),
        _ => Line::Other,
    })
}

/// Whether a line is one of the client's stream: a document of a known type that names its session.
pub(super) fn is_of_stream(bytes: &[u8]) -> bool {
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

/// Reads a number of milliseconds, which may have a fraction.
fn millis(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let millis = value.as_f64().filter(|millis| (0.0..=1e12).contains(millis))?;
        // A million times a millionth: `micro` only rounds.
        micro(millis / 1e6)
    })
}

fn count(usage: &Value, key: &str) -> u64 {
    usage[key]
        .as_u64()
        .filter(|count| *count <= IMPLAUSIBLE)
        .unwrap_or(0)
}

/// Reads the tokens of a `usage` object of the service.
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
                target: target(&block["input"]),
            }),
            _ => {}
        }
    }
    reply
}

/// The part of a tool's input that people recognise the use by.
fn target(input: &Value) -> Option<String> {
    const KEYS: [&str; 11] = [
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
    KEYS.into_iter()
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
        "message_start" => Line::ReplyStarted(tokens(&event["message"]["usage"])),
        "message_delta" => Line::ReplyUsage(tokens(&event["usage"])),
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
    let message = sanitise::fit(&sanitise::line(message), 200);
    match (sanitise::line(tool), message.is_empty()) {
        (tool, true) => tool,
        (tool, false) => format!("{tool}: {message}"),
    }
}

fn turn_result(value: &Value, subtype: &str) -> TurnResult {
    let mut result = TurnResult {
        // A result that does not say whether it is an error is not to be trusted.
        is_error: value["is_error"].as_bool().unwrap_or(true),
        subtype: subtype.to_owned(),
        reason: text(value, "terminal_reason").to_owned(),
        status: value["api_error_status"].as_u64(),
        text: text(value, "result").to_owned(),
        tokens: tokens(&value["usage"]),
        micro_usd: None,
        // A run that failed at once states 0, whatever the session has cost.
        total_micro_usd: value["total_cost_usd"]
            .as_f64()
            .and_then(micro)
            .filter(|total| *total > 0),
    };
    if result.text.is_empty() {
        let errors: Vec<&str> = items(&value["errors"]).iter().filter_map(Value::as_str).collect();
        result.text = errors.join("; ");
    }
    // These figures are by model, and include the subagents, which `usage` leaves out.
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
        (result.tokens, result.micro_usd) = (all, micro(usd));
    }
    result
}

impl Tool {
    /// The event of this use, with a name for people: the tool and its target. A path inside `cwd` is shown
    /// relative.
    pub(super) fn event(&self, cwd: &str) -> Event {
        let name = sanitise::fit(&sanitise::line(&self.name), 60);
        let target = self.target.as_deref().unwrap_or_default();
        let inside = (!cwd.is_empty())
            .then(|| Path::new(target).strip_prefix(cwd).ok()?.to_str())
            .flatten()
            .filter(|inside| !inside.is_empty());
        let target = sanitise::fit(&sanitise::line(inside.unwrap_or(target)), 200);
        Event::ToolStart {
            id: shown_id(&self.id),
            name: if target.is_empty() {
                name
            } else {
                format!("{name}: {target}")
            },
        }
    }
}

/// An id that is fit to be shown.
pub(super) fn shown_id(id: &str) -> String {
    sanitise::fit(&sanitise::line(id), 100)
}
