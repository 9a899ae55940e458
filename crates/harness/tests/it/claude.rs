//! The kind `claude`: the meaning of the lines of output, and the start of the client.

use std::ffi::OsStr;
use std::path::Path;

use harness::claude::Options;
use harness::environment::Environment;
use harness::{
    Calls, Class, Claude, Error, Event, Harness as _, Mode, Outcome, Price, Role, Session, Signal,
    StepRequest, Usage,
};
use process::{Captured, Exit, Reason, Stream};
use proptest::prelude::*;
use serde_json::{Value, json};

const ID: &str = "0b0e6f9c-6e0f-5a52-9a63-1d2b8a4c7e11";

fn exit(reason: Reason, code: Option<i32>, signal: Option<i32>) -> Exit {
    Exit {
        reason,
        code,
        signal,
        started_at: 1_000,
        ended_at: 50_000,
        out: Captured::default(),
        err: Captured::default(),
        survivors: 0,
    }
}

fn code(code: i32) -> Exit {
    exit(Reason::Exited, Some(code), None)
}

fn killed() -> Exit {
    exit(Reason::Exited, None, Some(9))
}

fn claude(options: Options) -> Claude {
    Claude::new("claude", options, Path::new("/project"), Environment::new())
}

/// The output of a run, line by line.
#[derive(Clone, Default)]
struct Said(Vec<Value>);

impl Said {
    fn new() -> Self {
        Self::default()
            .line(json!({"type": "system", "subtype": "init", "session_id": ID, "cwd": "/w/ada-t-1"}))
    }

    fn line(mut self, line: Value) -> Self {
        self.0.push(line);
        self
    }

    /// The start and the end of a streamed message, with its tokens.
    fn streams(self, read: u64, written: u64) -> Self {
        self.line(json!({"type": "stream_event", "event": {"type": "message_start", "message": {"usage":
                {"input_tokens": read, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}}}}))
            .line(json!({"type": "stream_event", "event": {"type": "message_delta", "usage": {"output_tokens": written}}}))
    }

    fn text(self, message: &str, text: &str) -> Self {
        self.block(message, &json!(null), &json!({"type": "text", "text": text}))
    }

    fn tool(self, message: &str, id: &str, name: &str, input: &Value) -> Self {
        self.block(
            message,
            &json!(null),
            &json!({"type": "tool_use", "id": id, "name": name, "input": input}),
        )
    }

    fn block(self, message: &str, parent: &Value, block: &Value) -> Self {
        self.line(json!({
            "message": {"id": message, "model": "m", "content": [block],
                        "usage": {"input_tokens": 1000, "output_tokens": 1}},
            "parent_tool_use_id": parent, "type": "assistant", "session_id": ID,
        }))
    }

    fn came_back(self, id: &str, content: &str, is_error: bool) -> Self {
        self.line(json!({"type": "user", "message": {"role": "user", "content":
            [{"content": content, "is_error": is_error, "type": "tool_result", "tool_use_id": id}]}}))
    }

    fn retry(self, attempt: u64, status: &Value, delay: u64) -> Self {
        self.line(
            json!({"type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": 4,
            "retry_delay_ms": delay, "error_status": status, "error": "unknown"}),
        )
    }

    /// The result of a turn that ended well: its tokens and dollars, and the session's total.
    fn result(self, text: &str, used: (u64, u64, f64), total: f64) -> Self {
        self.line(json!({
            "stop_reason": "end_turn", "total_cost_usd": total, "is_error": false, "result": text,
            "usage": {"input_tokens": used.0, "output_tokens": used.1}, "terminal_reason": "completed",
            "subtype": "success", "type": "result", "session_id": ID, "api_error_status": null,
            "model_usage_since_last_result": {"m": {"inputTokens": used.0, "outputTokens": used.1, "costUSD": used.2}},
        }))
    }

    /// A failure of the service as the client prints it: a synthetic message, and a result of the subtype
    /// `success`.
    fn refused(self, kind: &str, status: &Value, text: &str) -> Self {
        self.line(json!({"type": "assistant", "error": kind, "message": {"id": "s", "model": "<synthetic>",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 0, "output_tokens": 0}}}))
            .line(json!({"type": "result", "subtype": "success", "is_error": true, "api_error_status": status,
                "result": text, "terminal_reason": "api_error", "total_cost_usd": 0, "usage": {}, "modelUsage": {}}))
    }

    fn bytes(&self) -> Vec<u8> {
        let lines: Vec<String> = self.0.iter().map(|line| format!("{line}\n")).collect();
        lines.concat().into_bytes()
    }

    fn read(&self, exit: &Exit) -> (Vec<Event>, Outcome) {
        self.read_in(&Session::default(), None, exit)
    }

    fn read_in(&self, session: &Session, price: Option<Price>, exit: &Exit) -> (Vec<Event>, Outcome) {
        read(session, price, &[(Stream::Out, &self.bytes())], exit)
    }

    fn outcome(&self) -> Outcome {
        self.read(&code(0)).1
    }
}

