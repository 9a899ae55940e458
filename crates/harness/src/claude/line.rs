//! One line of the client's output (`--output-format stream-json`), parsed.
//!
//! This is the only parser of the stream: the reader takes the outcome of a step from it, and the transcript
//! what people see. A line of an unknown type is [`Line::Other`], so that a newer client can be read too.

mod document;
mod target;

use std::borrow::Cow;
use std::path::Path;

use super::mcp;
use crate::entry::{Excerpt, Field};
use crate::event::Event;
use crate::money::{Tokens, micro};
use document::{Block, Document};
use text::sanitise;

/// The meaning of one line.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// A turn begins, in this session and this working directory. `lacks_crew`: the client could not start
    /// the server of crew's tools.
    TurnStarted {
        session: Cow<'a, str>,
        cwd: Cow<'a, str>,
        lacks_crew: bool,
    },
    /// A finished part of a reply.
    Reply(Reply<'a>),
    /// The results of tools.
    ToolResults(Results<'a>),
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
pub(super) struct Reply<'a> {
    /// The message's id.
    pub(super) message: Cow<'a, str>,
    /// The id of the tool use that started the subagent which replies; `None` for the session's own agent.
    pub(super) parent: Option<Cow<'a, str>>,
    /// The time, as the client writes it; may be empty.
    pub(super) at: Cow<'a, str>,
    pub(super) text: Vec<Cow<'a, str>>,
    pub(super) thinking: Vec<Cow<'a, str>>,
    pub(super) tools: Vec<Tool<'a>>,
    pub(super) tokens: Tokens,
    /// The kind of a service failure, when the client put a message about one in place of a reply.
    pub(super) error: Option<Cow<'a, str>>,
}

/// One use of a tool.
#[derive(Debug, PartialEq)]
pub(super) struct Tool<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    /// The part of the input that people recognise the use by: a command, a path, a pattern.
    pub(super) target: Option<String>,
    /// The whole input, each value as far as it is kept.
    pub(super) arguments: Vec<Field>,
}

/// The results of tools that one line has.
#[derive(Debug, PartialEq)]
pub(super) struct Results<'a> {
    /// The id of the tool use that started the subagent whose tools these are.
    pub(super) parent: Option<Cow<'a, str>>,
    /// The time, as the client writes it; may be empty.
    pub(super) at: Cow<'a, str>,
    pub(super) results: Vec<ToolResult<'a>>,
}

/// The result of one use of a tool.
#[derive(Debug, PartialEq)]
pub(super) struct ToolResult<'a> {
    /// The id of the use.
    pub(super) id: Cow<'a, str>,
    /// Whether the tool worked.
    pub(super) ok: bool,
    /// The text, not sanitised.
    pub(super) text: Excerpt,
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

/// A line that was read.
#[derive(Debug, PartialEq)]
pub(super) struct Parsed<'a> {
    pub(super) line: Line<'a>,
    /// Whether it is a line of the client's stream: a document of a known type that names its session. Of a
    /// line that breaks off, the type is enough.
    pub(super) is_of_stream: bool,
}

/// The beginning of a line with a piece of a reply that is being written, as the service and the client order
/// its fields. Most lines are such, and what they say comes again in whole: they are not parsed.
const PIECE: &[u8] = br#"{"type":"stream_event","event":{"type":"content_block_delta","#;

/// Parses a line; `None` when it is not a JSON object. `may_break_off`: the beginning of one is read too.
/// `mended`: room for the line as it is read, where the client has made a slip in it.
pub(super) fn parse<'a>(bytes: &'a [u8], may_break_off: bool, mended: &'a mut String) -> Option<Parsed<'a>> {
    if bytes.starts_with(PIECE) {
        return Some(Parsed {
            line: Line::Other,
            is_of_stream: true,
        });
    }
    let mut document = Document::default();
    let mut is_whole = document.read(bytes);
    if !is_whole && !may_break_off {
        *mended = text::mended_json(&String::from_utf8_lossy(bytes));
        document = Document::default();
        is_whole = document.read(mended.as_bytes());
        if !is_whole {
            return None;
        }
    }
    let is_known = matches!(
        &*document.kind,
        "system" | "assistant" | "user" | "stream_event" | "rate_limit_event" | "result"
    );
    Some(Parsed {
        is_of_stream: is_known && (document.session.is_some() || !is_whole),
        line: document.into_line(),
    })
}

