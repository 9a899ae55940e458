//! The effects of keys and rows.

use model::Actor;
use model::attempt::Signal;
use model::command::{Command, OnStop, Outcome, Question};
use model::view;
use tui::{Action, CommandResult, Diff, DiffLine, Engine, Key, Msg, Tone};

use crate::scene::{Scene, agent, id, oid};

/// The only command that is submitted.
#[track_caller]
fn command(actions: Vec<Action>) -> Command {
    let mut commands = actions.into_iter().filter_map(|action| match action {
        Action::Submit { command, .. } => Some(*command),
        Action::Watch(_)
        | Action::Read(_)
        | Action::Diff(_)
        | Action::Run { .. }
        | Action::Suspend
        | Action::Quit => None,
    });
    let found = commands.next().expect("a command");
    assert_eq!(commands.next(), None);
    found
}

#[test]
fn a_question_is_answered() {
    let mut scene = Scene::busy(80, 24);
    scene.press(Key::Char('4'));
    scene.press(Key::Char('a'));
    assert_eq!(scene.press(Key::Enter), [], "an empty answer is none");
    scene.type_in("red");
    scene.tell(Msg::Pasted(" as\never".to_owned()));
    let asked = command(scene.press(Key::Enter));
    let text = "red as ever".to_owned();
    let question = Question::of(&scene.now("t-ask"));
    assert_eq!(
        asked,
        Command::Answer {
            agent: agent("ada"),
            text,
            question,
        }
    );
    assert!(scene.screen(80, 24).contains("… answer ada"));
    let outcome = Ok(Outcome::Refused {
        why: "ada has asked nothing".to_owned(),
    });
    scene.tell(Msg::CommandResult(CommandResult {
        request: "answer ada".to_owned(),
        outcome,
    }));
    assert!(
        scene
            .screen(80, 24)
            .contains("✗ answer ada refused: ada has asked nothing")
    );
}

#[test]
fn what_destroys_or_stops_asks_first() {
    let mut scene = Scene::busy(80, 24);
    scene.press(Key::Char('K'));
    assert!(scene.screen(80, 24).contains("Kill ada?"));
    assert_eq!(scene.press(Key::Enter), [], "only y is a yes");
    assert_eq!(scene.press(Key::Char('n')), []);
    scene.press(Key::Char('K'));
    assert_eq!(
        command(scene.press(Key::Char('y'))),
        Command::Kill { agent: agent("ada") }
    );

    scene.press(Key::Char('D'));
    assert_eq!(scene.press(Key::Escape), []);
    scene.press(Key::Char('D'));
    assert_eq!(scene.press(Key::Enter), [], "it needs a reason");
    assert!(scene.screen(80, 24).contains("A reason is needed"));
    scene.type_in("no time");
    let reason = "no time".to_owned();
    let ticket = id("t-ask");
    assert_eq!(command(scene.press(Key::Enter)), Command::Drop { ticket, reason });

    scene.press(Key::Char('S'));
    assert_eq!(scene.press(Key::Enter), []);
    let running = OnStop::Leave;
    assert_eq!(command(scene.press(Key::Char('l'))), Command::Stop { running });
}

#[test]
fn held_tickets_are_retried_merged_waived_approved() {
    let mut scene = Scene::busy(80, 24);
    scene.press(Key::Char('4'));
    scene.press(Key::Char('j'));
    let ticket = || id("t-hold");
    assert_eq!(
        command(scene.press(Key::Char('r'))),
        Command::Retry { ticket: ticket() }
    );
    assert_eq!(
        command(scene.press(Key::Char('m'))),
        Command::Merge { ticket: ticket() }
    );
    assert_eq!(scene.press(Key::Char('p')), [], "it asks");
    assert!(scene.screen(80, 24).contains("Approve t-hold?"));
    assert_eq!(
        scene.press(Key::Char('p')),
        [],
        "a key that is held down is no yes"
    );
    assert_eq!(
        command(scene.press(Key::Char('y'))),
        Command::Approve {
            ticket: ticket(),
            tip: None
        }
    );
    scene.press(Key::Char('w'));
    assert_eq!(scene.press(Key::Enter), [], "a waiver needs a reason");
    scene.type_in("it is fine");
    let reason = "it is fine".to_owned();
    assert_eq!(
        command(scene.press(Key::Enter)),
        Command::Waive {
            ticket: ticket(),
            reason
        }
    );
}