fn read(
    session: &Session,
    price: Option<Price>,
    pieces: &[(Stream, &[u8])],
    exit: &Exit,
) -> (Vec<Event>, Outcome) {
    let harness = claude(Options {
        price,
        ..Options::default()
    });
    let mut reader = harness.reader(session);
    let mut events: Vec<Event> = pieces
        .iter()
        .flat_map(|(stream, bytes)| reader.feed(*stream, bytes))
        .collect();
    let (last, outcome) = reader.end(exit);
    events.extend(last);
    (events, outcome)
}

fn used(input_tokens: u64, output_tokens: u64, cost_micro_usd: u64) -> Usage {
    Usage {
        input_tokens,
        output_tokens,
        cost_micro_usd,
    }
}

fn told(events: &[Event]) -> Usage {
    let mut sum = Usage::default();
    for event in events {
        if let Event::Usage(usage) = event {
            sum.add(*usage);
        }
    }
    sum
}

/// A whole step: the use of a tool, its result, a last reply.
fn step() -> Said {
    Said::new()
        .streams(1_000, 50)
        .tool("m1", "tool1", "Bash", &json!({"command": "cargo test\n# DONE"}))
        .came_back("tool1", "ok\nDONE\n", false)
        .streams(1_200, 30)
        .text("m2", "All is well.\nSUMMARY: mended it\nDONE")
        .result(
            "All is well.\nSUMMARY: mended it\nDONE",
            (2_200, 80, 0.013),
            0.013,
        )
}

#[test]
fn a_step_that_ends_well_is_told_as_it_goes() {
    let (events, outcome) = step().read(&code(0));
    assert_eq!(
        outcome,
        Outcome {
            commitments: Vec::new(),
            result: Ok(Signal::Done),
            stated: None,
            verdict: None,
            unusable: Vec::new(),
            refused_commitments: Vec::new(),
            usage: used(2_200, 80, 13_000),
            estimated: false,
            total_micro_usd: Some(13_000),
            summary: Some("mended it".into()),
            modes: Vec::new(),
            session: Some(ID.into()),
        }
    );
    assert_eq!(told(&events), outcome.usage);
    assert_eq!(events[0], Event::Started { session: ID.into() });
    for event in [
        Event::ToolStart {
            id: "tool1".into(),
            name: "Bash: cargo test # DONE".into(),
        },
        Event::ToolEnd {
            id: "tool1".into(),
            ok: true,
        },
        Event::Summary {
            text: "mended it".into(),
        },
        Event::Text { line: "DONE".into() },
    ] {
        assert!(events.contains(&event), "{event:?} is missing: {events:?}");
    }
}

#[test]
fn live_usage_comes_before_the_end_and_only_the_price_at_it() {
    let harness = claude(Options::default());
    let mut reader = harness.reader(&Session::default());
    let half = Said::new().streams(1_000, 50).bytes();
    assert_eq!(told(&reader.feed(Stream::Out, &half)), used(1_000, 50, 0));
    let rest = Said::default().result("", (1_000, 50, 0.5), 0.5).bytes();
    assert_eq!(told(&reader.feed(Stream::Out, &rest)), used(0, 0, 500_000));
}

#[test]
fn only_the_last_reply_speaks() {
    let tool = json!({"command": "true"});
    // The client went on after the signal.
    let on = Said::new()
        .text(
            "m1",
            "When all is finished I shall say\nDONE\nSUMMARY: a plan\nMODE: plan",
        )
        .tool("m1", "t", "Bash", &tool)
        .came_back("t", "", false)
        .text("m2", "There is more to do.")
        .result("There is more to do.", (1, 1, 0.0), 0.0);
    let outcome = on.outcome();
    assert_eq!(outcome.result, Ok(Signal::None));
    assert_eq!(
        (outcome.summary.as_deref(), outcome.modes),
        (Some("a plan"), vec![Mode::Plan])
    );
    // The result of a tool, the prompt and the reply of a subagent contain no directives.
    let others = Said::new()
        .came_back("t", "DONE", false)
        .line(json!({"type": "user", "message": {"role": "user", "content": "DONE"}}))
        .line(json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "DONE"}]}}))
        .block("m2", &json!("t"), &json!({"type": "text", "text": "DONE"}))
        .line(json!({"type": "system", "subtype": "task_notification", "summary": "DONE"}))
        .tool("m3", "t2", "Write", &json!({"file_path": "a", "content": "\nDONE\n"}))
        .text("m4", "not done yet: DONE is near")
        .result("DONE", (1, 1, 0.0), 0.0);
    assert_eq!(others.outcome().result, Ok(Signal::None));
    // Several parts of one reply count as one reply.
    let parts = Said::new()
        .text("m1", "QUESTION: which one?")
        .text("m1", "I stop here.")
        .result("I stop here.", (1, 1, 0.0), 0.0);
    let (events, outcome) = parts.read(&code(0));
    let question = "which one?".to_owned();
    assert_eq!(
        outcome.result,
        Ok(Signal::Asked {
            question: question.clone()
        })
    );
    assert!(events.contains(&Event::Question { text: question }));
}

