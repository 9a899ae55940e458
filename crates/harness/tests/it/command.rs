//! The kind `command`: the meaning of the lines of output.

use std::path::Path;

use harness::environment::Environment;
use harness::{
    Class, Command, Error, Event, Failure, Harness, LINE_LIMIT, Mode, Outcome, Role, Session, Signal,
    StepRequest, Usage,
};
use process::{Captured, Exit, Fault, Reason, Stream};
use proptest::prelude::*;

fn exit(reason: Reason, code: Option<i32>, signal: Option<i32>) -> Exit {
    let (out, err) = (Captured::default(), Captured::default());
    Exit {
        reason,
        code,
        signal,
        started_at: 1,
        ended_at: 2,
        out,
        err,
        survivors: 0,
    }
}

fn well() -> Exit {
    exit(Reason::Exited, Some(0), None)
}

fn harness(command: &[&str]) -> Command {
    let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    Command::new(
        "scripted",
        &command,
        &[],
        Path::new("/project"),
        Environment::new(),
    )
}

/// The events and the outcome of output in pieces.
fn read(pieces: &[(Stream, &[u8])], exit: &Exit) -> (Vec<Event>, Outcome) {
    let mut reader = harness(&["x"]).reader(&Session::default());
    let mut events: Vec<Event> = pieces
        .iter()
        .flat_map(|(stream, bytes)| reader.feed(*stream, bytes))
        .collect();
    let (last, outcome) = reader.end(exit);
    events.extend(last);
    (events, outcome)
}

fn said(out: &str) -> Outcome {
    read(&[(Stream::Out, out.as_bytes())], &well()).1
}

fn signal(out: &str) -> Signal {
    said(out).result.unwrap()
}

fn notes(events: &[Event]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| {
            if let Event::Note { text } = event {
                Some(text.as_str())
            } else {
                None
            }
        })
        .collect()
}

#[test]
fn done_is_done_only_alone_on_a_line() {
    for out in [
        "DONE",
        "DONE\n",
        "DONE \t\n",
        "DONE\r\n",
        "text\nDONE\nmore\n",
        "DONE\r",
        " DONE\n",
        "\tDONE\n",
        "DONE\0\n",
        "\u{1b}[32mDONE\u{1b}[0m\n",
        "\u{1b}]0;a title\u{7}DONE\n",
        "DONE\u{200b}\n",
        "\u{200b}DONE\n",
        "DONE\u{a0}\n",
        "DONE\u{b}\n",
        // As a terminal shows it.
        "working\rDONE\n",
    ] {
        assert_eq!(signal(out), Signal::Done, "{out:?}");
    }
    for out in [
        "",
        "done\n",
        "Done\n",
        "DONE.\n",
        "DONE!\n",
        "DONE: x\n",
        "DONE:\n",
        "not done yet\n",
        "not DONE\n",
        "I am DONE\n",
        "\"DONE\"\n",
        "`DONE`\n",
        "**DONE**\n",
        "> DONE\n",
        "- DONE\n",
        "    DONE\n",
        "DONE DONE\n",
        "DO\nNE\n",
        "{\"text\":\"DONE\"}\n",
        "echo DONE\n",
    ] {
        assert_eq!(signal(out), Signal::None, "{out:?}");
    }
    assert_eq!(
        read(&[(Stream::Out, b"DONE\xff\n")], &well()).1.result,
        Ok(Signal::None)
    );
    // Lines on standard error are not directives.
    assert_eq!(
        read(&[(Stream::Err, b"DONE\n")], &well()).1.result,
        Ok(Signal::None)
    );
    // Pieces of two streams do not form one line.
    assert_eq!(
        read(
            &[
                (Stream::Out, b"DO"),
                (Stream::Err, b"NE\n"),
                (Stream::Out, b"NO\n")
            ],
            &well()
        )
        .1
        .result,
        Ok(Signal::None)
    );
}