#[test]
fn an_approval_is_a_word_on_the_tip_that_is_shown() {
    let mut scene = Scene::busy(80, 24);
    scene.press(Key::Char('3'));
    let (ticket, tip) = (id("t-check"), Some("3".repeat(40)));
    scene.press(Key::Char('p'));
    assert!(scene.screen(80, 24).contains("Approve t-check at 33333333?"));
    assert_eq!(
        command(scene.press(Key::Char('y'))),
        Command::Approve { ticket, tip }
    );
}

/// A diff of so many lines.
fn diff(commit: Option<char>, lines: usize) -> Diff {
    let line = |n| DiffLine::new(Tone::Good, format!("+line {n}\u{1b}[2J"));
    Diff {
        commit: commit.map(oid),
        lines: (1..=lines).map(line).collect(),
    }
}

#[test]
fn an_approval_from_the_diff_is_a_word_on_the_commit_that_it_shows() {
    let mut scene = Scene::busy(80, 24);
    let ticket = || id("t-check");
    scene.type_in("3");
    assert_eq!(scene.type_in("d"), [Action::Diff(ticket())]);
    assert!(scene.screen(80, 24).contains("git reads it"));
    assert_eq!(scene.type_in("d"), [], "it is being read");
    assert_eq!(scene.type_in("p"), [], "nothing is shown yet");
    let read = |diff| Msg::Diff {
        ticket: ticket(),
        diff,
    };
    let of_another = id("t-line");
    scene.tell(Msg::Diff {
        ticket: of_another,
        diff: Ok(diff(Some('b'), 1)),
    });
    assert!(scene.screen(80, 24).contains("git reads it"));
    scene.tell(read(Ok(diff(Some('a'), 50))));
    let screen = scene.screen(80, 24);
    assert!(
        screen.contains("Diff of t-check, ") && screen.contains("│+line 1 ") || screen.contains("┃+line 1"),
        "{screen}"
    );
    assert!(!screen.contains("Queue"), "it is shown alone: {screen}");
    scene.type_in("G");
    assert!(scene.screen(80, 24).contains("+line 50"));
    scene.type_in("g");
    assert!(!scene.screen(80, 24).contains("+line 50"));
    let approve = |digit: char| Command::Approve {
        ticket: ticket(),
        tip: Some(digit.to_string().repeat(40)),
    };
    assert_eq!(command(scene.type_in("py")), approve('a'));
    scene.tell(Msg::CommandResult(CommandResult {
        request: "approve t-check".to_owned(),
        outcome: Ok(Outcome::Accepted {
            message: String::new(),
        }),
    }));

    // Its files as they are in the workspace are no commit: there is nothing that could be approved.
    assert_eq!(scene.type_in("d"), [Action::Diff(ticket())]);
    scene.tell(read(Ok(diff(None, 1))));
    assert_eq!(scene.type_in("p"), []);
    assert!(scene.screen(80, 24).contains("no commit that could be approved"));

    // It lands meanwhile: the pane says that there is something else to see, and keeps what it shows.
    scene.type_in("d");
    scene.tell(read(Ok(diff(Some('a'), 1))));
    assert!(!scene.screen(80, 24).contains("has moved on"));
    let passed = model::ticket::Event::ChecksPassed {
        tree: oid('2'),
        passed: vec!["true".to_owned()],
        review: false,
    };
    scene.ticket("t-check", passed);
    scene.ticket("t-check", model::ticket::Event::Landed { commit: oid('a') });
    let screen = scene.screen(80, 24);
    assert!(
        screen.contains("has moved on") && screen.contains("+line 1"),
        "{screen}"
    );
    assert_eq!(scene.type_in("p"), [], "it has landed");
    scene.type_in("d");
    scene.tell(read(Err("there is no work of t-check".to_owned())));
    let screen = scene.screen(80, 24);
    assert!(
        screen.contains("there is no work of t-check") && !screen.contains("has moved on"),
        "{screen}"
    );

    // It leads back to where it was opened.
    scene.type_in("q");
    assert!(scene.screen(80, 24).contains("━ 3 Train"));
    scene.type_in("d1");
    assert!(scene.screen(80, 24).contains("━ 1 Agents"));
}