#[test]
fn what_a_task_in_the_background_wakes_does_not_take_the_word_back() {
    let woken = step()
        .line(json!({"type": "system", "subtype": "init", "session_id": ID, "cwd": "/w"}))
        .streams(1_300, 10)
        .text("m3", "The server has ended.")
        .result("The server has ended.", (1_300, 10, 0.007), 0.02);
    let (events, outcome) = woken.read(&code(0));
    assert_eq!(outcome.result, Ok(Signal::Done));
    assert_eq!(outcome.usage, used(3_500, 90, 20_000));
    assert_eq!(outcome.total_micro_usd, Some(20_000));
    assert_eq!(told(&events), outcome.usage);
    let sessions = events
        .iter()
        .filter(|event| matches!(event, Event::Started { .. }))
        .count();
    assert_eq!(sessions, 1);
}

#[test]
fn a_wakeup_is_asked_for_and_nonsense_is_noted() {
    let asked = |text: &str| {
        Said::new()
            .text("m", text)
            .result(text, (1, 1, 0.0), 0.0)
            .read(&code(0))
    };
    let (events, outcome) = asked("WAKEUP: 10m the build runs");
    let why = "the build runs".to_owned();
    assert_eq!(
        outcome.result,
        Ok(Signal::Wakeup {
            after_ms: 600_000,
            why: why.clone()
        })
    );
    assert!(events.contains(&Event::Wakeup {
        after_ms: 600_000,
        why
    }));
    let (events, outcome) = asked("WAKEUP: never");
    assert_eq!(outcome.result, Ok(Signal::None));
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Note { text } if text.contains("WAKEUP: never")))
    );
}

#[test]
fn tools_are_named_with_what_they_work_on() {
    let start = |name: &str, input: &Value| {
        let (events, _) = Said::new().tool("m", "x", name, input).read(&code(0));
        events
            .into_iter()
            .find_map(|event| {
                if let Event::ToolStart { name, .. } = event {
                    Some(name)
                } else {
                    None
                }
            })
            .unwrap()
    };
    assert_eq!(
        start(
            "Edit",
            &json!({"old_string": "a", "file_path": "/w/ada-t-1/src/lib.rs"})
        ),
        "Edit: src/lib.rs"
    );
    assert_eq!(
        start("Read", &json!({"file_path": "/etc/hosts"})),
        "Read: /etc/hosts"
    );
    assert_eq!(start("mcp__x__y", &json!({})), "mcp__x__y");
    assert_eq!(
        start("Bash", &json!({"command": "\u{1b}[2Jls\u{202e}"})),
        "Bash: ls"
    );
    let long = start("Bash", &json!({"command": "x".repeat(100_000)}));
    assert!(long.chars().count() < 300, "{}", long.len());
}

#[test]
fn each_failure_has_its_class_and_plain_words() {
    let refused = |kind, status: &Value, text| Said::new().refused(kind, status, text).read(&code(1)).1;
    for (kind, status, text, class, words) in [
        (
            "rate_limit",
            json!(429),
            "API Error: Request rejected (429)",
            Class::RateLimited,
            "asks to wait",
        ),
        (
            "server_error",
            json!(529),
            "API Error: 529",
            Class::Overloaded,
            "overloaded",
        ),
        (
            "authentication_failed",
            json!(401),
            "Failed to authenticate",
            Class::Auth,
            "credentials",
        ),
        (
            "authentication_failed",
            json!(403),
            "Failed to authenticate",
            Class::Auth,
            "credentials",
        ),
        (
            "authentication_failed",
            json!(null),
            "Not logged in · Please run /login",
            Class::Auth,
            "Not logged in",
        ),
        (
            "billing_error",
            json!(400),
            "Credit balance is too low",
            Class::Budget,
            "paid",
        ),
        ("unknown", json!(402), "API Error: 402", Class::Budget, "paid"),
        (
            "server_error",
            json!(500),
            "API Error: 500",
            Class::Transient,
            "failed",
        ),
        (
            "server_error",
            json!(null),
            "API Error: Connection refused (ECONNREFUSED)",
            Class::Transient,
            "ECONNREFUSED",
        ),
        (
            "invalid_request",
            json!(404),
            "no such model",
            Class::Crash,
            "no such model",
        ),
    ] {
        let failure = refused(kind, &status, text).result.unwrap_err();
        assert_eq!(failure.class, class, "{text}: {failure:?}");
        assert!(failure.message.contains(words), "{text}: {failure:?}");
    }
    let ended = |line: Value, exit: i32| Said::new().line(line).read(&code(exit)).1.result;
    let too_long = json!({"type": "result", "subtype": "success", "is_error": true, "api_error_status": 400,
        "terminal_reason": "prompt_too_long", "result": "Prompt is too long"});
    assert_eq!(ended(too_long, 1).unwrap_err().class, Class::SessionMissing);
    let missing = json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
        "errors": ["No conversation found with session ID: x"]});
    let failure = ended(missing, 1).unwrap_err();
    assert_eq!(failure.class, Class::SessionMissing);
    assert!(
        failure.message.contains("does not know the session"),
        "{failure:?}"
    );
    let budget = json!({"type": "result", "subtype": "error_max_budget_usd", "is_error": true,
        "terminal_reason": "budget_exhausted", "errors": ["Reached maximum budget ($1)"]});
    assert_eq!(ended(budget, 1).unwrap_err().class, Class::Budget);
    // A client that is interrupted exits with 0.
    let aborted = json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
        "terminal_reason": "aborted_tools"});
    assert_eq!(ended(aborted, 0).unwrap_err().class, Class::Crash);
    let turns = json!({"type": "result", "subtype": "error_max_turns", "is_error": true, "terminal_reason": "max_turns"});
    assert_eq!(ended(turns, 1), Ok(Signal::None));
}