#[test]
fn the_other_lines_are_taken_with_their_text() {
    assert_eq!(
        signal("BLOCKED: no network \r\n"),
        Signal::Blocked {
            why: "no network".into()
        }
    );
    assert_eq!(
        signal("BLOCKED:no network"),
        Signal::Blocked {
            why: "no network".into()
        }
    );
    assert_eq!(
        signal("QUESTION: which: a or b?\n"),
        Signal::Asked {
            question: "which: a or b?".into()
        }
    );
    assert_eq!(
        said("SUMMARY: half of it\nSUMMARY: all of it\n")
            .summary
            .as_deref(),
        Some("all of it")
    );
    for mode in Mode::ALL {
        assert_eq!(said(&format!("MODE: {}\n", mode.name())).modes, [mode]);
    }
    for out in [
        "blocked: x\n",
        "BLOCKED x\n",
        "XBLOCKED: x\n",
        "BLOCKED : x\n",
        "> QUESTION: x\n",
    ] {
        assert_eq!(signal(out), Signal::None, "{out:?}");
    }
}

#[test]
fn what_is_said_wrong_is_noted_and_left_out() {
    let cases = [
        ("BLOCKED:\n", "BLOCKED"),
        ("QUESTION:   \n", "QUESTION"),
        ("SUMMARY:\u{200b}\n", "SUMMARY"),
        (
            "MODE: dance\n",
            "none of execute, delegate, plan, break_up, unify",
        ),
        ("MODE: Plan\n", "MODE: Plan"),
    ];
    for (out, part) in cases {
        let (events, outcome) = read(&[(Stream::Out, out.as_bytes())], &well());
        assert_eq!(
            (outcome.result, outcome.modes, outcome.summary),
            (Ok(Signal::None), Vec::new(), None),
            "{out:?}"
        );
        assert!(
            notes(&events).iter().any(|note| note.contains(part)),
            "{out:?}: {events:?}"
        );
    }
}

#[test]
fn the_last_signal_counts() {
    let blocked = || Signal::Blocked { why: "b".into() };
    let asked = || Signal::Asked { question: "q".into() };
    assert_eq!(signal("BLOCKED: b\nDONE\n"), Signal::Done);
    assert_eq!(signal("DONE\nBLOCKED: b\n"), blocked());
    assert_eq!(signal("DONE\nQUESTION: q\n"), asked());
    assert_eq!(signal("QUESTION: q\nBLOCKED: b\nDONE\n"), Signal::Done);
    assert_eq!(signal("QUESTION: x\nQUESTION: q\n"), asked());
    // A line that is not a signal does not take one back.
    assert_eq!(
        signal("DONE\nMODE: plan\nSUMMARY: s\nnot done yet\nBLOCKED:\n"),
        Signal::Done
    );
}

#[test]
fn texts_are_sanitised_and_bounded() {
    assert_eq!(
        signal("QUESTION: \u{1b}]52;c;eA==\u{7}which\u{202e} one\u{1b}[0m?\n"),
        Signal::Asked {
            question: "which one?".into()
        }
    );
    let Signal::Blocked { why } = signal(&format!("BLOCKED: {}\n", "x".repeat(60_000))) else {
        panic!()
    };
    assert!(why.chars().count() < 5_000);
}

#[test]
fn usage_is_summed() {
    let outcome = said(
        "{\"crew\":\"usage\",\"input_tokens\":10,\"output_tokens\":2,\"cost_usd\":0.25}\ntext\n\
         {\"cost_usd\": 0.1, \"crew\": \"usage\", \"extra\": [1]} \r\n{\"crew\":\"usage\",\"input_tokens\":5}",
    );
    assert_eq!(
        outcome.usage,
        Usage {
            input_tokens: 15,
            output_tokens: 2,
            cost_micro_usd: 350_000
        }
    );
}

