//! Scripts: the steps of the model, as JSON in a prompt.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result};

const OPENS: &str = "@@[";
const CLOSES: &str = "]@@";

/// A script. It is checked as a whole, so that a mistake in the last step is found at the first request.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// The steps as they stand in the prompt. Requests for a step are counted by this text.
    pub(crate) source: Vec<Value>,
    pub(crate) steps: Vec<Step>,
}

/// One turn of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Step {
    /// The thinking at the start of the turn.
    pub(crate) thinking: Option<String>,
    /// The texts and the calls of tools, in order. Several calls are parallel.
    pub(crate) ops: Vec<Op>,
    /// The wait before the first byte of the answer.
    pub(crate) delay: Duration,
    /// The wait between two events of the stream.
    pub(crate) chunk: Duration,
    /// The number of requests for this step that meet its fault; without it, every request does.
    pub(crate) times: Option<u32>,
    /// A fault: the wait after the first event of the stream.
    pub(crate) stall: Duration,
    /// A fault: the connection is closed after the first event of the stream.
    pub(crate) cut: bool,
    /// A fault: the service fails in place of an answer.
    pub(crate) failure: Option<Failure>,
    /// The reason to stop, as the wire format names it; without it, the one that follows from the operations.
    pub(crate) stop: Option<String>,
    /// The usage that the answer states.
    pub(crate) usage: Usage,
}

/// A text of the model, or a call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    /// A text.
    Text(String),
    /// A command, run by the shell tool that the client offers.
    Bash(String),
    /// A file, object by the tool that the client offers for it.
    Write {
        /// The path of the file.
        path: String,
        /// The content of the file.
        content: String,
    },
    /// A call of a tool by its name.
    Tool {
        /// The name, as the client has it.
        name: String,
        /// The input.
        input: Value,
    },
}

/// A failure of the service.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The header `retry-after`, in seconds.
    pub(crate) retry_after: Option<u64>,
    /// The message of the error.
    pub(crate) message: String,
}

/// The tokens of one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Usage {
    /// Input that is not cached.
    #[serde(rename = "in")]
    pub(crate) input: u64,
    /// Output.
    #[serde(rename = "out")]
    pub(crate) output: u64,
    /// Input read from the cache.
    pub(crate) cache_read: u64,
    /// Input object to the cache.
    pub(crate) cache_write: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            input: 1000,
            output: 50,
            cache_read: 0,
            cache_write: 0,
        }
    }
}

impl Step {
    /// The step for the n-th request for it, from 1: with its fault, or without.
    #[must_use]
    pub(crate) fn at(self, ask: u32) -> Self {
        if self.times.is_none_or(|times| ask <= times) {
            return self;
        }
        Self {
            stall: Duration::ZERO,
            cut: false,
            failure: None,
            ..self
        }
    }
}

/// One object of a script.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Object {
    bash: Option<String>,
    write: Option<(String, String)>,
    tool: Option<String>,
    input: Option<Value>,
    text: Option<String>,
    thinking: Option<String>,
    delay_ms: Option<u64>,
    chunk_ms: Option<u64>,
    stall_ms: Option<u64>,
    cut: bool,
    status: Option<u16>,
    times: Option<u32>,
    retry_after: Option<u64>,
    message: Option<String>,
    stop: Option<String>,
    usage: Option<Usage>,
}

/// Finds the last script in a text; `None` when there is none.
///
/// # Errors
///
/// [`Error::Script`] when the script is not closed, is not JSON, or has an empty or contradictory step.
pub(crate) fn find(text: &str) -> Option<Result<Script>> {
    let (_, after) = text.rsplit_once(OPENS)?;
    let Some((inside, _)) = after.split_once(CLOSES) else {
        return Some(Err(Error::Script(format!(
            "a script is opened with {OPENS} and never closed with {CLOSES}"
        ))));
    };
    Some(read(&format!("[{inside}]")))
}

fn read(json: &str) -> Result<Script> {
    let source: Vec<Value> = serde_json::from_str(json)
        .map_err(|error| Error::Script(format!("the script is no JSON: {error}; it is {json}")))?;
    let mut steps = Vec::new();
    for (index, value) in source.iter().enumerate() {
        let step = step(value)
            .map_err(|why| Error::Script(format!("step {index} of the script: {why}; it is {value}")))?;
        steps.push(step);
    }
    Ok(Script { source, steps })
}

fn step(value: &Value) -> Result<Step, String> {
    let mut objects = match value {
        Value::Array(parallel) => parallel.iter().map(object).collect::<Result<Vec<_>, _>>()?,
        one => vec![object(one)?],
    }
    .into_iter();
    let Some(first) = objects.next() else {
        return Err("it is an empty array".to_owned());
    };
    let mut ops = operations(&first)?;
    for more in objects {
        if more.has_modifiers() {
            return Err("only the first of parallel calls may have modifiers".to_owned());
        }
        let also = operations(&more)?;
        if also.is_empty() {
            return Err("one of the parallel calls says nothing".to_owned());
        }
        ops.extend(also);
    }
    let is_empty = ops.is_empty() && first.thinking.is_none();
    let has_fault = first.status.is_some() || first.cut || first.stall_ms.is_some();
    if is_empty && (!has_fault || first.times.is_some()) {
        return Err("it has none of text, bash, write and tool".to_owned());
    }
    if first.times.is_some() && !has_fault {
        return Err("times belongs to a status, a cut or a stall".to_owned());
    }
    if first.status.is_none() && (first.retry_after.is_some() || first.message.is_some()) {
        return Err("retry_after and message belong to a status".to_owned());
    }
    if let Some(status) = first.status
        && !(400..600).contains(&status)
    {
        return Err(format!("{status} is no status of a failure"));
    }
    Ok(Step {
        ops,
        delay: milliseconds(first.delay_ms),
        chunk: milliseconds(first.chunk_ms),
        times: first.times,
        stall: milliseconds(first.stall_ms),
        cut: first.cut,
        failure: first.status.map(|status| Failure {
            status,
            retry_after: first.retry_after,
            message: first.message.unwrap_or_else(|| "scripted failure".to_owned()),
        }),
        stop: first.stop,
        usage: first.usage.unwrap_or_default(),
        thinking: first.thinking,
    })
}