#[test]
fn standard_error_tells_what_came_before_any_line() {
    let complained = |text: &str, exit: &Exit| {
        let (events, outcome) = read(&Session::default(), None, &[(Stream::Err, text.as_bytes())], exit);
        assert!(!events.is_empty());
        outcome.result.unwrap_err()
    };
    let failure = complained("Error: Session ID 1-2 is already in use.\n", &code(1));
    assert_eq!(failure.class, Class::SessionInUse);
    assert!(failure.message.contains("already in use"), "{failure:?}");
    assert_eq!(
        complained("No conversation found with session ID: 1-2\n", &code(1)).class,
        Class::SessionMissing
    );
    let failure = complained("error: unknown option '--frobnicate'\n", &code(1));
    assert_eq!(failure.class, Class::Crash);
    assert!(failure.message.contains("--frobnicate"), "{failure:?}");
    assert_eq!(complained("a warning\n", &code(0)).class, Class::MalformedOutput);
}

#[test]
fn a_result_counts_only_with_the_exit_that_belongs_to_it() {
    let failure = step().read(&code(3)).1.result.unwrap_err();
    assert_eq!(failure.class, Class::Crash);
    assert!(failure.message.contains("code 3"), "{failure:?}");
    for (exit, class) in [
        // A client that is killed each time after its turn has ended would be paid for without end.
        (killed(), Class::Crash),
        (exit(Reason::Stopped, Some(143), None), Class::KilledByUs),
        // A client that ended by itself just before the signal still counts as stopped.
        (exit(Reason::Stopped, Some(0), None), Class::KilledByUs),
        (exit(Reason::TimedOut, None, Some(9)), Class::Timeout),
        (exit(Reason::Lost, None, None), Class::Lost),
    ] {
        assert_eq!(step().read(&exit).1.result.unwrap_err().class, class, "{exit:?}");
    }
    let failure = Said::new().text("m", "DONE").read(&code(0)).1.result.unwrap_err();
    assert_eq!(failure.class, Class::MalformedOutput);
    let failure = Said::new()
        .text("m", "DONE")
        .read(&killed())
        .1
        .result
        .unwrap_err();
    assert_eq!(failure.class, Class::Lost);
    // A second turn had begun.
    let cut = step().line(json!({"type": "system", "subtype": "init", "session_id": ID}));
    assert_eq!(
        cut.read(&code(0)).1.result.unwrap_err().class,
        Class::MalformedOutput
    );
}

#[test]
fn a_limit_tells_until_when() {
    let until = |said: Said| {
        let failure = said
            .refused("rate_limit", &json!(429), "Request rejected (429)")
            .read(&code(1))
            .1
            .result
            .unwrap_err();
        assert_eq!(failure.class, Class::RateLimited);
        failure.until_ms
    };
    assert_eq!(until(Said::new()), None);
    // The time is the last delay that the client kept, after the end of the run.
    let tried = Said::new()
        .retry(1, &json!(429), 7_000)
        .retry(2, &json!(429), 30_000);
    assert_eq!(until(tried.clone()), Some(80_000));
    let info = |status: &str| json!({"type": "rate_limit_event", "rate_limit_info": {"status": status, "resetsAt": 1_800_000_000}});
    assert_eq!(
        until(tried.clone().line(info("rejected"))),
        Some(1_800_000_000_000)
    );
    assert_eq!(until(tried.line(info("allowed_warning"))), Some(80_000));
}

