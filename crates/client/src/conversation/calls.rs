//! The calls of crew's tools that a step has made, from the folder of its run, where crew has answered them.

use std::collections::{BTreeMap, BTreeSet};

use harness::entry::{Content, Entry, Field};
use model::Time;
use model::call::Call;
use process::{Ask, Asks, Reply, Run};
use serde_json::{Map, Value, json};
use text::sanitise;

/// The arguments by which people recognise a call, the first that it has.
const TARGETS: [&str; 10] = [
    "summary",
    "question",
    "reason",
    "why",
    "says",
    "text",
    "title",
    "mode",
    "ticket",
    "acceptance_test",
];
/// The most columns of such an argument.
const TARGET: usize = 200;
/// The most bytes of a value that is shown.
const VALUE: usize = 4 << 10;

/// A call that crew has answered.
#[derive(Debug)]
pub(super) struct Answered {
    /// When it was sent.
    pub(super) at: Option<Time>,
    /// The name of the tool.
    pub(super) tool: String,
    /// The argument by which people recognise it: one line, may be empty.
    pub(super) target: String,
    /// The arguments.
    pub(super) arguments: Vec<Field>,
    /// Whether it counts.
    pub(super) is_taken: bool,
    /// The answer, of one line or more.
    pub(super) says: String,
}

/// The calls of one run, as far as they are answered.
///
/// A client that prints a stream shows the calls of its agent itself, so they are not shown twice: a call
/// waits there until the next end of a tool shows whether the stream has it.
#[derive(Debug)]
pub(super) struct Calls {
    asks: Asks,
    known: BTreeSet<String>,
    /// Those whose place in the output was not read yet, by that and their ids.
    due: BTreeMap<(u64, String), Answered>,
    /// Those that the client's stream may show.
    held: Vec<Answered>,
    /// Whether the output is a client's stream.
    is_stream: bool,
    /// The calls that the stream has shown and whose answers were not read, by tool.
    shown: BTreeMap<String, usize>,
    /// The name of the tool by which the step has stated its result.
    result: Option<String>,
}

impl Calls {
    pub(super) fn of(run: &Run) -> Self {
        Self {
            asks: Asks::of(run.dir()),
            known: BTreeSet::new(),
            due: BTreeMap::new(),
            held: Vec::new(),
            is_stream: false,
            shown: BTreeMap::new(),
            result: None,
        }
    }

    /// Looks for calls that were answered since the last look. One that cannot be read is left out: the
    /// output is all there is then.
    pub(super) fn look(&mut self) {
        for id in self.asks.list().unwrap_or_default() {
            if self.known.contains(&id) {
                continue;
            }
            let Ok(Some(answer)) = self.asks.answered(&id) else {
                continue;
            };
            if let Ok(Ok(ask)) = self.asks.read(&id) {
                let is_first = self.result.is_none() && answer.reply.accepted;
                if is_first && states_result(&ask) {
                    self.result = Some(sanitise::line(&ask.tool));
                }
                let at = process::sent_at(&id).and_then(|at| i64::try_from(at).ok());
                let call = Answered::of(at.map(Time), ask, &answer.reply);
                self.due.insert((answer.printed, id.clone()), call);
            }
            self.known.insert(id);
        }
    }

    /// The tool by which the step has stated its result: its words for that do not count then.
    pub(super) fn result(&self) -> Option<&str> {
        self.result.as_deref()
    }

    /// Leaves out the calls before this place.
    pub(super) fn skip(&mut self, before: u64) {
        self.due.retain(|(printed, _), _| *printed >= before);
    }

    /// The place of the next call that was not given yet.
    pub(super) fn next(&self) -> Option<u64> {
        self.due.keys().next().map(|(printed, _)| *printed)
    }

    /// The calls up to a place in the output that was read, to be shown there.
    pub(super) fn up_to(&mut self, read: u64) -> Vec<Answered> {
        let rest = self.due.split_off(&(read.saturating_add(1), String::new()));
        let calls = std::mem::replace(&mut self.due, rest).into_values();
        if self.is_stream {
            self.held.extend(calls);
            return Vec::new();
        }
        calls.collect()
    }

    /// All that are left, at the end of the output.
    pub(super) fn rest(&mut self) -> Vec<Answered> {
        let mut calls = self.up_to(u64::MAX - 1);
        calls.extend(self.unshown());
        calls
    }

    /// The calls that are to be shown before an entry of the client's.
    pub(super) fn before(&mut self, entry: &Entry) -> Vec<Answered> {
        match &entry.content {
            Content::ToolStart { of_crew, .. } => {
                self.is_stream = true;
                if let Some(tool) = of_crew {
                    *self.shown.entry(tool.clone()).or_default() += 1;
                }
                Vec::new()
            }
            Content::ToolEnd { .. } => {
                self.is_stream = true;
                self.unshown()
            }
            Content::Started { .. } => {
                self.is_stream = true;
                Vec::new()
            }
            Content::Finished { .. } => self.unshown(),
            Content::Text { .. }
            | Content::Thinking { .. }
            | Content::Signal { .. }
            | Content::Unusable { .. }
            | Content::Usage(_)
            | Content::Retrying { .. }
            | Content::Denied { .. }
            | Content::Note { .. } => Vec::new(),
        }
    }

    /// Those that wait and that the stream has not shown.
    fn unshown(&mut self) -> Vec<Answered> {
        let mut calls = std::mem::take(&mut self.held);
        calls.retain(|call| match self.shown.get_mut(&call.tool) {
            Some(shown) if *shown > 0 => {
                *shown -= 1;
                false
            }
            Some(_) | None => true,
        });
        calls
    }
}

fn states_result(ask: &Ask) -> bool {
    let call = json!({ "tool": ask.tool, "arguments": ask.arguments });
    serde_json::from_value::<Call>(call).is_ok_and(|call| call.is_result())
}

impl Answered {
    fn of(at: Option<Time>, ask: Ask, reply: &Reply) -> Self {
        let arguments = match ask.arguments {
            Value::Object(fields) => fields,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Map::new()
            }
        };
        Self {
            at,
            tool: sanitise::fit(&sanitise::line(&ask.tool), 60),
            target: target(&arguments),
            arguments: arguments.iter().map(|(name, value)| field(name, value)).collect(),
            is_taken: reply.accepted,
            says: sanitise::text(&reply.says),
        }
    }
}

/// The argument by which people recognise a call, in one line.
fn target(arguments: &Map<String, Value>) -> String {
    let tasks = arguments.get("tasks").and_then(Value::as_array);
    let titles = tasks.into_iter().flatten();
    let titles: Vec<&str> = titles
        .filter_map(|task| task.get("title").and_then(Value::as_str))
        .collect();
    let named = TARGETS.iter().find_map(|name| arguments.get(*name)?.as_str());
    let text = named.map_or_else(|| titles.join("; "), str::to_owned);
    sanitise::fit(&sanitise::line(text.trim()), TARGET)
}

fn field(name: &str, value: &Value) -> Field {
    let whole = match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    };
    let kept = &whole[..whole.floor_char_boundary(VALUE)];
    Field {
        name: sanitise::fit(&sanitise::line(name), 60),
        value: sanitise::text(kept),
        left_out: whole.len() - kept.len(),
    }
}