#[test]
fn usage_that_cannot_be_is_noted_and_does_not_count() {
    let good = "{\"crew\":\"usage\",\"input_tokens\":1}\n";
    for bad in [
        r#"{"crew":"usage","input_tokens":-1}"#,
        r#"{"crew":"usage","input_tokens":1.5}"#,
        r#"{"crew":"usage","input_tokens":"7"}"#,
        r#"{"crew":"usage","input_tokens":null}"#,
        r#"{"crew":"usage","input_tokens":18446744073709551615}"#,
        r#"{"crew":"usage","input_tokens":99999999999999999999999999}"#,
        r#"{"crew":"usage","output_tokens":1e400}"#,
        r#"{"crew":"usage","output_tokens":[1]}"#,
        r#"{"crew":"usage","cost_usd":-0.01}"#,
        r#"{"crew":"usage","cost_usd":NaN}"#,
        r#"{"crew":"usage","cost_usd":Infinity}"#,
        r#"{"crew":"usage","cost_usd":1e308}"#,
        r#"{"crew":"usage","cost_usd":1e999}"#,
        r#"{"crew":"usage","cost_usd":"0.1"}"#,
        r#"{"crew":"usage","input_tokens":9,"cost_usd":-1}"#,
        r#"{"crew":"usage","input_tokens":1"#,
        r#"{"crew":"usage"} trailing"#,
        r#"{"crew":["usage"]}"#,
        r#"{"crew":"other","is":"usage"}"#,
    ] {
        let (events, outcome) = read(
            &[(Stream::Out, format!("{good}{bad}\n{good}").as_bytes())],
            &well(),
        );
        assert_eq!(
            outcome.usage,
            Usage {
                input_tokens: 2,
                ..Usage::default()
            },
            "{bad}"
        );
        assert_eq!(notes(&events).len(), 1, "{bad}: {events:?}");
    }
    // Deep nesting does not overflow the stack.
    let deep = format!("{{\"crew\":\"usage\",\"x\":{}\n", "[".repeat(60_000));
    assert_eq!(said(&deep).usage, Usage::default());
    // An agent's own JSON is text, and leads to no note.
    let (events, outcome) = read(
        &[(Stream::Out, b"{\"type\":\"usage\",\"n\":1}\n{\"broken\n")],
        &well(),
    );
    assert_eq!((notes(&events).len(), outcome.usage), (0, Usage::default()));
    // Sums do not overflow.
    let line = "{\"crew\":\"usage\",\"input_tokens\":1000000000000,\"cost_usd\":1000000}\n".repeat(1000);
    assert_eq!(said(&line).usage.input_tokens, 1_000_000_000_000_000);
}

#[test]
fn the_exit_decides_whether_a_step_ended_well() {
    let fails = |exit: Exit, class: Class, part: &str| {
        let out = b"{\"crew\":\"usage\",\"input_tokens\":3}\nSUMMARY: s\nDONE\n";
        let (_, outcome) = read(&[(Stream::Out, out)], &exit);
        let failure = outcome.result.unwrap_err();
        assert_eq!(failure.class, class, "{failure:?}");
        assert!(failure.message.contains(part), "{failure:?}");
        // The usage of a failed step counts.
        assert_eq!(
            (outcome.usage.input_tokens, outcome.summary.as_deref()),
            (3, Some("s"))
        );
    };
    fails(exit(Reason::Exited, Some(3), None), Class::Crash, "code 3");
    // A program that is killed each time after it has reported its work would be paid for without end.
    let reported = "it said DONE, but signal 9 (KILL)";
    fails(exit(Reason::Exited, None, Some(9)), Class::Crash, reported);
    fails(exit(Reason::Exited, None, Some(11)), Class::Crash, "SEGV");
    fails(exit(Reason::Exited, None, Some(40)), Class::Crash, "signal 40");
    fails(exit(Reason::Stopped, Some(0), None), Class::KilledByUs, "stopped");
    fails(exit(Reason::TimedOut, None, Some(15)), Class::Timeout, "longer");
    fails(exit(Reason::Lost, None, None), Class::Lost, "shim");
    let error = "there is no program \u{1b}[31mx in PATH".to_owned();
    fails(
        exit(
            Reason::SpawnFailed {
                fault: Fault::Missing,
                error,
            },
            None,
            None,
        ),
        Class::Crash,
        "no program x in PATH",
    );
}