#[test]
fn what_cannot_succeed_is_given_up_once() {
    let once = Said::new().retry(1, &json!(401), 500);
    let (events, _) = once.read(&code(1));
    assert!(events.iter().any(|event| matches!(
        event,
        Event::Retrying {
            delay_ms: Some(500),
            ..
        }
    )));
    assert!(
        !events.iter().any(|event| matches!(event, Event::GivenUp { .. })),
        "a login may be renewed"
    );
    let thrice = once.retry(2, &json!(401), 1_000).retry(3, &json!(401), 2_000);
    let (events, outcome) = thrice.read(&exit(Reason::Stopped, Some(143), None));
    let given_up: Vec<_> = events
        .iter()
        .filter_map(|event| {
            if let Event::GivenUp { failure } = event {
                Some(failure)
            } else {
                None
            }
        })
        .collect();
    assert_eq!(given_up.len(), 1);
    assert_eq!(given_up[0].class, Class::Auth);
    // When crew stops the client because of that, that is the failure.
    assert_eq!(&outcome.result.unwrap_err(), given_up[0]);
    // The service accepted the credentials after all.
    let (_, outcome) = thrice
        .text("m", "hello")
        .read(&exit(Reason::Stopped, Some(143), None));
    assert_eq!(outcome.result.unwrap_err().class, Class::KilledByUs);
    let (events, _) = Said::new()
        .retry(4, &json!(529), 1)
        .retry(4, &json!(null), 1)
        .read(&code(1));
    assert!(!events.iter().any(|event| matches!(event, Event::GivenUp { .. })));
}

#[test]
fn a_session_pays_for_each_step_once_whatever_its_total_contains() {
    let price = Some(Price {
        input: 3.0,
        output: 15.0,
        cache_read: 0.3,
        cache_write: 3.75,
    });
    // After TERM the client's total includes the cost of the turn that was cut off; after KILL it does not.
    for kept in [0.0, 0.006] {
        let mut session = Session::default();
        let mut ledger = |said: Said, exit: &Exit| {
            let outcome = said.read_in(&session, price, exit).1;
            session.used.add(outcome.usage);
            session.total_micro_usd = outcome.total_micro_usd.or(session.total_micro_usd);
            outcome.usage
        };
        let whole = |total| {
            Said::new()
                .streams(1_000, 100)
                .text("m", "x")
                .result("x", (1_000, 100, 0.005), total)
        };
        assert_eq!(ledger(whole(0.005), &code(0)), used(1_000, 100, 5_000));
        let cut = Said::new().streams(1_000, 200);
        assert_eq!(ledger(cut, &killed()), used(1_000, 200, 6_000));
        assert_eq!(ledger(whole(0.010 + kept), &code(0)), used(1_000, 100, 5_000));
        assert_eq!(session.used, used(3_000, 400, 16_000));
        let total = if kept > 0.0 { 16_000 } else { 10_000 };
        assert_eq!(session.total_micro_usd, Some(total));
    }
}

#[test]
fn what_was_cut_off_is_priced_by_what_is_known() {
    let cut = Said::new().streams(1_000, 100);
    let session = Session {
        used: used(10_000, 1_000, 55_000),
        ..Session::default()
    };
    let notes = |events: &[Event]| {
        events
            .iter()
            .filter(|event| matches!(event, Event::Note { .. }))
            .count()
    };
    let (events, outcome) = cut.read_in(&session, None, &killed());
    assert_eq!(outcome.usage, used(1_000, 100, 5_500));
    assert!(outcome.estimated);
    assert_eq!(outcome.total_micro_usd, None);
    assert_eq!((told(&events), notes(&events)), (outcome.usage, 0));
    let (events, outcome) = cut.read(&killed());
    assert_eq!(outcome.usage, used(1_000, 100, 0));
    assert_eq!(notes(&events), 1);
    // When nothing was used, no cost is missing.
    let (events, outcome) = Said::new().read(&killed());
    assert_eq!((outcome.usage, notes(&events)), (Usage::default(), 0));
    // A turn has a result, and the next one was cut off.
    let second = step()
        .line(json!({"type": "system", "subtype": "init"}))
        .streams(1_000, 100);
    assert_eq!(
        second.read_in(&session, None, &killed()).1.usage,
        used(3_200, 180, 18_500)
    );
}

#[test]
fn a_client_that_tells_only_a_total_is_asked_for_the_difference() {
    let told = |total: f64, session: &Session| {
        let said = Said::new().line(json!({"type": "result", "subtype": "success", "is_error": false, "result": "",
            "total_cost_usd": total, "usage": {"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": 5}}));
        said.read_in(session, None, &code(0)).1
    };
    let session = Session {
        total_micro_usd: Some(400_000),
        ..Session::default()
    };
    let outcome = told(0.5, &session);
    assert_eq!(outcome.usage, used(15, 2, 100_000));
    assert_eq!(outcome.total_micro_usd, Some(500_000));
    assert_eq!(told(0.3, &session).usage, used(15, 2, 300_000));
    assert_eq!(told(0.5, &Session::default()).usage, used(15, 2, 500_000));
    // A run that failed at once states 0, and the earlier total stays valid.
    assert_eq!(told(0.0, &session).total_micro_usd, None);
}

