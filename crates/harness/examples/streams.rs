//! Measurement of the readers of a client's stream, beside the skipping of the same lines by serde_json.
//!
//! `cargo run --release -p harness --example streams ROUNDS`: for each round and each stream a line with its
//! name and the speeds in MB a second: of skipping each line, of the engine's reader, and of the transcript.
//! The streams are made up, in the shapes of Claude Code.

use std::hint::black_box;
use std::time::{Duration, Instant};

use harness::{Session, Transcript};
use process::Stream;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// Bytes of each stream.
const SIZE: usize = 8 << 20;
/// Bytes that are read at a time, as the engine does.
const PIECE: usize = 64 << 10;

#[expect(clippy::disallowed_methods, reason = "this is a stopwatch")]
fn now() -> Instant {
    Instant::now()
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok());
    let streams = [
        ("replies", stream(60, 400, 10)),
        ("work", stream(30, 80, 100)),
        ("results", stream(10, 20, 2_000)),
    ];
    for _ in 0..rounds.unwrap_or(5) {
        for (name, stream) in &streams {
            // The fastest of three tries: what else runs on the machine only ever makes one slower.
            let [skip, reader, transcript] = [skip, read, transcribe].map(|what| {
                let tries = [(); 3].map(|()| {
                    let began = now();
                    what(stream);
                    speed(stream.len(), began.elapsed())
                });
                tries.into_iter().fold(0.0, f64::max)
            });
            println!("{name} {skip:.1} {reader:.1} {transcript:.1}");
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn speed(bytes: usize, took: Duration) -> f64 {
    bytes as f64 / 1e6 / took.as_secs_f64()
}

fn skip(stream: &[u8]) {
    for line in stream
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        black_box(serde_json::from_slice::<IgnoredAny>(line)).unwrap_or(IgnoredAny);
    }
}

fn read(stream: &[u8]) {
    let Some(kind) = harness::kind("claude") else {
        return;
    };
    let mut reader = kind.reader(&Session::default(), None);
    for piece in stream.chunks(PIECE) {
        black_box(reader.feed(Stream::Out, piece));
    }
}

fn transcribe(stream: &[u8]) {
    let mut transcript = Transcript::of_agent();
    for piece in stream.chunks(PIECE) {
        transcript.feed(piece, |entry| drop(black_box(entry)));
    }
}

/// A stream of turns, each with a reply that is streamed in so many pieces and has so many words, and a tool
/// whose result has so many lines.
fn stream(pieces: usize, words: usize, lines: usize) -> Vec<u8> {
    const SESSION: &str = "7d8100b1-df01-4a14-bb7e-84006dade19a";
    let mut stream = Vec::new();
    let add = |stream: &mut Vec<u8>, value: &Value| {
        stream.extend_from_slice(value.to_string().as_bytes());
        stream.push(b'\n');
    };
    add(
        &mut stream,
        &json!({"type": "system", "subtype": "init", "cwd": "/home/ada/project", "session_id": SESSION,
            "tools": ["Bash", "Edit", "Read"], "model": "m"}),
    );
    for turn in 0.. {
        let streamed = |event: Value| {
            json!({"type": "stream_event", "event": event, "session_id": SESSION, "parent_tool_use_id": null,
                "uuid": "fd56c7e9-9153-48df-9727-7281755b7718"})
        };
        let usage = json!({"input_tokens": 1000, "output_tokens": 1, "cache_read_input_tokens": 20_000,
            "cache_creation_input_tokens": 300});
        let start =
            json!({"type": "message_start", "message": {"id": format!("msg_{turn}"), "usage": usage}});
        add(&mut stream, &streamed(start));
        for n in 0..pieces {
            // The fields in the order of the service and the client.
            let piece = format!(
                "{{\"type\":\"stream_event\",\"event\":{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\
                 \"text_delta\",\"text\":\" so the {n}th part\"}}}},\"session_id\":\"{SESSION}\",\
                 \"parent_tool_use_id\":null,\"uuid\":\"fd56c7e9-9153-48df-9727-7281755b7718\"}}\n"
            );
            stream.extend_from_slice(piece.as_bytes());
        }
        add(
            &mut stream,
            &streamed(json!({"type": "message_delta", "usage": {"output_tokens": 500}})),
        );
        let text: String = (0..words)
            .map(|n| if n % 12 == 11 { "lines.\n" } else { "word and " })
            .collect();
        let tool = format!("toolu_{turn}");
        let input = json!({"command": "cargo test --workspace", "description": "Run the tests"});
        for block in [
            json!({"type": "text", "text": text}),
            json!({"type": "tool_use", "id": tool, "name": "Bash", "input": input}),
        ] {
            add(
                &mut stream,
                &json!({"type": "assistant", "message": {"content": [block], "id": format!("msg_{turn}"),
                    "model": "m", "role": "assistant", "usage": usage}, "parent_tool_use_id": null,
                    "session_id": SESSION, "timestamp": "2026-11-27T15:15:35.690Z"}),
            );
        }
        let result: String = (0..lines)
            .map(|n| format!("test module_{n}::tests::\"it works\" ... \t ok\n"))
            .collect();
        add(
            &mut stream,
            &json!({"type": "user", "message": {"role": "user", "content": [{"tool_use_id": tool,
                "type": "tool_result", "content": result, "is_error": false}]}, "parent_tool_use_id": null,
                "session_id": SESSION, "timestamp": "2026-11-27T15:15:36.425Z",
                "tool_use_result": {"stdout": result, "stderr": "", "interrupted": false}}),
        );
        if stream.len() > SIZE {
            break;
        }
    }
    add(
        &mut stream,
        &json!({"type": "result", "subtype": "success", "is_error": false, "result": "DONE",
            "session_id": SESSION, "usage": {"input_tokens": 1, "output_tokens": 1}}),
    );
    stream
}