#[test]
fn a_key_acts_from_a_diff_on_the_work_that_it_shows_or_not_at_all() {
    let mut scene = Scene::busy(80, 24);
    let read = |diff| Msg::Diff {
        ticket: id("t-check"),
        diff,
    };
    scene.type_in("3d");
    scene.tell(read(Err("git is gone".to_owned())));
    assert_eq!(scene.type_in("x"), []);
    let screen = scene.screen(80, 24);
    assert!(
        screen.contains("this diff shows no work") && !screen.contains("x reject"),
        "{screen}"
    );
    scene.type_in("d");
    scene.tell(read(Ok(diff(Some('a'), 1))));
    for key in ["a", "s", "r", "m", "w", "K", "W", "n", "S", "R"] {
        assert_eq!(scene.type_in(key), [], "{key}");
        let screen = scene.screen(80, 24);
        assert!(
            screen.contains(&format!("{key} does nothing in a diff: q closes it")),
            "{screen}"
        );
    }
    scene.type_in("x");
    let screen = scene.screen(80, 24);
    assert!(
        screen.contains("Reject the work on t-check at aaaaaaaa?"),
        "{screen}"
    );
    scene.type_in("no");
    // Other work is there before the reason is: it is of what was seen.
    let passed = model::ticket::Event::ChecksPassed {
        tree: oid('2'),
        passed: vec!["true".to_owned()],
        review: false,
    };
    scene.ticket("t-check", passed);
    scene.ticket("t-check", model::ticket::Event::TargetMoved);
    assert_eq!(scene.press(Key::Enter), []);
    let screen = scene.screen(80, 24);
    assert!(
        screen.contains("the work has moved on") && screen.contains("> no"),
        "{screen}"
    );
}

#[test]
fn an_agent_that_has_gone_on_to_another_ticket_is_not_that_of_the_row() {
    let mut scene = Scene::new(80, 24);
    scene.project(model::project::Event::AgentSpawned { name: agent("ada") });
    scene.work("t-1", "Mend the hinge", "ada");
    scene.step("t-1", Signal::Done, None);
    scene.land("t-1");
    scene.work("t-2", "Oil it", "ada");
    scene.type_in("2");
    scene.press(Key::End);
    for key in ["K", "W"] {
        assert_eq!(scene.type_in(key), []);
        assert!(scene.screen(80, 24).contains("no agent with a ticket is chosen"));
    }
    scene.press(Key::Home);
    scene.type_in("K");
    assert!(scene.screen(80, 24).contains("Kill ada?"));
}

#[test]
fn work_is_rejected_with_the_reason_that_its_agent_gets() {
    let mut scene = Scene::busy(80, 24);
    scene.press(Key::Char('3'));
    scene.press(Key::Char('x'));
    let screen = scene.screen(80, 24);
    assert!(screen.contains("Reject the work on t-check?"), "{screen}");
    assert_eq!(scene.press(Key::Enter), [], "the agent needs a reason");
    assert!(scene.screen(80, 24).contains("the agent goes by it"));
    scene.type_in("no test for it");
    let (ticket, why) = (id("t-check"), "no test for it".to_owned());
    assert_eq!(command(scene.press(Key::Enter)), Command::Reject { ticket, why });
}