#[test]
fn a_signal_from_outside_before_the_work_was_reported_is_nobodys_fault() {
    for out in [&b"at work\n"[..], b"BLOCKED: no key\n", b""] {
        let killed = exit(Reason::Exited, None, Some(9));
        let failure = read(&[(Stream::Out, out)], &killed).1.result.unwrap_err();
        assert_eq!(failure.class, Class::Lost, "{failure:?}");
    }
}

#[test]
fn a_crash_tells_the_last_complaint() {
    let err = b"warning\nTraceback:\n\x1b[31mKeyError: 'x'\x1b[0m\n\n\x1b[0m\n";
    let (_, outcome) = read(&[(Stream::Err, err)], &exit(Reason::Exited, Some(1), None));
    let Err(Failure { message, .. }) = outcome.result else {
        panic!()
    };
    assert_eq!(message, "it exited with code 1: KeyError: 'x'");
    // The last line on standard error is not the reason of a stop.
    let (_, outcome) = read(&[(Stream::Err, err)], &exit(Reason::Stopped, Some(1), None));
    assert_eq!(outcome.result.unwrap_err().message, "it was stopped");
}

#[test]
fn a_program_says_how_it_failed_as_soon_as_it_knows() {
    let line = br#"{"crew":"failure","class":"rate_limited","message":"too \u001b[31mmuch","until_ms":5000}"#;
    let said = [line.as_slice(), b"\n"].concat();
    for code in [0, 1] {
        let (events, outcome) = read(&[(Stream::Out, &said)], &exit(Reason::Exited, Some(code), None));
        let wanted = Failure {
            until_ms: Some(5000),
            ..Failure::new(Class::RateLimited, "too much")
        };
        assert_eq!(outcome.result.unwrap_err(), wanted, "whatever its exit code");
        assert!(events.contains(&Event::GivenUp { failure: wanted }), "{events:?}");
    }
    // A program may not report a failure that only crew can know.
    for (reason, class) in [
        (Reason::Stopped, Class::KilledByUs),
        (Reason::TimedOut, Class::Timeout),
    ] {
        let (_, outcome) = read(&[(Stream::Out, &said)], &exit(reason, None, Some(15)));
        assert_eq!(outcome.result.unwrap_err().class, class);
    }
    for (bad, why) in [
        (
            &br#"{"crew":"failure","class":"killed_by_us"}"#[..],
            "that class is crew's to say; yours are transient, ",
        ),
        (
            br#"{"crew":"failure","class":"tired"}"#,
            "the class \"tired\" is none of transient, ",
        ),
        (br#"{"crew":"failure"}"#, "no \"class\" says how: transient, "),
        (
            br#"{"crew":"failure","class":"auth","until_ms":-1}"#,
            "until_ms is no whole number",
        ),
    ] {
        let (events, outcome) = read(&[(Stream::Out, &[bad, b"\n"].concat())], &well());
        assert!(outcome.result.is_ok(), "{}", String::from_utf8_lossy(bad));
        assert!(
            matches!(&events[..], [Event::Note { text }] if text.contains("failure") && text.contains(why)),
            "{events:?}"
        );
    }
}

#[test]
fn the_last_line_is_shown() {
    let text = |bytes: &[u8]| {
        let (events, _) = read(&[(Stream::Out, bytes)], &well());
        events.into_iter().rev().find_map(|event| {
            if let Event::Text { line } = event {
                Some(line)
            } else {
                None
            }
        })
    };
    assert_eq!(text(b"one\ntwo\n\n   \n").as_deref(), Some("two"));
    assert_eq!(
        text(b"one\n{\"crew\":\"usage\",\"input_tokens\":1}\n").as_deref(),
        Some("one")
    );
    assert_eq!(text(b"one\nhalf").as_deref(), Some("half"));
    assert_eq!(text(b"10%\r20%\r30%\r\n").as_deref(), Some("30%"));
    assert_eq!(text(b"\xff\xfe\x00ok\n").as_deref(), Some("\u{fffd}\u{fffd}ok"));
    assert_eq!(text(b""), None);
}

#[test]
fn a_flood_is_a_few_events() {
    let mut reader = harness(&["x"]).reader(&Session::default());
    let lines =
        "{\"crew\":\"usage\",\"input_tokens\":1}\ntext\nMODE: dance\nQUESTION: q\nBLOCKED:\n".repeat(20_000);
    let events = reader.feed(Stream::Out, lines.as_bytes());
    assert!(events.len() < 30, "{}", events.len());
    assert!(events.contains(&Event::Usage(Usage {
        input_tokens: 20_000,
        ..Usage::default()
    })));
    let again = reader.feed(Stream::Out, lines.as_bytes());
    assert!(notes(&again).is_empty(), "{again:?}");
    assert_eq!(reader.end(&well()).1.usage.input_tokens, 40_000);
}

#[test]
fn a_line_of_a_hundred_megabytes_means_nothing_and_hurts_nothing() {
    let mut reader = harness(&["x"]).reader(&Session::default());
    reader.feed(Stream::Out, b"DONE");
    for _ in 0..100 {
        assert!(reader.feed(Stream::Out, &vec![b' '; 1 << 20]).is_empty());
    }
    reader.feed(Stream::Out, b"\nSUMMARY: after\n");
    let (_, outcome) = reader.end(&well());
    assert_eq!(
        (outcome.result, outcome.summary.as_deref()),
        (Ok(Signal::None), Some("after"))
    );

    let long = format!("{{\"crew\":\"usage\",\"x\":\"{}\"}}\n", "x".repeat(LINE_LIMIT));
    let (events, outcome) = read(&[(Stream::Out, long.as_bytes())], &well());
    assert_eq!((outcome.usage, notes(&events).len()), (Usage::default(), 1));
}

#[test]
fn a_question_too_long_to_be_kept_is_asked_as_far_as_any_is() {
    let asked = |length| {
        let line = format!("QUESTION: {}\n", "which? ".repeat(length));
        said(&line).result
    };
    let Ok(Signal::Asked { question }) = asked(LINE_LIMIT) else {
        panic!("nothing was asked");
    };
    assert!(question.starts_with("which? which?") && question.ends_with('…'));
    assert_eq!(
        Ok(Signal::Asked { question }),
        asked(1_000),
        "as one that is kept"
    );
}

fn request() -> StepRequest {
    StepRequest {
        run_id: "run-1".into(),
        ticket: "t-1".into(),
        agent: "ada".into(),
        role: Role::Worker,
        step: 3,
        session: Session {
            id: "s-1".into(),
            is_new: true,
            used: Usage::default(),
            total_micro_usd: None,
        },
        workspace: "/state/ada-t-1".into(),
        prompt: "Do it.\n".into(),
        leader: "crew".into(),
        has_tools: false,
        calls: None,
        instructions: "/state/ada-t-1/.git/instructions.md".into(),
        tickets_dir: "/project/.tickets".into(),
        env: Environment::from([("GIT_CEILING_DIRECTORIES".into(), "/state".into())]),
    }
}

#[test]
fn a_launch_is_exactly_what_the_settings_and_the_step_say() {
    let env = Environment::from([("PATH".into(), "/bin".into()), ("LEVEL".into(), "3".into())]);
    let command = ["./agent.sh", "--fast"].map(String::from);
    let harness = Command::new(
        "scripted",
        &command,
        &["a b".into(), "$(id)".into()],
        Path::new("/project"),
        env,
    );
    let launch = harness.start(&request()).unwrap();
    assert_eq!(launch.program, Path::new("/project/./agent.sh"));
    assert_eq!(launch.args, ["--fast", "a b", "$(id)"]);
    assert_eq!(launch.cwd, Path::new("/state/ada-t-1"));
    assert_eq!(launch.stdin.as_deref(), Some("Do it.\n"));
    let pairs: Vec<_> = launch
        .env
        .iter()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect();
    let expected = [
        "CREW_AGENT=ada",
        "CREW_HAS_TOOLS=0",
        "CREW_INSTRUCTIONS=/state/ada-t-1/.git/instructions.md",
        "CREW_LEADER=crew",
        "CREW_QUEUE=/project/.tickets",
        "CREW_ROLE=worker",
        "CREW_RUN_ID=run-1",
        "CREW_SESSION_ID=s-1",
        "CREW_SESSION_NEW=1",
        "CREW_STEP=3",
        "CREW_TICKET_ID=t-1",
        "CREW_WORKER=1",
        "GIT_CEILING_DIRECTORIES=/state",
        "LEVEL=3",
        "PATH=/bin",
        "TICKETS_DIR=/project/.tickets",
    ];
    assert_eq!(pairs, expected);
    assert_eq!(launch, harness.start(&request()).unwrap());
    let spec = launch.spec();
    assert_eq!(
        (spec.run_id.as_str(), &spec.env, &spec.args),
        ("run-1", &launch.env, &launch.args)
    );

    let later = StepRequest {
        session: Session {
            id: "s-1".into(),
            ..Session::default()
        },
        has_tools: true,
        role: Role::Gatekeeper,
        ..request()
    };
    let env = harness.start(&later).unwrap().env;
    let get = |name: &str| env[std::ffi::OsStr::new(name)].to_str().unwrap().to_owned();
    assert_eq!(
        (get("CREW_SESSION_NEW"), get("CREW_HAS_TOOLS"), get("CREW_ROLE")),
        ("0".into(), "1".into(), "gatekeeper".into())
    );
}

#[test]
fn a_relative_path_is_refused() {
    for change in [
        (|step| step.tickets_dir = ".tickets".into()) as fn(&mut StepRequest),
        |step| step.workspace = "here".into(),
        |step| step.instructions = "x.md".into(),
    ] {
        let mut step = request();
        change(&mut step);
        assert!(matches!(
            harness(&["x"]).start(&step),
            Err(Error::Relative { .. })
        ));
    }
}

#[test]
fn a_client_that_cannot_be_used_says_so_with_a_hint() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("plain.sh"), "#!/bin/sh\n").unwrap();
    let check = |command: &[&str]| {
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        let env = Environment::from([("PATH".into(), "/usr/bin:/bin".into())]);
        Command::new("scripted", &command, &[], root.path(), env).check()
    };
    for (command, hint) in [
        (&[] as &[&str], "set `command"),
        (&[""], "set `command"),
        (&["./no-agent.sh"], "[harness.scripted]"),
        (&["no-such-agent-anywhere"], "install it"),
        (&["./plain.sh"], "chmod +x"),
        (&["/"], "chmod +x"),
    ] {
        let error = check(command).unwrap_err();
        assert!(error.to_string().contains("scripted"), "{error}");
        assert!(
            error.hint().unwrap().contains(hint),
            "{command:?}: {:?}",
            error.hint()
        );
    }
    let facts = check(&["sh", "-c", "true"]).unwrap();
    assert!(
        facts.program.is_absolute() && facts.program.ends_with("sh"),
        "{facts:?}"
    );
}

