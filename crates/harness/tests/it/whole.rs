//! A whole step as the engine runs it: a launch, a shim, and the reading of the output.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use harness::environment::{Environment, assemble};
use harness::{Class, Command, Event, Harness, Mode, Outcome, Role, Session, Signal, StepRequest, Usage};
use process::{Run, Shim, Status, Stream, Tail};
use tempfile::TempDir;

fn step(world: &TempDir, script: &str) -> (Vec<Event>, Outcome, Run) {
    let root = world.path();
    let workspace = root.join("workspace");
    fs::create_dir_all(&workspace).unwrap();
    let agent = root.join("agent.sh");
    fs::write(&agent, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();

    let ours: Environment = [
        ("PATH".into(), std::env::var_os("PATH").unwrap()),
        ("SECRET".into(), "canary".into()),
    ]
    .into();
    let env = assemble(&ours, &Default::default(), &[]).unwrap();
    let harness = Command::new("scripted", &["./agent.sh".into()], &[], root, env);
    harness.check().unwrap();
    let launch = harness
        .start(&StepRequest {
            run_id: format!("whole-{}", root.file_name().unwrap().display()).replace("-.", "-"),
            ticket: "t-1".into(),
            agent: "ada".into(),
            role: Role::Worker,
            step: 1,
            session: Session {
                id: "s-1".into(),
                is_new: true,
                used: Usage::default(),
                total_micro_usd: None,
            },
            workspace,
            prompt: "Fix the bug.\n".into(),
            leader: "crew".into(),
            has_tools: false,
            calls: None,
            instructions: root.join("instructions.md"),
            tickets_dir: root.join(".tickets"),
            env: Environment::new(),
        })
        .unwrap();
    let run = Run::create(
        root.join("run"),
        &launch.spec(),
        launch.stdin.as_deref().map(str::as_bytes),
    )
    .unwrap();
    let tests = std::env::current_exe().unwrap();
    let shim = tests
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/harness-shim");
    assert!(shim.exists(), "build it: cargo build -p harness --examples");
    let watch = run
        .start(&Shim {
            program: shim,
            args: Vec::new(),
        })
        .unwrap();
    let status = watch
        .wait(Duration::from_secs(60))
        .unwrap()
        .expect("the step ends");
    let Status::Ended(exit) = status else {
        panic!("{status:?}")
    };

    let mut reader = harness.reader(&Session::default());
    let mut events = Vec::new();
    for stream in [Stream::Out, Stream::Err] {
        let mut tail = Tail::new(&run, stream, 0);
        loop {
            let bytes = tail.read(64 * 1024).unwrap();
            if bytes.is_empty() {
                break;
            }
            events.extend(reader.feed(stream, &bytes));
        }
    }
    let (last, outcome) = reader.end(&exit);
    events.extend(last);
    (events, outcome, run)
}

#[test]
fn a_program_that_does_its_work() {
    let world = tempfile::tempdir().unwrap();
    let (events, outcome, _) = step(
        &world,
        r#"read -r prompt; echo "told: $prompt"; echo "MODE: plan"; pwd; echo "SUMMARY: $CREW_AGENT did $CREW_TICKET_ID, secret=${SECRET-none}"
           echo '{"crew":"usage","input_tokens":100,"output_tokens":20,"cost_usd":0.003}'; echo DONE"#,
    );
    assert_eq!(outcome.result, Ok(Signal::Done));
    assert_eq!(
        outcome.usage,
        Usage {
            input_tokens: 100,
            output_tokens: 20,
            cost_micro_usd: 3_000
        }
    );
    assert_eq!(outcome.summary.as_deref(), Some("ada did t-1, secret=none"));
    assert_eq!(outcome.modes, [Mode::Plan]);
    assert!(
        events.contains(&Event::Text { line: "DONE".into() }),
        "{events:?}"
    );
}

#[test]
fn a_program_that_fails_after_done() {
    let world = tempfile::tempdir().unwrap();
    let (_, outcome, _) = step(&world, "echo DONE; echo 'no such file' >&2; exit 7");
    let failure = outcome.result.unwrap_err();
    assert_eq!(
        (failure.class, failure.message.as_str()),
        (Class::Crash, "it exited with code 7: no such file")
    );
}

#[test]
fn a_program_that_floods_is_still_heard_at_its_end() {
    let world = tempfile::tempdir().unwrap();
    let (events, outcome, run) = step(
        &world,
        r#"head -c 104857600 /dev/zero | tr '\0' 'x'; echo; echo '{"crew":"usage","input_tokens":5}'; echo DONE"#,
    );
    assert_eq!(
        (outcome.result, outcome.usage.input_tokens),
        (Ok(Signal::Done), 5)
    );
    assert!(run.dir().join("out").metadata().unwrap().len() < 34 << 20);
    assert!(events.len() < 10_000);
}