#[test]
fn a_ticket_is_assigned_from_either_side() {
    let mut scene = Scene::busy(80, 24);
    // edith is idle, and the last in the list.
    scene.press(Key::End);
    scene.press(Key::Char('s'));
    assert!(scene.screen(80, 24).contains("What does edith get?"));
    scene.press(Key::Down);
    let wanted = Command::Assign {
        agent: agent("edith"),
        ticket: id("t-open2"),
    };
    assert_eq!(command(scene.press(Key::Enter)), wanted);

    scene.press(Key::Char('/'));
    scene.type_in("open2");
    scene.press(Key::Enter);
    scene.press(Key::Char('2'));
    scene.press(Key::Char('s'));
    assert!(
        scene.screen(80, 24).contains("Who gets t-open2?"),
        "{}",
        scene.screen(80, 24)
    );
    assert_eq!(command(scene.press(Key::Enter)), wanted);
}

#[test]
fn agents_are_spawned_by_name_or_number() {
    let mut scene = Scene::busy(80, 24);
    let mut spawn = |text: &str| {
        scene.press(Key::Char('n'));
        scene.type_in(text);
        scene.press(Key::Enter)
    };
    assert_eq!(command(spawn("")), Command::SpawnMany { count: 1 });
    assert_eq!(command(spawn("3")), Command::SpawnMany { count: 3 });
    let name = agent("zoe");
    assert_eq!(command(spawn("zoe")), Command::Spawn { name });
    assert_eq!(spawn("a b"), []);
    assert!(scene.screen(80, 24).contains("Spawn"), "it can be mended");
}

#[test]
fn without_an_engine_there_is_nothing_to_stop() {
    let mut scene = Scene::busy(80, 24);
    scene.tell(Msg::Engine(None));
    scene.press(Key::Char('S'));
    let seen = scene.screen(80, 24);
    assert!(seen.contains("no engine runs here; R runs one"), "{seen}");
    assert!(
        seen.contains("steps run on: R runs one, which adopts them"),
        "{seen}"
    );
    let run = Action::Run {
        request: "run".to_owned(),
    };
    assert_eq!(scene.press(Key::Char('R')), [run]);
    assert_eq!(scene.press(Key::Char('R')), [], "one is being started");
}

#[test]
fn the_engine_says_what_it_is_at() {
    let mut scene = Scene::busy(80, 24);
    assert!(scene.screen(80, 24).contains("● at work 2m"));
    scene.project(model::project::Event::Closing);
    assert!(scene.screen(80, 24).contains("stopping, waits for running steps"));
    scene.project(model::project::Event::Closed);
    scene.tell(Msg::Engine(None));
    assert!(scene.screen(80, 24).contains("no engine"));
    scene.tell(Msg::Engine(Some(Engine {
        pid: None,
        since: None,
    })));
    assert!(scene.screen(80, 24).contains("◐ starting"));
}

#[test]
fn a_choice_stays_with_its_ticket_and_is_followed() {
    let mut scene = Scene::busy(80, 24);
    scene.press(Key::Char('2'));
    scene.press(Key::Home);
    let read = scene.press(Key::End);
    assert!(read.contains(&Action::Read(id("t-done"))), "{read:?}");
    let first = scene.press(Key::Home);
    assert!(first.contains(&Action::Read(id("t-check"))), "{first:?}");
    assert!(
        first.contains(&Action::Watch(Some(scene.run("t-check")))),
        "{first:?}"
    );
    // The next ticket lands and moves to the end of the list, and the choice follows it.
    scene.press(Key::Down);
    scene.land("t-line");
    let seen = scene.screen(80, 24);
    assert!(seen.contains("▸✓ t-line"), "{seen}");
    // At the top no particular ticket is chosen, so the choice stays on the first one.
    scene.press(Key::Home);
    scene.create("t-first", "Before all", 0);
    scene.claim("t-first", "dorothy");
    scene.begin_step("t-first");
    scene.step("t-first", Signal::Done, None);
    let seen = scene.screen(80, 24);
    assert!(seen.contains("▸◌ t-first"), "{seen}");
}