proptest! {
    /// An engine that adopts a run reads the output in other pieces than the first engine did.
    #[test]
    fn pieces_make_no_difference(
        lines in proptest::collection::vec(proptest::sample::select(vec![
            "DONE", "DONE ", "not done", "BLOCKED: x", "QUESTION: é?", "MODE: plan", "MODE: x", "SUMMARY: 日本", "",
            "{\"crew\":\"usage\",\"input_tokens\":7}", "{\"crew\":\"usage\",", "\u{1b}[31mred", "\u{fffd}",
        ]), 0..20),
        cuts in proptest::collection::vec(0_usize..200, 0..10),
        newline in any::<bool>(),
    ) {
        let mut all = lines.join("\n").into_bytes();
        if newline { all.push(b'\n'); }
        let (_, whole) = read(&[(Stream::Out, &all)], &well());
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(all.len())).collect();
        cuts.extend([0, all.len()]);
        cuts.sort_unstable();
        let pieces: Vec<_> = cuts.windows(2).map(|pair| (Stream::Out, &all[pair[0]..pair[1]])).collect();
        let (events, cut) = read(&pieces, &well());
        prop_assert_eq!(&cut, &whole);
        let mut used = Usage::default();
        events.iter().for_each(|event| if let Event::Usage(usage) = event { used.add(*usage) });
        prop_assert_eq!(used, whole.usage);
    }

    #[test]
    fn any_bytes_are_read(out in proptest::collection::vec(any::<u8>(), 0..300), err in proptest::collection::vec(any::<u8>(), 0..100)) {
        let (_, outcome) = read(&[(Stream::Out, &out), (Stream::Err, &err)], &well());
        prop_assert!(outcome.result.is_ok());
    }
}