#[test]
fn agents_below_are_counted_before_and_settled_at_the_end() {
    let below = |message| (message, json!("agent1"), json!({"type": "text", "text": "x"}));
    let mut said = Said::new().streams(1_000, 50);
    for (message, parent, block) in [below("b1"), below("b1"), below("b2")] {
        said = said.block(message, &parent, &block);
    }
    assert_eq!(said.read(&killed()).1.usage, used(3_000, 52, 0));
    let settled = said.text("m", "x").result("x", (3_000, 150, 0.02), 0.02);
    assert_eq!(settled.outcome().usage, used(3_000, 150, 20_000));
}

/// A client in JavaScript that cuts a text in the middle of a character writes half of it, which is no JSON.
#[test]
fn half_a_character_in_a_line_takes_nothing_away() {
    let said = Said::new().text("m1", "cut HALF\n\nSUMMARY: HALF\nDONE").result(
        "cut HALF\n\nSUMMARY: HALF\nDONE",
        (1_000, 100, 0.7),
        0.7,
    );
    let text = String::from_utf8(said.bytes()).unwrap();
    let bytes = text.replace("HALF", r"\ud83d").into_bytes();
    let pieces: [(Stream, &[u8]); 1] = [(Stream::Out, &bytes)];
    let (events, outcome) = read(&Session::default(), None, &pieces, &code(0));
    assert_eq!(outcome.result, Ok(Signal::Done));
    assert_eq!(outcome.usage.cost_micro_usd, 700_000);
    assert_eq!(outcome.summary.as_deref(), Some("\u{fffd}"));
    assert!(
        !events.iter().any(|event| matches!(event, Event::Note { .. })),
        "{events:?}"
    );
}

#[test]
fn what_makes_no_sense_hurts_nothing() {
    let odd = [
        json!(null),
        json!([]),
        json!("DONE"),
        json!({}),
        json!({"type": 7}),
        json!({"type": "assistant", "message": "DONE"}),
        json!({"type": "assistant", "message": {"content": [{"type": "text"}, 3, null]}}),
        json!({"type": "user", "message": {"content": {"a": 1}}}),
        json!({"type": "system", "subtype": "api_retry", "attempt": "x", "retry_delay_ms": -5}),
        json!({"type": "stream_event", "event": {"type": "message_delta", "usage": {"output_tokens": u64::MAX}}}),
        json!({"type": "of another day", "deep": {"a": [1, {"b": 2}]}}),
        json!({"type": "rate_limit_event"}),
    ];
    let mut said = step();
    for line in odd {
        said.0.insert(1, line);
    }
    let (events, outcome) = said.read(&code(0));
    assert_eq!(outcome.result, Ok(Signal::Done));
    assert_eq!(outcome.usage, used(2_200, 80, 13_000));
    let notes = events
        .iter()
        .filter(|event| matches!(event, Event::Note { .. }))
        .count();
    assert_eq!(notes, 3, "what is no document is noted: {events:?}");
    let (events, outcome) = read(
        &Session::default(),
        None,
        &[(Stream::Out, b"\xff\xfe\n\n  \nDONE\n")],
        &code(0),
    );
    let failure = outcome.result.unwrap_err();
    assert_eq!(failure.class, Class::MalformedOutput);
    assert!(failure.message.contains("2 lines"), "{failure:?}");
    assert_eq!(events.len(), 2);
}

#[test]
fn a_flood_is_a_few_events_and_bounded_memory() {
    let mut flood = Said::new();
    for n in 0..2_000 {
        flood = flood
            .text(
                &format!("m{n}"),
                "SUMMARY: again\nWAKEUP: nonsense\nMODE: nonsense",
            )
            .tool("m", &format!("t{n}"), "Bash", &json!({"command": "x"}));
    }
    let bytes = flood.bytes();
    let harness = claude(Options::default());
    let mut reader = harness.reader(&Session::default());
    let events = reader.feed(Stream::Out, &bytes);
    assert!(events.len() < 120, "{}", events.len());
    // A line that never ends.
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        assert!(reader.feed(Stream::Out, &piece).is_empty());
    }
    reader.feed(Stream::Out, b"\n");
    reader.feed(Stream::Out, &step().bytes());
    assert_eq!(reader.end(&code(0)).1.result, Ok(Signal::Done));
}

