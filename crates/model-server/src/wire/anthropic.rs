//! Anthropic's Messages format, which Claude Code uses.

use serde_json::{Value, json};

use super::{Frame, TurnRequest, Wire, pieces};
use crate::reply::{Block, Reply, new_id};
use crate::tool::OfferedTool;
use crate::turn::{Speaker, Turn};

pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn read(&self, body: &Value) -> TurnRequest {
        let mut turns: Vec<Turn> = Vec::new();
        for message in body["messages"].as_array().into_iter().flatten() {
            let speaker = match message["role"].as_str() {
                Some("assistant") => Speaker::Model,
                Some("user") => Speaker::User,
                _ => continue,
            };
            let text = text(&message["content"]);
            let again = turns.last().is_some_and(|last| last.speaker == Speaker::Model);
            if speaker == Speaker::Model && (again || text == FILLER) {
                continue;
            }
            turns.push(Turn { speaker, text });
        }
        let tools = body["tools"].as_array().into_iter().flatten();
        TurnRequest {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            streams: body["stream"] == true,
            turns,
            tools: tools
                .map(|tool| OfferedTool {
                    name: tool["name"].as_str().unwrap_or_default().to_owned(),
                    schema: tool["input_schema"].clone(),
                })
                .collect(),
        }
    }

    fn whole(&self, reply: &Reply) -> Value {
        let mut message = message(reply);
        message["content"] = reply.blocks.iter().map(block).collect();
        message["stop_reason"] = stop(reply).into();
        message["usage"]["output_tokens"] = reply.usage.output.into();
        message
    }

    fn opening(&self, reply: &Reply) -> Vec<Frame> {
        vec![
            frame("message_start", json!({ "message": message(reply) })),
            frame("ping", json!({})),
        ]
    }

    fn rest(&self, reply: &Reply) -> Vec<Frame> {
        let mut frames = Vec::new();
        for (index, content) in reply.blocks.iter().enumerate() {
            let (begins, deltas) = streamed(content);
            let begin = json!({ "index": index, "content_block": begins });
            frames.push(frame("content_block_start", begin));
            for delta in deltas {
                frames.push(frame(
                    "content_block_delta",
                    json!({ "index": index, "delta": delta }),
                ));
            }
            frames.push(frame("content_block_stop", json!({ "index": index })));
        }
        let end = json!({
            "delta": { "stop_reason": stop(reply), "stop_sequence": null },
            "usage": { "output_tokens": reply.usage.output },
        });
        frames.push(frame("message_delta", end));
        frames.push(frame("message_stop", json!({})));
        frames
    }

    fn failure(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        json!({
            "type": "error",
            "error": { "type": kind, "message": message },
            "request_id": format!("req_{}", new_id()),
        })
    }
}

/// The text that Claude Code puts in the place of a reply when it resumes a conversation that broke off.
const FILLER: &str = "No response requested.";

/// The text of a message's content, without the results of tools.
fn text(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}

/// The message at the start of a stream. The number of output tokens follows at its end.
fn message(reply: &Reply) -> Value {
    json!({
        "id": format!("msg_{}", reply.id),
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": reply.usage.input,
            "cache_creation_input_tokens": reply.usage.cache_write,
            "cache_read_input_tokens": reply.usage.cache_read,
            "output_tokens": 1,
        },
    })
}

fn block(block: &Block) -> Value {
    match block {
        Block::Thinking(thinking) => {
            json!({ "type": "thinking", "thinking": thinking, "signature": SIGNATURE })
        }
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Call { id, name, input } => {
            json!({ "type": "tool_use", "id": format!("toolu_{id}"), "name": name, "input": input })
        }
    }
}

