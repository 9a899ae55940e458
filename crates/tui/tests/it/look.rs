//! The look of the dashboard.

use model::RunId;
use model::attempt::Signal;
use model::policy::route::Refusal;
use model::view::Context;
use tui::{Files, Key, Msg};

use crate::scene::{Scene, agent, id, oid, output};

#[test]
fn at_work_in_80_by_24() {
    let mut scene = Scene::busy(80, 24);
    scene.press(Key::Char('j'));
    scene.print(
        "t-work",
        b"I look at the hinge.\nIt is bent; I straighten it.\nhalf a li",
    );
    insta::assert_snapshot!(scene.screen(80, 24));
}

#[test]
fn at_work_in_40_by_10() {
    let mut scene = Scene::busy(40, 10);
    let mut seen = scene.screen(40, 10);
    for pane in ['2', '3', '4', '5', '6', '7'] {
        scene.press(Key::Char(pane));
        seen.push_str("----------------------------------------\n");
        seen.push_str(&scene.screen(40, 10));
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn at_work_in_200_by_50() {
    let mut scene = Scene::busy(200, 50);
    scene.press(Key::Char('2'));
    insta::assert_snapshot!(scene.screen(200, 50));
}

#[test]
fn before_anything_happened() {
    let mut scene = Scene::new(80, 24);
    scene.create("t-1", "Mend the roof", 1);
    scene.create("t-2", "Paint it", 0);
    let waits = Refusal::WaitsFor { ids: vec![id("t-1")] };
    scene.tell(Msg::Files(Files {
        beside: Context {
            refusals: [(id("t-2"), waits)].into(),
            ..Context::default()
        },
        ..Files::default()
    }));
    insta::assert_snapshot!(scene.screen(80, 24));
}

#[test]
fn a_question_is_answered_in_front_of_everything() {
    let mut scene = Scene::busy(80, 24);
    scene.press(Key::Char('4'));
    scene.press(Key::Char('a'));
    scene.type_in("red, as it always was");
    insta::assert_snapshot!(scene.screen(80, 24));
    let mut narrow = Scene::busy(40, 10);
    narrow.press(Key::Char('4'));
    narrow.press(Key::Char('a'));
    narrow.type_in("red, as it always was and will be for ever");
    insta::assert_snapshot!("a_question_in_40_by_10", narrow.screen(40, 10));
}

#[test]
fn help_is_all_there() {
    let mut scene = Scene::busy(80, 36);
    scene.press(Key::Char('?'));
    insta::assert_snapshot!(scene.screen(80, 36));
}

#[test]
fn a_pane_alone_shows_the_history() {
    let mut scene = Scene::busy(80, 24);
    let rows = Vec::new();
    scene.press(Key::Char('3'));
    scene.tell(Msg::History {
        ticket: id("t-check"),
        rows,
    });
    scene.ticket(
        "t-check",
        model::ticket::Event::ChecksPassed {
            tree: oid('2'),
            passed: vec!["cargo test".to_owned()],
            review: false,
        },
    );
    scene.ticket("t-check", model::ticket::Event::TargetMoved);
    scene.press(Key::Char('6'));
    scene.press(Key::Enter);
    insta::assert_snapshot!(scene.screen(80, 24));
}

#[test]
fn nothing_that_an_agent_or_an_author_wrote_reaches_the_terminal_as_it_is() {
    let mut scene = Scene::busy(80, 24);
    scene.work("t-evil", "\u{1b}[2J\u{202e}evil\u{9b}31m", "edith");
    scene.print("t-evil", b"\x1b[2J\x9b31m\xe2\x80\xae");
    for pane in ['1', '2', '3', '4', '5', '6', '7'] {
        scene.press(Key::Char(pane));
        let seen = scene.screen(80, 24);
        assert!(
            seen.chars()
                .all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}')),
            "{seen:?}"
        );
    }
}

#[test]
fn a_thousand_tickets_are_listed_where_the_choice_is() {
    let mut scene = Scene::new(80, 24);
    for n in 0..1_000 {
        scene.create(&format!("t-{n:04}"), &format!("Part {n}"), 2);
    }
    scene.press(Key::Char('2'));
    scene.press(Key::End);
    let seen = scene.screen(80, 24);
    assert!(seen.contains("▸○ t-0999") && !seen.contains("t-0500"), "{seen}");
    for _ in 0..40 {
        scene.press(Key::PageUp);
    }
    assert!(scene.screen(80, 24).contains("t-0"), "{}", scene.screen(80, 24));
}

#[test]
fn the_checks_of_the_target_stand_above_the_train() {
    use model::project::Event;
    use model::target::Verdict;

    let mut scene = Scene::new(100, 20);
    scene.engine();
    scene.press(Key::Char('3'));
    let mut seen = String::new();
    let verdicts = [
        Verdict::Checking {
            command: Some("make check".to_owned()),
            is_canary: false,
        },
        Verdict::Failed {
            which: "make check".to_owned(),
            output: "test result: FAILED\n(exit code 101)".to_owned(),
        },
        Verdict::Passed,
    ];
    for verdict in verdicts {
        let mut target = model::samples::project::target(verdict);
        target.since = scene.now;
        // Nothing else is chosen: the output of the check stands there until agents start.
        let run = RunId::of_target(1, 1);
        target.run = Some(run.clone());
        scene.project(Event::Target(Box::new(target)));
        scene.tell(output(run, b"test roof ... FAILED\n"));
        scene.pass(3);
        seen.push_str(&scene.screen(100, 20));
    }
    insta::assert_snapshot!(seen);
}

/// A dashboard whose inbox has a red target, a held ticket with a long reason, and a ticket's file that
/// nobody can explain.
fn waiting(columns: u16, lines: u16) -> Scene {
    use model::ticket::{FileStatus, Origin, Unheeded};

    let mut scene = Scene::new(columns, lines);
    scene.engine();
    scene.project(model::project::Event::AgentSpawned { name: agent("ada") });
    scene.work("t-hold", "Replace the boiler", "ada");
    let why = "there is no boiler in the cellar, and the plan that the ticket names shows one where the \
               staircase is: which of the two is meant, and who may open the wall?"
        .to_owned();
    scene.step("t-hold", Signal::Blocked { why }, None);
    scene.create("t-file", "Sweep the yard", 1);
    let change = Unheeded {
        origin: Origin::Unknown,
        says: Some(FileStatus::Closed),
        renamed: None,
        since: scene.now,
    };
    scene.ticket("t-file", model::ticket::Event::FileUnheeded { change });
    let verdict = model::target::Verdict::Failed {
        which: "make check".to_owned(),
        output: "E   assert two() == 3\nE          ^^^^^\n1 failed\n(exit code 1)".to_owned(),
    };
    let target = Box::new(model::samples::project::target(verdict));
    scene.project(model::project::Event::Target(target.clone()));
    scene.tell(Msg::Files(Files {
        beside: Context {
            target: Some(target),
            ..Context::default()
        },
        ..Files::default()
    }));
    scene
}

#[test]
fn the_inbox_shows_the_whole_reason_and_what_to_type() {
    let mut seen = String::new();
    for (columns, lines) in [(80, 24), (160, 50)] {
        let mut scene = waiting(columns, lines);
        scene.press(Key::Char('4'));
        for _ in 0..3 {
            seen.push_str(&scene.screen(columns, lines));
            let chosen = |scene: &Scene| {
                let screen = scene.screen(columns, lines);
                let row = screen.split('┃').find(|cell| cell.starts_with('▸'));
                row.map(|row| row.split_whitespace().take(4).collect::<Vec<_>>().join(" "))
            };
            let before = chosen(&scene);
            // The entry is scrolled to its end first.
            for _ in 0..50 {
                scene.press(Key::Down);
                if chosen(&scene) != before {
                    break;
                }
            }
        }
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn an_entry_that_is_longer_than_its_pane_is_scrolled_before_the_next_is_chosen() {
    let mut scene = waiting(80, 24);
    scene.press(Key::Char('4'));
    assert!(
        scene.screen(80, 24).contains("lines below"),
        "{}",
        scene.screen(80, 24)
    );
    let mut seen = String::new();
    for _ in 0..30 {
        seen.push_str(&scene.screen(80, 24));
        if !scene.screen(80, 24).contains(" below") {
            break;
        }
        scene.press(Key::Down);
    }
    for part in [
        "│ E          ^^^^^",
        "start them all the same",
        "the checks printed",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    scene.press(Key::End);
    scene.press(Key::Home);
    assert!(
        scene.screen(80, 24).contains("lines below"),
        "Home shows its beginning"
    );
}

#[test]
fn the_end_of_what_a_red_target_printed_stands_beside_its_entry() {
    let mut scene = Scene::new(100, 30);
    scene.engine();
    let verdict = model::target::Verdict::Failed {
        which: "make check".to_owned(),
        output: "1\n2\n3\n4\nassertion failed\n(exit code 101)".to_owned(),
    };
    let target = Box::new(model::samples::project::target(verdict));
    scene.project(model::project::Event::Target(target.clone()));
    scene.tell(Msg::Files(Files {
        beside: Context {
            target: Some(target),
            ..Context::default()
        },
        ..Files::default()
    }));
    scene.press(Key::Char('4'));
    scene.press(Key::Char('6'));
    let seen = scene.screen(100, 30);
    for part in ["assertion failed", "(exit code 101)", "what to do: mend it"] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
}

#[test]
fn every_number_on_the_screen_counts_the_same() {
    let mut scene = Scene::busy(200, 50);
    let spec = model::ticket::Spec {
        title: "The whole house".to_owned(),
        kind: "epic".to_owned(),
        ..model::ticket::Spec::default()
    };
    scene.ticket("t-epic", model::ticket::Event::Created { spec });
    let seen = scene.screen(200, 50);
    for part in [
        "1/9 done · 1 held · 3 open · 2 in progress · 2 verifying · 1 epic",
        " 2 Queue 8 to do, 1 epic, 1 done ",
        " 3 Train 2 verifying ",
        " 4 Inbox 2 wait for you ",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    scene.press(Key::Char('/'));
    scene.type_in("fence");
    let seen = scene.screen(200, 50);
    for part in [" 2 Queue 3 to do ", "/fence: 0 agents, 3 tickets"] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
}

#[test]
fn a_list_says_how_many_rows_are_above_and_below() {
    let mut scene = Scene::new(80, 24);
    for n in 1..=10 {
        scene.create(&format!("t-{n:02}"), &format!("Part {n}"), 2);
    }
    let rows = |scene: &Scene| {
        let seen = scene.screen(80, 24);
        (1..=10).filter(|n| seen.contains(&format!("t-{n:02}"))).count()
    };
    scene.press(Key::Char('2'));
    let shown = rows(&scene);
    assert!((2..9).contains(&shown), "{shown}");
    let below = format!(" ↓{} more ", 10 - shown);
    let seen = scene.screen(80, 24);
    assert!(seen.contains(&below) && !seen.contains('↑'), "{seen}");
    scene.press(Key::End);
    let seen = scene.screen(80, 24);
    let above = format!(" ↑{} more ", 10 - shown);
    assert!(seen.contains(&above) && !seen.contains('↓'), "{seen}");
    let mut small = Scene::new(40, 10);
    small.create("t-01", "Part 1", 2);
    small.press(Key::Char('2'));
    assert!(!small.screen(40, 10).contains("more"), "all of it is there");
    for n in 2..=10 {
        small.create(&format!("t-{n:02}"), &format!("Part {n}"), 2);
    }
    let hidden = 10
        - (1..=10)
            .filter(|n| small.screen(40, 10).contains(&format!("t-{n:02}")))
            .count();
    let seen = small.screen(40, 10);
    assert!(seen.contains(&format!("↓{hidden} more")), "{seen}");
}

#[test]
fn the_keys_that_are_offered_apply_to_what_is_chosen() {
    let mut scene = Scene::busy(200, 50);
    let keys = |scene: &Scene| scene.screen(200, 50).lines().last().unwrap().to_owned();
    // One that asks, one at work, one that is idle.
    let seen = keys(&scene);
    assert!(
        seen.contains("a answer  K kill") && !seen.contains("W wake"),
        "{seen}"
    );
    scene.press(Key::Char('j'));
    let seen = keys(&scene);
    assert!(seen.contains("K kill") && !seen.contains("a answer"), "{seen}");
    scene.press(Key::End);
    assert!(keys(&scene).contains("s assign"), "{}", keys(&scene));
    // One that waits for another cannot be assigned.
    let waits = Refusal::WaitsFor {
        ids: vec![id("t-work")],
    };
    let refusals = (1..=3).map(|n| (id(&format!("t-open{n}")), waits.clone()));
    scene.tell(Msg::Files(Files {
        beside: Context {
            refusals: refusals.collect(),
            ..Context::default()
        },
        ..Files::default()
    }));
    assert!(!keys(&scene).contains("s assign"), "{}", keys(&scene));
    scene.press(Key::Char('5'));
    let seen = keys(&scene);
    assert!(!seen.contains("other runs") && !seen.contains("fold"), "{seen}");
}

#[test]
fn settings_that_cannot_be_used_stand_in_the_inbox() {
    let mut scene = Scene::busy(100, 30);
    scene.tell(Msg::Files(Files {
        beside: Context {
            settings: Some("crew.toml:3:9: extra `=`".to_owned()),
            ..Context::default()
        },
        ..Files::default()
    }));
    scene.press(Key::Char('4'));
    scene.press(Key::Home);
    let seen = scene.screen(100, 30);
    for part in [
        "4 Inbox 3 wait for you",
        "▸!        ",
        "crew.toml cannot be used",
        "crew.toml:3:9: extra `=`",
        "until then the engine goes on",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
}

#[test]
fn a_moment_in_a_sentence_is_that_of_whoever_looks() {
    let mut scene = Scene::new(160, 50);
    scene.work("t-1", "Mend the hinge", "ada");
    let why = "the shop opens at 2026-01-02T08:00:00Z".to_owned();
    scene.step("t-1", Signal::Blocked { why }, None);
    scene.press(Key::Char('4'));
    scene.tell(Msg::History {
        ticket: id("t-1"),
        rows: Vec::new(),
    });
    let seen = scene.screen(160, 50);
    // In the inbox, in the queue and above the history.
    assert!(seen.matches("opens at 08:00:00 here").count() >= 3, "{seen}");
    assert!(!seen.contains("T08:00"), "{seen}");
}

#[test]
fn a_file_that_a_person_has_opened_again_counts_before_an_engine_sees_it() {
    let mut scene = Scene::new(100, 30);
    scene.work("t-1", "Mend the hinge", "ada");
    scene.step("t-1", Signal::Done, None);
    scene.land("t-1");
    assert!(scene.screen(100, 30).contains("1/1 done"));
    let opened = {
        let mut other = Scene::new(100, 30);
        other.create("t-1", "Mend the hinge", 2);
        other.now("t-1")
    };
    let files = |seq| {
        Msg::Files(Files {
            unseen: [(id("t-1"), opened.clone().into())].into(),
            seq,
            ..Files::default()
        })
    };
    scene.tell(files(scene.seq() - 1));
    assert!(scene.screen(100, 30).contains("1/1 done"), "it was read before");
    scene.tell(files(scene.seq()));
    assert!(
        scene.screen(100, 30).contains("0/1 done · 1 open"),
        "{}",
        scene.screen(100, 30)
    );
    scene.tell(Msg::Files(Files::default()));
    assert!(scene.screen(100, 30).contains("1/1 done"), "it was closed again");
}

#[test]
fn with_another_journal_nothing_of_the_one_before_is_shown_and_what_cannot_be_read_is_said() {
    let mut scene = Scene::busy(100, 30);
    assert!(scene.screen(100, 30).contains("t-hold"));
    scene.tell(Msg::Journal);
    scene.tell(Msg::Troubles(vec!["the journal was deleted".to_owned()]));
    let screen = scene.screen(100, 30);
    assert!(screen.contains("! the journal was deleted"), "{screen}");
    for gone in ["t-hold", "t-work", "ada"] {
        assert!(!screen.contains(gone), "{gone}: {screen}");
    }
    scene.tell(Msg::Troubles(Vec::new()));
    assert!(!scene.screen(100, 30).contains("deleted"));
}

#[test]
fn blanks_at_the_end_of_an_added_line_are_seen() {
    let mut scene = Scene::busy(30, 12);
    scene.press(Key::Char('3'));
    scene.type_in("d");
    let line = |text: &str, blanks: &str| tui::DiffLine {
        tone: tui::Tone::Good,
        text: text.to_owned(),
        blanks: blanks.to_owned(),
    };
    let lines = vec![
        line("+two", " \t^M"),
        line("+0123456789012345678901234567", "    "),
        line("+", " "),
    ];
    scene.tell(Msg::Diff {
        ticket: id("t-check"),
        diff: Ok(tui::Diff { commit: None, lines }),
    });
    let marked = |y: u16| -> (u16, u16) {
        let cells = scene.cells(30, 12);
        let mut at = (0..30).filter(|x| cells[(*x, y)].bg == ratatui::style::Color::Red);
        let first = at.next().unwrap_or(0);
        (first, first + u16::try_from(at.count()).unwrap() + 1)
    };
    let seen = scene.screen(30, 12);
    let row =
        |what: &str| u16::try_from(seen.lines().position(|line| line.starts_with(what)).unwrap()).unwrap();
    assert_eq!(marked(row("+two")), (4, 11));
    let long = row("+01");
    assert_eq!((marked(long), marked(long + 1)), ((29, 30), (0, 3)));
    assert_eq!(marked(long + 2), (1, 2));
}