fn object(value: &Value) -> Result<Object, String> {
    if !value.is_object() {
        return Err("it is neither an object nor an array of objects".to_owned());
    }
    Object::deserialize(value).map_err(|error| error.to_string())
}

/// The texts and the calls of one object.
fn operations(object: &Object) -> Result<Vec<Op>, String> {
    let mut ops = Vec::new();
    ops.extend(object.text.clone().map(Op::Text));
    let texts = ops.len();
    ops.extend(object.bash.clone().map(Op::Bash));
    ops.extend(
        object
            .write
            .clone()
            .map(|(path, content)| Op::Write { path, content }),
    );
    ops.extend(object.tool.clone().map(|name| {
        Op::Tool {
            name,
            input: object
                .input
                .clone()
                .unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        }
    }));
    if ops.len() - texts > 1 {
        return Err("it has more than one of bash, write and tool; parallel calls are an array".to_owned());
    }
    if object.input.is_some() && object.tool.is_none() {
        return Err("input belongs to a tool".to_owned());
    }
    Ok(ops)
}

impl Object {
    fn has_modifiers(&self) -> bool {
        let Self {
            bash: _,
            write: _,
            tool: _,
            input: _,
            text: _,
            thinking,
            delay_ms,
            chunk_ms,
            stall_ms,
            cut,
            status,
            times,
            retry_after,
            message,
            stop,
            usage,
        } = self;
        let numbers = [delay_ms, chunk_ms, stall_ms, retry_after];
        let words = [thinking, message, stop];
        *cut || status.is_some()
            || times.is_some()
            || usage.is_some()
            || numbers.iter().any(|number| number.is_some())
            || words.iter().any(|word| word.is_some())
    }
}

fn milliseconds(count: Option<u64>) -> Duration {
    Duration::from_millis(count.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<Step> {
        find(text).unwrap().unwrap().steps
    }

    fn refusal(text: &str) -> String {
        find(text).unwrap().unwrap_err().to_string()
    }

    #[test]
    fn the_last_script_of_a_text_counts() {
        let found =
            steps("first @@[{\"text\":\"a\"}]@@ then @@[{\"bash\":\"ls\"}, {\"text\":\"DONE\"}]@@ end");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].ops, [Op::Bash("ls".to_owned())]);
        assert!(find("an @ and an @@ and a [] make none").is_none());
    }

    #[test]
    fn a_step_has_words_calls_and_modifiers() {
        let found = steps(
            r#"@@[[{"text":"both","bash":"a","usage":{"in":7},"thinking":"hm"},{"write":["p","c"]}],
                  {"tool":"T"},{"status":429,"times":2,"retry_after":3,"text":"then"},{"stall_ms":5},{"cut":true}]@@"#,
        );
        assert_eq!(found[0].ops.len(), 3);
        assert_eq!((found[0].usage.input, found[0].usage.output), (7, 50));
        assert_eq!(found[0].thinking.as_deref(), Some("hm"));
        let failure = found[2].failure.as_ref().unwrap();
        assert_eq!(
            (failure.status, found[2].times, failure.retry_after),
            (429, Some(2), Some(3))
        );
        assert_eq!(found[3].stall, Duration::from_millis(5));
        assert!(found[4].cut);
    }

    #[test]
    fn an_error_names_its_step() {
        for (text, why) in [
            ("@@[{\"text\":\"a\"}", "never closed"),
            ("@@[{\"text\":}]@@", "no JSON"),
            (
                "@@[{\"text\":\"a\"},{\"bsh\":\"ls\"}]@@",
                "step 1 of the script: unknown field `bsh`",
            ),
            ("@@[{\"bash\":7}]@@", "step 0 of the script: invalid type"),
            ("@@[\"text\"]@@", "neither an object nor an array"),
            ("@@[{}]@@", "none of text, bash, write and tool"),
            ("@@[[]]@@", "an empty array"),
            ("@@[{\"bash\":\"a\",\"tool\":\"b\"}]@@", "more than one"),
            ("@@[{\"text\":\"a\",\"input\":{}}]@@", "input belongs to a tool"),
            ("@@[{\"text\":\"a\",\"times\":1}]@@", "belongs to a status"),
            ("@@[{\"text\":\"a\",\"retry_after\":1}]@@", "belong to a status"),
            ("@@[{\"status\":200}]@@", "200 is no status of a failure"),
            ("@@[{\"status\":500,\"times\":1}]@@", "none of text"),
            (
                "@@[[{\"bash\":\"a\"},{\"bash\":\"b\",\"delay_ms\":1}]]@@",
                "only the first",
            ),
        ] {
            let refusal = refusal(text);
            assert!(refusal.contains(why), "{text}: {refusal}");
        }
    }
}