#[test]
fn a_program_that_crew_stopped_after_a_signal_has_stated_that_signal() {
    let stated = |out: &str, reason| {
        let exit = exit(reason, Some(143), None);
        read(&[(Stream::Out, out.as_bytes())], &exit).1.stated
    };
    let why = "no key".to_owned();
    assert_eq!(stated("DONE\n", Reason::Stopped), Some(Ok(Signal::Done)));
    assert_eq!(stated("DONE", Reason::Stopped), Some(Ok(Signal::Done)));
    let blocked = Ok(Signal::Blocked { why });
    assert_eq!(stated("BLOCKED: no key\n", Reason::Stopped), Some(blocked));
    assert_eq!(stated("SUMMARY: all well\n", Reason::Stopped), None);
    assert_eq!(stated("DONE\n", Reason::Exited), None);
    assert_eq!(stated("DONE\n", Reason::Lost), None);
}

#[test]
fn a_signal_is_seen_behind_a_byte_order_mark_and_in_utf_16() {
    let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect();
    let text = "I have it.\r\nDONE\r\n";
    let marked = format!("\u{feff}{text}");
    let outputs: [Vec<u8>; 6] = [
        b"\xef\xbb\xbfDONE\n".to_vec(),
        wide(text, u16::to_le_bytes),
        wide(&marked, u16::to_le_bytes),
        wide(&marked, u16::to_be_bytes),
        wide("\u{feff}DONE", u16::to_le_bytes),
        wide("DONE\n", u16::to_be_bytes),
    ];
    for out in &outputs {
        let outcome = read(&[(Stream::Out, out)], &well()).1;
        assert_eq!(outcome.result, Ok(Signal::Done), "{out:?}");
    }
    let blocked = wide("BLOCKED: no key\n", u16::to_le_bytes);
    let outcome = read(&[(Stream::Out, &blocked)], &well()).1;
    let why = "no key".to_owned();
    assert_eq!(outcome.result, Ok(Signal::Blocked { why }));
}