#[test]
fn the_filter_narrows_every_list_as_it_is_typed() {
    let mut scene = Scene::busy(200, 50);
    scene.press(Key::Char('/'));
    scene.type_in("MEND roof");
    let seen = scene.screen(200, 50);
    assert!(
        seen.contains("t-check") && !seen.contains("t-open1") && !seen.contains("t-ask"),
        "{seen}"
    );
    scene.press(Key::Enter);
    assert!(scene.screen(200, 50).contains("/MEND roof: 1 agent, 1 ticket"));
    scene.press(Key::Escape);
    assert!(scene.screen(200, 50).contains("t-open1"));
}

#[test]
fn panes_are_gone_to_zoomed_and_left() {
    let mut scene = Scene::busy(80, 24);
    for (key, name) in [
        (Key::Tab, "2 Queue"),
        (Key::BackTab, "1 Agents"),
        (Key::BackTab, "7 Cost"),
    ] {
        scene.press(key);
        let seen = scene.screen(80, 24);
        assert!(seen.contains(&format!("━ {name}")), "{name}: {seen}");
    }
    scene.press(Key::Char('z'));
    assert!(!scene.screen(80, 24).contains("Queue"));
    scene.press(Key::Escape);
    assert!(scene.screen(80, 24).contains("Queue"));
    assert_eq!(scene.press(Key::Char('q')), [Action::Quit]);
    assert_eq!(scene.press(Key::Ctrl('c')), [Action::Quit]);
    assert_eq!(scene.press(Key::Ctrl('z')), [Action::Suspend]);
}

#[test]
fn output_is_scrolled_and_comes_back_to_its_end() {
    let mut scene = Scene::busy(80, 24);
    scene.press(Key::Char('j'));
    let lines: String = (0..100).map(|n| format!("line {n}\n")).collect();
    scene.print("t-work", lines.as_bytes());
    scene.press(Key::Char('5'));
    assert!(scene.screen(80, 24).contains("line 99"));
    scene.press(Key::Home);
    let seen = scene.screen(80, 24);
    assert!(seen.contains("line 0") && !seen.contains("line 99"), "{seen}");
    scene.press(Key::End);
    scene.print("t-work", b"one more\n");
    assert!(scene.screen(80, 24).contains("one more"));
}

#[test]
fn output_of_a_run_that_is_not_looked_at_is_passed_over() {
    let mut scene = Scene::busy(80, 24);
    scene.print("t-work", b"not yours\n");
    assert!(!scene.screen(80, 24).contains("not yours"));
}

#[test]
fn a_ticket_that_only_has_a_file_is_listed_until_the_journal_knows_it() {
    let mut scene = Scene::new(80, 24);
    let mut other = Scene::new(80, 24);
    other.create("t-file", "Only a file", 1);
    let unseen = [(id("t-file"), other.now("t-file").into())].into();
    scene.tell(Msg::Files(tui::Files {
        unseen,
        ..tui::Files::default()
    }));
    assert!(scene.screen(80, 24).contains("t-file"));
    scene.tell(Msg::Files(tui::Files::default()));
    assert!(!scene.screen(80, 24).contains("t-file"), "its file is gone");
    scene.create("t-file", "Only a file", 1);
    scene.tell(Msg::Files(tui::Files::default()));
    assert!(scene.screen(80, 24).contains("t-file"), "the journal knows it");
}

#[test]
fn what_is_shown_is_what_the_view_says() {
    let scene = Scene::busy(200, 50);
    let seen = scene.screen(200, 50);
    for status in [
        view::Status::Waiting,
        view::Status::Working,
        view::Status::Verifying,
        view::Status::Idle,
    ] {
        assert!(
            seen.contains(status.symbol()) && seen.contains(status.name()),
            "{status:?} in {seen}"
        );
    }
}