impl<'a> Document<'a> {
    fn into_line(self) -> Line<'a> {
        match (&*self.kind, &*self.subtype) {
            ("system", "init") => Line::TurnStarted {
                session: self.session.unwrap_or_default(),
                cwd: self.cwd,
                lacks_crew: self.servers.lacks_crew,
            },
            ("system", "api_retry") => Line::Retry(Retry {
                attempt: self.attempt.unwrap_or(1),
                status: self.error_status,
                kind: self.error.unwrap_or_default().into_owned(),
                delay_ms: self.retry_delay.and_then(millis),
            }),
            ("system", "permission_denied") => Line::Denied {
                what: denied(&self.tool_name, &self.message.text),
            },
            // A reply without a message is none: the words of the one before it still count.
            ("assistant", _) if self.message.is_nothing() && self.error.is_none() => Line::Other,
            ("assistant", _) => Line::Reply(self.into_reply()),
            ("user", _) => Line::ToolResults(Results {
                parent: self.parent,
                at: self.timestamp,
                results: self
                    .message
                    .content
                    .into_iter()
                    .filter(|block| block.kind == "tool_result")
                    .map(|block| ToolResult {
                        id: block.tool_use_id,
                        ok: !block.is_error,
                        text: block.result.into_excerpt(),
                    })
                    .collect(),
            }),
            ("stream_event", _) => match &*self.event.kind {
                "message_start" => Line::ReplyStarted(self.event.message_tokens),
                "message_delta" => Line::ReplyUsage(self.event.tokens),
                _ => Line::Other,
            },
            ("rate_limit_event", _) if self.limit.is_rejected => Line::Limited {
                until_ms: self.limit.resets_at.map(|seconds| seconds.saturating_mul(1_000)),
            },
            ("result", _) => Line::TurnEnded(Box::new(self.into_result())),
            _ => Line::Other,
        }
    }

    fn into_reply(self) -> Reply<'a> {
        let message = self.message;
        let error = match self.error {
            None if message.model == "<synthetic>" => Some(Cow::default()),
            error => error,
        };
        let mut reply = Reply {
            message: message.id,
            parent: self.parent,
            at: self.timestamp,
            tokens: message.tokens,
            error,
            ..Reply::default()
        };
        for block in message.content {
            let Block {
                kind,
                text,
                thinking,
                id,
                name,
                input,
                ..
            } = block;
            match &*kind {
                "text" => reply.text.push(text),
                "thinking" => reply.thinking.push(thinking),
                "tool_use" => reply.tools.push(Tool {
                    id,
                    name,
                    target: input.target,
                    arguments: input.arguments,
                }),
                _ => {}
            }
        }
        reply
    }

    fn into_result(self) -> TurnResult {
        let mut result = TurnResult {
            // A result that does not say whether it is an error is not to be trusted.
            is_error: self.is_error.unwrap_or(true),
            subtype: self.subtype.into_owned(),
            reason: self.reason.into_owned(),
            status: self.api_error_status,
            text: self.result.into_owned(),
            tokens: self.tokens,
            micro_usd: None,
            // A run that failed at once states 0, whatever the session has cost.
            total_micro_usd: self.total_usd.and_then(micro).filter(|total| *total > 0),
        };
        if result.text.is_empty() {
            result.text = self.errors.0.join("; ");
        }
        // These figures are by model, and include the subagents, which `usage` leaves out.
        if let Some((tokens, usd)) = self.used.0 {
            (result.tokens, result.micro_usd) = (tokens, micro(usd));
        }
        result
    }
}

/// A number of milliseconds, which may have a fraction.
fn millis(number: f64) -> Option<u64> {
    let millis = Some(number).filter(|millis| (0.0..=1e12).contains(millis))?;
    // A million times a millionth: `micro` only rounds.
    micro(millis / 1e6)
}

fn denied(tool: &str, message: &str) -> String {
    let message = sanitise::fit(&sanitise::line(message), 200);
    match (sanitise::line(tool), message.is_empty()) {
        (tool, true) => tool,
        (tool, false) => format!("{tool}: {message}"),
    }
}

impl Tool<'_> {
    /// The event of this use, with a name for people: the tool and its target.
    pub(super) fn event(&self, cwd: &str) -> Event {
        let (name, target) = (self.shown_name(), self.shown_target(cwd));
        Event::ToolStart {
            id: shown_id(&self.id),
            name: if target.is_empty() {
                name
            } else {
                format!("{name}: {target}")
            },
        }
    }

    /// The name of the tool, sanitised: crew's tools have the same name from every client.
    pub(super) fn shown_name(&self) -> String {
        match self.of_crew() {
            Some(tool) => format!("crew {tool}"),
            None => shown_tool(&self.name),
        }
    }

    /// The name of the tool, where it is one of crew's; sanitised.
    pub(super) fn of_crew(&self) -> Option<String> {
        self.name.strip_prefix(mcp::PREFIX).map(shown_tool)
    }

    /// The target, sanitised; may be empty. A path inside `cwd` is shown relative.
    pub(super) fn shown_target(&self, cwd: &str) -> String {
        let target = self.target.as_deref().unwrap_or_default();
        let inside = (!cwd.is_empty())
            .then(|| Path::new(target).strip_prefix(cwd).ok()?.to_str())
            .flatten()
            .filter(|inside| !inside.is_empty());
        sanitise::fit(&sanitise::line(inside.unwrap_or(target)), 200)
    }
}

fn shown_tool(name: &str) -> String {
    sanitise::fit(&sanitise::line(name), 60)
}

/// An id that is fit to be shown.
pub(super) fn shown_id(id: &str) -> String {
    sanitise::fit(&sanitise::line(id), 100)
}