/// A block at its start in a stream, and the deltas that complete it.
fn streamed(content: &Block) -> (Value, Vec<Value>) {
    let mut begins = block(content);
    match content {
        Block::Thinking(thinking) => {
            begins["thinking"] = "".into();
            begins["signature"] = "".into();
            let deltas = vec![
                json!({ "type": "thinking_delta", "thinking": thinking }),
                json!({ "type": "signature_delta", "signature": SIGNATURE }),
            ];
            (begins, deltas)
        }
        Block::Text(text) => {
            begins["text"] = "".into();
            let deltas = pieces(text, 40)
                .into_iter()
                .map(|piece| json!({ "type": "text_delta", "text": piece }));
            (begins, deltas.collect())
        }
        Block::Call { input, .. } => {
            begins["input"] = json!({});
            let deltas = vec![json!({ "type": "input_json_delta", "partial_json": input.to_string() })];
            (begins, deltas)
        }
    }
}

/// The signature of thinking. Clients send it back unchanged, and nobody checks it here.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

fn stop(reply: &Reply) -> String {
    let implied = if reply.has_calls() { "tool_use" } else { "end_turn" };
    reply.stop.clone().unwrap_or_else(|| implied.to_owned())
}

fn frame(event: &'static str, mut data: Value) -> Frame {
    data["type"] = event.into();
    Frame {
        event: Some(event),
        data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Reply;
    use crate::script;

    fn reply(script: &str) -> Reply {
        let script = script::find(script).unwrap().unwrap();
        Reply::of(&script.steps[0], "m", &[])
    }

    #[test]
    fn a_request_is_read_as_turns() {
        let body = json!({
            "model": "m", "stream": true,
            "tools": [{ "name": "Bash", "input_schema": { "properties": { "command": {} } } }],
            "messages": [
                { "role": "user", "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] },
                { "role": "system", "content": "not a turn" },
                { "role": "assistant", "content": [{ "type": "tool_use", "id": "1", "name": "Bash", "input": {} }] },
                { "role": "assistant", "content": "the same turn" },
                { "role": "user", "content": [{ "type": "tool_result", "content": "@@[ not the user's words" }] },
                { "role": "assistant", "content": [{ "type": "text", "text": "No response requested." }] },
            ],
        });
        let asked = Anthropic.read(&body);
        let turns: Vec<(Speaker, &str)> = asked
            .turns
            .iter()
            .map(|turn| (turn.speaker, turn.text.as_str()))
            .collect();
        assert_eq!(
            turns,
            [(Speaker::User, "a\nb"), (Speaker::Model, ""), (Speaker::User, "")]
        );
        assert!(asked.streams);
        assert_eq!(asked.tools[0].name, "Bash");
    }

    #[test]
    fn a_stream_says_what_the_whole_says() {
        let reply =
            reply(r#"@@[[{"thinking":"hm","text":"well","usage":{"in":3,"out":4}},{"bash":"ls"}]]@@"#);
        let whole = Anthropic.whole(&reply);
        assert_eq!(whole["stop_reason"], "tool_use");
        assert_eq!(whole["usage"]["input_tokens"], 3);
        assert_eq!(whole["usage"]["output_tokens"], 4);
        let kinds: Vec<&Value> = whole["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|b| &b["type"])
            .collect();
        assert_eq!(kinds, ["thinking", "text", "tool_use"]);
        let frames: Vec<Frame> = Anthropic
            .opening(&reply)
            .into_iter()
            .chain(Anthropic.rest(&reply))
            .collect();
        let started = &frames[0].data["message"];
        assert_eq!(
            (&started["id"], &started["usage"]["output_tokens"]),
            (&whole["id"], &json!(1))
        );
        let input = frames
            .iter()
            .find_map(|frame| frame.data["delta"]["partial_json"].as_str())
            .unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(input).unwrap(),
            whole["content"][2]["input"]
        );
        assert_eq!(
            frames.last().unwrap().text(),
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
        );
    }

    #[test]
    fn failures_have_the_names_that_clients_know() {
        for (status, kind) in [
            (401, "authentication_error"),
            (429, "rate_limit_error"),
            (500, "api_error"),
        ] {
            assert_eq!(Anthropic.failure(status, "m")["error"]["type"], kind);
        }
    }
}