#[test]
fn an_agent_is_woken() {
    let mut scene = Scene::busy(80, 24);
    let agent = agent("ada");
    assert_eq!(command(scene.press(Key::Char('W'))), Command::Wake { agent });
    scene.press(Key::End);
    assert_eq!(scene.press(Key::Char('W')), [], "edith has no ticket");
}

#[test]
fn what_the_folder_says_waits_in_the_inbox_with_what_to_do() {
    let mut scene = Scene::new(200, 50);
    let file = view::BadFile {
        name: "t-bad".to_owned(),
        ticket: None,
        what: "line 3: no such priority".to_owned(),
        hint: "mend \u{1b}[31mthe file".to_owned(),
    };
    let beside = view::Context {
        files: vec![file],
        ..view::Context::default()
    };
    let files = tui::Files {
        beside,
        ..tui::Files::default()
    };
    scene.tell(Msg::Files(files));
    scene.press(Key::Char('4'));
    let seen = scene.screen(200, 50);
    assert!(seen.contains("1 waits for you"), "{seen}");
    assert!(
        seen.contains("t-bad.md") && seen.contains("line 3: no such priority"),
        "{seen}"
    );
    assert!(seen.contains("what to do: mend the file"), "{seen}");
    assert_eq!(scene.press(Key::Char('r')), [], "there is no ticket to retry");
}

#[test]
fn a_paused_harness_has_a_line_of_its_own() {
    let mut scene = Scene::busy(80, 24);
    let pause = model::project::HarnessPause {
        class: model::attempt::Class::Auth,
        message: "key \u{1b}[31mrefused".to_owned(),
        until: None,
        since: model::Time(0),
        ticket: id("t-work"),
    };
    let harness = "claude".to_owned();
    scene.project(model::project::Event::HarnessPaused {
        harness: harness.clone(),
        pause,
    });
    let seen = scene.screen(80, 24);
    let line = seen.lines().nth(1).unwrap_or_default();
    assert!(
        line.starts_with("! claude refuses (auth): key refused; `crew retry"),
        "{seen}"
    );
    scene.project(model::project::Event::HarnessFreed {
        harness,
        by: Actor::person("human"),
    });
    assert!(!scene.screen(80, 24).contains("! claude"));
}

#[test]
fn output_goes_through_the_runs_of_a_ticket_whose_agent_is_elsewhere_by_now() {
    let mut scene = Scene::new(80, 24);
    scene.work("t-1", "Mend the hinge", "ada");
    let first = scene.run("t-1");
    scene.step("t-1", Signal::None, None);
    scene.begin_step("t-1");
    let second = scene.run("t-1");
    scene.step("t-1", Signal::Done, None);
    scene.land("t-1");
    scene.work("t-2", "Oil it", "ada");
    scene.press(Key::Char('2'));
    let shows = |actions: Vec<Action>, run| actions.contains(&Action::Watch(Some(run)));
    assert!(shows(scene.press(Key::Down), second.clone()));
    let seen = scene.screen(80, 24);
    assert!(seen.contains("of ada, t-1, 2 of 2"), "{seen}");
    assert!(shows(scene.press(Key::Char('[')), first));
    let seen = scene.screen(80, 24);
    assert!(seen.contains("of ada, t-1, 1 of 2"), "{seen}");
    assert_eq!(scene.press(Key::Char('[')), [], "there is none before it");
    assert!(shows(scene.press(Key::Char(']')), second));
}

#[test]
fn a_priority_in_the_filter_is_no_part_of_an_id() {
    let mut scene = Scene::new(200, 50);
    scene.create("t-p01x", "Mend the hinge", 2);
    scene.create("t-2", "Oil it", 0);
    scene.press(Key::Char('/'));
    scene.type_in("p0");
    let seen = scene.screen(200, 50);
    assert!(
        seen.contains("Oil it") && !seen.contains("Mend the hinge"),
        "{seen}"
    );
}