#[test]
fn the_output_has_a_result_as_soon_as_a_signal_is_in_it() {
    let mut reader = harness(&["x"]).reader(&Session::default());
    let mut has_result_after = |out: &[u8]| {
        reader.feed(Stream::Out, out);
        reader.has_result()
    };
    assert!(!has_result_after(b"SUMMARY: all well\nDO"));
    assert!(has_result_after(b"NE"), "no newline may follow");
    assert!(!has_result_after(b" it is not\n"));
    assert!(has_result_after(b"QUESTION: which?\nand more\n"));
}

#[test]
fn a_line_that_cannot_be_used_is_told_unless_a_signal_follows() {
    for line in [
        "WAKEUP: soon",
        "WAKEUP: 40d",
        "WAKEUP: 0s",
        "BLOCKED:",
        "MODE: sleepy",
        "**DONE**",
        "`DONE`",
        "DONE.",
        "**BLOCKED:** no key",
    ] {
        let outcome = said(&format!("{line}\nmore\n"));
        assert_eq!(outcome.result, Ok(Signal::None), "{line}");
        let keyword = line.split(':').next().unwrap();
        assert!(outcome.unusable[0].starts_with(keyword), "{line}");
        assert!(
            said(&format!("{line}\nWAKEUP: 10m\n")).unusable.is_empty(),
            "{line}"
        );
    }
    assert!(said("WAKEUP: 10m\n").unusable.is_empty());
}