/// Output with every type of line.
fn everything() -> (Vec<u8>, Vec<u8>) {
    let said = step()
        .line(json!({"type": "system", "subtype": "init", "session_id": ID, "cwd": "/w"}))
        .retry(1, &json!(529), 10)
        .line(json!({"type": "system", "subtype": "permission_denied", "tool_name": "Bash", "message": "no — \u{202e}nein"}))
        .block("b", &json!("p"), &json!({"type": "text", "text": "ünten\nDONE"}))
        .streams(7, 3)
        .text("m9", "Grüße 👋\nMODE: unify\nQUESTION: wie?")
        .result("x", (1_007, 4, 0.001), 0.014);
    let mut bytes = said.bytes();
    bytes.extend_from_slice("kein JSON — ☃\n".as_bytes());
    (bytes, "a warning\nand \u{202e}another\n".as_bytes().to_vec())
}

#[test]
fn byte_by_byte_it_is_the_same() {
    let (out, err) = everything();
    let whole = read(
        &Session::default(),
        None,
        &[(Stream::Out, &out), (Stream::Err, &err)],
        &code(0),
    );
    let bytes: Vec<(Stream, &[u8])> = out.chunks(1).map(|byte| (Stream::Out, byte)).collect();
    let more = err.chunks(1).map(|byte| (Stream::Err, byte));
    let bytes: Vec<_> = bytes.into_iter().chain(more).collect();
    let cut = read(&Session::default(), None, &bytes, &code(0));
    assert_eq!(whole.1, cut.1);
    assert_eq!(told(&whole.0), told(&cut.0));
    assert_eq!(
        whole.1.result,
        Ok(Signal::Asked {
            question: "wie?".into()
        })
    );
    let but_text = |events: Vec<Event>| -> Vec<Event> {
        events
            .into_iter()
            .filter(|event| !matches!(event, Event::Text { .. } | Event::Usage(_)))
            .collect()
    };
    assert_eq!(but_text(whole.0), but_text(cut.0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn however_it_is_cut_it_comes_to_the_same(mut cuts in prop::collection::vec(0_usize..4_000, 0..12)) {
        let (out, _) = everything();
        cuts.sort_unstable();
        let mut pieces: Vec<(Stream, &[u8])> = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().map(|cut| cut.min(out.len())).chain([out.len()]) {
            pieces.push((Stream::Out, &out[from..cut]));
            from = cut;
        }
        let whole = read(&Session::default(), None, &[(Stream::Out, &out)], &code(0));
        let cut = read(&Session::default(), None, &pieces, &code(0));
        prop_assert_eq!(whole.1, cut.1);
        prop_assert_eq!(told(&whole.0), told(&cut.0));
    }

    #[test]
    fn whatever_is_fed_it_comes_to_an_end(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let (_, outcome) = read(&Session::default(), None, &[(Stream::Out, &bytes), (Stream::Err, &bytes)], &code(0));
        prop_assert!(outcome.result.is_err());
    }
}

fn request(session: Session) -> StepRequest {
    StepRequest {
        run_id: "run-1".into(),
        ticket: "t-1".into(),
        agent: "ada".into(),
        role: Role::Worker,
        step: 1,
        session,
        workspace: "/w/ada-t-1".into(),
        prompt: "--dangerously $(rm -rf /)\nDo it.".into(),
        leader: "crew".into(),
        has_tools: false,
        calls: None,
        instructions: "/w/ada-t-1/.git/crew".into(),
        tickets_dir: "/project/.tickets".into(),
        env: Environment::new(),
    }
}

#[test]
fn the_client_is_told_of_crews_server_in_a_file_that_holds_the_token() {
    let harness = Claude::new(
        "claude",
        Options::default(),
        Path::new("/project"),
        Environment::new(),
    );
    let request = StepRequest {
        calls: Some(Calls {
            dir: "/project/.crew/runs/run-1".into(),
            token: "secret".into(),
            program: "/bin/crew".into(),
        }),
        ..request(Session::default())
    };
    let launch = harness.start(&request).unwrap();
    let args: Vec<&str> = launch.args.iter().map(|arg| arg.to_str().unwrap()).collect();
    let at = args.iter().position(|arg| *arg == "--mcp-config").unwrap();
    assert_eq!(args[at + 1], "/project/.crew/runs/run-1/mcp.json");
    assert!(args.iter().all(|arg| !arg.contains("secret")), "{args:?}");
    let servers: Value = serde_json::from_str(&launch.files["mcp.json"]).unwrap();
    let server = &servers["mcpServers"]["crew"];
    assert_eq!(
        (&server["command"], &server["args"]),
        (&json!("/bin/crew"), &json!(["mcp"]))
    );
    assert_eq!(server["alwaysLoad"], true);
    assert_eq!(server["env"]["CREW_TOKEN"], "secret");
    assert_eq!(server["env"]["CREW_RUN_ID"], "run-1");
    assert_eq!(launch.env[OsStr::new("CREW_TOOL")], "/bin/crew");
    assert_eq!(launch.token.as_deref(), Some("secret"));
}

#[test]
fn it_is_started_with_words_and_never_with_the_tickets() {
    let session = |is_new| Session {
        id: ID.into(),
        is_new,
        ..Session::default()
    };
    let harness = Claude::new(
        "claude",
        Options {
            command: vec!["bin/claude".into(), "first".into()],
            model: Some("opus".into()),
            args: vec!["--max-turns".into(), "3".into()],
            is_root: true,
            ..Options::default()
        },
        Path::new("/project"),
        Environment::from([
            ("CLAUDE_CODE_MAX_RETRIES".into(), "9".into()),
            ("HOME".into(), "/home/ada".into()),
        ]),
    );
    let launch = harness.start(&request(session(true))).unwrap();
    assert_eq!(launch.program, Path::new("/project/bin/claude"));
    let args: Vec<&str> = launch.args.iter().map(|arg| arg.to_str().unwrap()).collect();
    assert_eq!(
        args,
        [
            "first",
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-partial-messages",
            "--permission-mode",
            "bypassPermissions",
            "--disallowedTools",
            "EnterWorktree,ExitWorktree,CronCreate,CronDelete,CronList,ScheduleWakeup",
            "--session-id",
            ID,
            "--append-system-prompt-file",
            "/w/ada-t-1/.git/crew",
            "--model",
            "opus",
            "--max-turns",
            "3",
        ]
    );
    assert_eq!(launch.stdin.as_deref(), Some("--dangerously $(rm -rf /)\nDo it."));
    let variable = |name: &str| launch.env.get(OsStr::new(name)).and_then(|value| value.to_str());
    assert_eq!(variable("IS_SANDBOX"), Some("1"));
    assert_eq!(variable("CLAUDE_CODE_MAX_RETRIES"), Some("9"));
    assert_eq!(variable("DISABLE_AUTOUPDATER"), Some("1"));
    assert_eq!(variable("HOME"), Some("/home/ada"));
    assert_eq!(variable("CREW_TICKET_ID"), Some("t-1"));

    let launch = claude(Options::default())
        .start(&request(session(false)))
        .unwrap();
    assert_eq!(launch.program, Path::new("claude"));
    let args: Vec<&str> = launch.args.iter().map(|arg| arg.to_str().unwrap()).collect();
    assert!(args.windows(2).any(|pair| pair == ["--resume", ID]), "{args:?}");
    assert!(
        !args.contains(&"--session-id") && !args.contains(&"--model"),
        "{args:?}"
    );
    assert!(!launch.env.contains_key(OsStr::new("IS_SANDBOX")));
}

#[test]
fn the_program_is_looked_at_before_anything_is_started() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let check = |script: Option<&str>| {
        let path = dir.path().join("client");
        let _ = std::fs::remove_file(&path);
        if let Some(script) = script {
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let options = Options {
            command: vec!["./client".into()],
            ..Options::default()
        };
        Claude::new("claude", options, dir.path(), Environment::new()).check()
    };
    let facts = check(Some("test \"$1\" = --version && echo '2.1.330 (Claude Code)'")).unwrap();
    assert_eq!(facts.version.as_deref(), Some("2.1.330"));
    let error = check(Some("echo '2.1.197 (Claude Code)'")).unwrap_err();
    assert!(matches!(&error, Error::TooOld { version, .. } if version == "2.1.197"));
    assert!(error.hint().unwrap().contains("update"), "{error}");
    let error = check(Some("echo hello")).unwrap_err();
    assert!(
        error.to_string().contains("hello") && error.hint().is_some(),
        "{error}"
    );
    let error = check(None).unwrap_err();
    assert!(matches!(error, Error::Program { .. }));
    assert!(error.hint().unwrap().contains("install"));
}

#[test]
fn a_client_that_crew_stopped_after_its_result_has_stated_that_result() {
    let stopped = exit(Reason::Stopped, Some(143), None);
    let stated = |said: &Said| said.read(&stopped).1.stated;
    assert_eq!(stated(&step()), Some(Ok(Signal::Done)));
    assert_eq!(
        step().read(&stopped).1.result.unwrap_err().class,
        Class::KilledByUs
    );
    assert_eq!(step().outcome().stated, None, "it exited");
    let another_turn = || Said::new().0.remove(0);
    assert_eq!(stated(&step().line(another_turn())), None, "another turn is open");
    assert_eq!(stated(&Said::new().text("m", "DONE")), None);
    let refused = Said::new().refused("rate_limit", &json!(429), "not now");
    let failure = stated(&refused).unwrap().unwrap_err();
    assert_eq!(failure.class, Class::RateLimited);
}

#[test]
fn the_output_has_a_result_between_the_turns() {
    let mut reader = claude(Options::default()).reader(&Session::default());
    let mut has_result_after = |said: &Said| {
        reader.feed(Stream::Out, &said.bytes());
        reader.has_result()
    };
    assert!(!has_result_after(&Said::new().text("m", "DONE")));
    assert!(has_result_after(&step()));
    assert!(!has_result_after(&Said::new()));
    assert!(has_result_after(&step()));
}