#[test]
fn a_record_that_does_not_count_is_told_unless_a_signal_follows() {
    for (line, part) in [
        (
            r#"{"crew":"nope"}"#,
            "a line of nope that does not count: a line for crew is of \"usage\", \"failure\" or \"commitment\"",
        ),
        (
            r#"{"crew":"usage","input_tokens":"x"}"#,
            "a line of usage that does not count: input_tokens",
        ),
        (
            r#"{"crew":"failure","class":"nix"}"#,
            "a line of failure that does not count: the class",
        ),
    ] {
        let outcome = said(&format!("{line}\nmore\n"));
        assert_eq!(outcome.result, Ok(Signal::None), "{line}");
        assert!(outcome.unusable[0].starts_with(part), "{line}");
        assert!(said(&format!("{line}\nDONE\n")).unusable.is_empty(), "{line}");
    }
    let cut = format!("{{\"crew\":\"usage\",\"x\":\"{}\"}}\n", "x".repeat(LINE_LIMIT));
    assert_eq!(said(&cut).unusable.len(), 1);
    for own in [r#"{"crew":["ada"]}"#, r#"{"crew":"nope""#, r#"{"my":"crew"}"#] {
        assert!(said(&format!("{own}\n")).unusable.is_empty(), "{own}");
    }
}

#[test]
fn every_line_that_cannot_be_used_is_told_once_and_a_flood_of_them_is_cut() {
    let lines = said("WAKEUP: soon\n**DONE**\nWAKEUP: soon\n").unusable;
    let begins = |at: usize, with: &str| assert!(lines[at].starts_with(with), "{lines:?}");
    begins(0, "WAKEUP: soon");
    begins(1, "**DONE**");
    assert_eq!(lines.len(), 2);
    let flood: String = (40..1000).map(|days| format!("WAKEUP: {days}d\n")).collect();
    let lines = said(&flood).unusable;
    assert_eq!(lines.len(), 21);
    assert!(lines[20].starts_with("and more"), "{lines:?}");
}

#[test]
fn a_refused_commitment_is_told_whatever_follows_it() {
    let shell = r#"{"crew":"commitment","says":"it is safe","run":"test -s x && true"}"#;
    let none = r#"{"crew":"commitment","says":"it is there"}"#;
    let cut = format!(r#"{{"crew":"commitment","says":"{}"}}"#, "x".repeat(LINE_LIMIT));
    let outcome = said(&format!("{shell}\n{none}\n{cut}\nWAKEUP: soon\nDONE\n"));
    assert_eq!(outcome.result, Ok(Signal::Done));
    assert!(outcome.unusable.is_empty(), "{:?}", outcome.unusable);
    let refused = outcome.refused_commitments;
    assert_eq!(refused.len(), 3, "{refused:?}");
    assert!(
        refused[0].contains("crew runs no shell") && refused[0].contains("“it is safe”"),
        "{refused:?}"
    );
    assert!(
        refused[1].contains("no \"run\"") && refused[1].contains("“it is there”"),
        "{refused:?}"
    );
    assert!(refused[2].contains("too long"), "{refused:?}");
}
