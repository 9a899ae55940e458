//! Every operation of tk, and its output.

use std::collections::BTreeSet;

use tickets::*;

use crate::{Queue, at, id, titled};

#[test]
fn create_writes_what_tk_writes() {
    let q = Queue::new();
    let new = New {
        title: "Fix | the \"thing\"".into(),
        description: Some("Why.\n\n---\nstatus: closed\n---".into()),
        design: Some("How.".into()),
        acceptance: Some("It works.".into()),
        assignee: Some("Ada Lovelace".into()),
        external_ref: Some("gh-12".into()),
        tags: New::tags("ui, backend"),
        ..New::default()
    };
    let made = q
        .folder
        .create(&new, &prefix("my-app"), at(0), || Ok("a1b2".into()))
        .unwrap();
    assert_eq!(made.as_str(), "ma-a1b2");
    assert_eq!(
        q.text("ma-a1b2"),
        "---\nid: ma-a1b2\nstatus: open\ndeps: []\nlinks: []\ncreated: 2026-01-31T12:00:00Z\ntype: task\npriority: 2\n\
         assignee: Ada Lovelace\nexternal-ref: gh-12\ntags: [ui, backend]\n---\n# Fix | the \"thing\"\n\nWhy.\n\n---\n\
         status: closed\n---\n\n## Design\n\nHow.\n\n## Acceptance Criteria\n\nIt works.\n\n"
    );
    let t = q.folder.read(&made).unwrap();
    assert_eq!(t.status, Status::Open, "the body is not front matter");
    assert_eq!(
        (t.title.as_str(), t.priority, t.kind.as_str()),
        ("Fix | the \"thing\"", 2, "task")
    );
    assert_eq!(
        (t.assignee.as_deref(), t.acceptance.as_deref()),
        (Some("Ada Lovelace"), Some("It works."))
    );
    assert_eq!(t.tags, ["ui", "backend"]);
    assert_eq!(t.created, Some(at(0)));
    assert_eq!(t.problems, []);
    assert_eq!(
        std::fs::read_dir(q.folder.path()).unwrap().count(),
        2,
        "the ticket and the lock"
    );
}

#[test]
fn a_taken_id_is_never_overwritten() {
    let q = Queue::new();
    let first = q.ticket("ab-aaaa", &titled("first"));
    let mut parts = ["aaaa", "aaaa", "bbbb"].into_iter();
    let second = q
        .folder
        .create(&titled("second"), "ab", at(0), || {
            Ok(parts.next().unwrap().into())
        })
        .unwrap();
    assert_eq!(second.as_str(), "ab-bbbb");
    assert_eq!(q.folder.read(&first).unwrap().title, "first");
    // A generator that always returns the same text leads to longer ids, and then to an error.
    let longer = q
        .folder
        .create(&titled("third"), "ab", at(0), || Ok("aaaa".into()))
        .unwrap();
    assert_eq!(longer.as_str(), "ab-aaaaaaaa");
    let error = q
        .folder
        .create(&titled("fourth"), "ab", at(0), || Ok("aaaa".into()))
        .unwrap_err();
    assert!(matches!(error, Error::NoFreeId { .. }), "{error}");
    assert_eq!(q.folder.ids().unwrap().len(), 3);
}

#[test]
fn the_folder_is_found_upwards_and_only_create_makes_one() {
    let q = Queue::new();
    let deep = q.root().join("a/b");
    std::fs::create_dir_all(&deep).unwrap();
    let nearest = Sought::Nearest(&deep);
    assert_eq!(Folder::find(&nearest).unwrap(), q.folder);
    assert_eq!(Folder::find_or_create(&nearest).unwrap(), q.folder);
    let own = Sought::Of(&deep);
    assert!(matches!(Folder::find(&own), Err(Error::NoFolder { .. })));
    let mine = Sought::At(deep.join("mine"));
    assert!(matches!(Folder::find(&mine), Err(Error::NotAFolder { .. })));
    assert_eq!(Folder::find_or_create(&mine).unwrap().path(), deep.join("mine"));
    assert_eq!(
        Folder::find_or_create(&own).unwrap().path(),
        deep.join(".tickets")
    );
    let elsewhere = tempfile::tempdir().unwrap();
    let nearest = Sought::Nearest(elsewhere.path());
    assert!(matches!(Folder::find(&nearest), Err(Error::NoFolder { .. })));
    let made = Folder::find_or_create(&nearest).unwrap();
    assert_eq!(made.path(), elsewhere.path().join(".tickets"));
}

#[test]
fn a_tag_of_the_authors_stays_when_crew_sets_and_clears_the_same() {
    let q = Queue::new();
    let a = q.plain("ab-1", "open\ntags: [mine, failed]", "");
    let before = q.text("ab-1");
    let wants = |tags: &[&str]| {
        let tags: BTreeSet<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let set = |crews: &mut BTreeSet<String>| crews.clone_from(&tags);
        q.folder.set_status_and_tags(&a, None, set).unwrap();
        let read = q.folder.read(&a).unwrap();
        (read.tags, read.crew_tags)
    };
    let words = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
    for _ in 0..2 {
        assert_eq!(
            wants(&["failed", "held"]),
            (words(&["mine", "failed", "held"]), words(&["held"]))
        );
    }
    assert_eq!(
        wants(&["held", "verify"]),
        (
            words(&["mine", "failed", "held", "verify"]),
            words(&["held", "verify"])
        )
    );
    wants(&[]);
    assert_eq!(q.text("ab-1"), before);
}

#[test]
fn a_tag_of_crews_that_somebody_has_removed_is_not_crews_any_more() {
    let q = Queue::new();
    let a = q.plain("ab-1", "open\ntags: [verify]\ncrew_tags: [held, verify]", "");
    assert_eq!(q.folder.read(&a).unwrap().crew_tags, ["verify"]);
    let want = |tags: &mut BTreeSet<String>| *tags = ["held".to_owned()].into();
    q.folder.set_status_and_tags(&a, None, want).unwrap();
    let read = q.folder.read(&a).unwrap();
    assert_eq!(
        (read.tags, read.crew_tags),
        (vec!["held".to_owned()], vec!["held".to_owned()])
    );
}

#[test]
fn status_tags_and_notes_change_only_their_lines() {
    let q = Queue::new();
    let a = q.plain("ab-1", "open   # by me", "");
    let before = q.text("ab-1");
    q.folder.set_status(&a, Status::InProgress).unwrap();
    assert_eq!(q.text("ab-1"), before.replace("open   #", "in_progress   #"));
    q.folder
        .set_status_and_tags(&a, None, |tags| {
            tags.extend(["verify", "failed"].map(str::to_owned));
        })
        .unwrap();
    q.folder
        .set_status_and_tags(&a, Some(Status::Closed), |tags| {
            *tags = ["verify".to_owned()].into();
        })
        .unwrap();
    let t = q.folder.read(&a).unwrap();
    assert_eq!(
        (t.status, t.tags.as_slice()),
        (Status::Closed, ["verify".to_owned()].as_slice())
    );
    q.folder
        .set_status_and_tags(&a, Some(Status::Open), BTreeSet::clear)
        .unwrap();
    assert_eq!(q.text("ab-1"), before);
    let stamp = q.folder.read(&a).unwrap().stamp;
    q.folder
        .set_status_and_tags(&a, Some(Status::Open), BTreeSet::clear)
        .unwrap();
    assert_eq!(
        q.folder.read(&a).unwrap().stamp,
        stamp,
        "what is so already is not written"
    );
    q.folder.add_note(&a, "first\nline", at(1)).unwrap();
    q.folder.add_note(&a, "", at(2)).unwrap();
    q.folder.add_note(&a, "third\n", at(3)).unwrap();
    let added = "\n## Notes\n\n**2026-01-31T12:00:01Z**\n\nfirst\nline\n\n**2026-01-31T12:00:02Z**\n\n\n\n**2026-01-31T12:00:03Z**\n\nthird\n";
    assert_eq!(q.text("ab-1"), format!("{before}{added}"));
    let notes: Vec<(i64, String)> = q
        .folder
        .read(&a)
        .unwrap()
        .notes
        .into_iter()
        .map(|note| (note.at.as_second() - at(0).as_second(), note.text))
        .collect();
    assert_eq!(
        notes,
        [(1, "first\nline".into()), (2, String::new()), (3, "third".into())]
    );
    assert_eq!(render_status(&a, Status::Closed), "Updated ab-1 -> closed\n");
    assert_eq!(render_note(&a), "Note added to ab-1\n");
    assert_eq!(
        Status::from_command("done").unwrap_err().to_string(),
        "invalid status 'done'. Must be one of: open in_progress closed"
    );
}

#[test]
fn a_done_ticket_is_closed_and_stays_so() {
    let q = Queue::new();
    let a = q.plain("ab-1", "done", "");
    q.plain("ab-2", "open", "ab-1");
    let readings = q.folder.load().unwrap();
    assert!(readings.tickets().all(|t| t.problems.is_empty()));
    let rows = q.folder.rows(None).unwrap();
    assert_eq!(ready(&rows, &Graph::new(&rows), &Filter::default()).len(), 1);
    q.folder.set_status(&a, Status::Closed).unwrap();
    assert!(q.text("ab-1").contains("status: done\n"));
    q.folder.set_status(&a, Status::Open).unwrap();
    assert!(q.text("ab-1").contains("status: open\n"));
}

#[test]
fn dependencies_match_exactly_and_never_close_a_cycle() {
    let q = Queue::new();
    let long = q.plain("ab-12", "open", "");
    let (one, three) = (q.plain("ab-1", "open", ""), q.plain("ab-3", "open", "ab-12"));
    assert_eq!(q.folder.dep(&three, &one).unwrap(), Dependency::Added);
    assert_eq!(q.folder.dep(&three, &one).unwrap(), Dependency::AlreadyThere);
    assert_eq!(q.folder.read(&three).unwrap().deps, ["ab-12", "ab-1"]);
    q.folder.undep(&three, "ab-1").unwrap();
    assert_eq!(q.folder.read(&three).unwrap().deps, ["ab-12"]);
    assert!(matches!(
        q.folder.undep(&three, "ab-1"),
        Err(Error::DependencyNotFound)
    ));
    assert!(matches!(q.folder.dep(&one, &one), Err(Error::SelfDependency(_))));
    assert!(matches!(
        q.folder.dep(&one, &id("zz-9")),
        Err(Error::NotFound { .. })
    ));
    q.folder.dep(&one, &three).unwrap();
    let before = q.text("ab-12");
    let error = q.folder.dep(&long, &one).unwrap_err();
    assert_eq!(
        error.to_string(),
        "that would make a dependency cycle: ab-12 -> ab-1 -> ab-3 -> ab-12"
    );
    let hint = error.hint().unwrap();
    assert!(hint.ends_with("`crew ticket undep ab-1 ab-3`"), "{hint}");
    assert_eq!(q.text("ab-12"), before);
    assert_eq!(
        render_dep(&one, &three, Dependency::Added),
        "Added dependency: ab-1 -> ab-3\n"
    );
    assert_eq!(
        render_dep(&one, &three, Dependency::AlreadyThere),
        "Dependency already exists\n"
    );
    assert_eq!(render_undep(&one, "ab-3"), "Removed dependency: ab-1 -/-> ab-3\n");
}

#[test]
fn links_stand_on_both_sides() {
    let q = Queue::new();
    let ids = ["ab-1", "ab-2", "ab-3"].map(|text| q.plain(text, "open", ""));
    let linked = q.folder.link(&ids).unwrap();
    assert_eq!(render_link(linked), "Added 6 link(s) between 3 tickets\n");
    assert_eq!(
        render_link(q.folder.link(&ids).unwrap()),
        "All links already exist\n"
    );
    q.folder.unlink(&ids[0], &ids[2]).unwrap();
    assert_eq!(q.folder.read(&ids[2]).unwrap().links, ["ab-2"]);
    assert!(matches!(
        q.folder.unlink(&ids[0], &ids[2]),
        Err(Error::LinkNotFound)
    ));
    assert!(q.folder.link(&ids[..1]).is_err());
    assert_eq!(render_unlink(&ids[0], &ids[2]), "Removed link: ab-1 <-> ab-3\n");
}

#[test]
fn listings_look_like_tk() {
    let q = Queue::new();
    q.ticket(
        "ab-1",
        &New {
            title: "A | b".into(),
            priority: 3,
            tags: vec!["ui".into()],
            ..New::default()
        },
    );
    q.ticket(
        "ab-22222222",
        &New {
            assignee: Some("ada".into()),
            priority: 0,
            ..titled("Two")
        },
    );
    q.plain("ab-3", "in_progress", "ab-1, gone, ab-4");
    q.plain("ab-4", "closed", "");
    q.write("ab-5.md", "not a ticket");
    q.plain("ab-6", "open", "ab-5");
    let rows = q.folder.rows(None).unwrap();
    let graph = Graph::new(&rows);
    let all = Filter::default();
    assert_eq!(
        render_ready(&ready(&rows, &graph, &all)),
        "ab-22222222 [P0][open] - Two\nab-1     [P3][open] - A | b\n"
    );
    assert_eq!(
        render_blocked(&blocked(&rows, &graph, &all), &graph),
        "ab-3     [P2][in_progress] - Ticket ab-3 <- [ab-1, gone]\nab-6     [P2][open] - Ticket ab-6 <- [ab-5]\n"
    );
    assert_eq!(
        render_list(&list(&rows, &all)),
        "ab-1     [open] - A | b\nab-22222222 [open] - Two\nab-3     [in_progress] - Ticket ab-3 <- [ab-1, gone, ab-4]\nab-4     [closed] - Ticket ab-4\nab-6     [open] - Ticket ab-6 <- [ab-5]\n"
    );
    assert_eq!(
        render_closed(&closed(&rows, &all, 20)),
        "ab-4     [closed] - Ticket ab-4\n"
    );
    let by = |filter: Filter| {
        list(&rows, &filter)
            .iter()
            .map(|t| t.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        by(Filter {
            tag: Some("ui".into()),
            ..all.clone()
        }),
        ["ab-1"]
    );
    assert_eq!(
        by(Filter {
            assignee: Some("ada".into()),
            ..all.clone()
        }),
        ["ab-22222222"]
    );
    assert_eq!(
        by(Filter {
            status: Some("closed".into()),
            ..all.clone()
        }),
        ["ab-4"]
    );
    assert_eq!(
        graph.blockers("ab-6"),
        [Blocker {
            id: "ab-5",
            reason: BlockReason::Unreadable
        }]
    );
    assert!(graph.blockers("ab-3").contains(&Blocker {
        id: "gone",
        reason: BlockReason::Missing
    }));
}

#[test]
fn query_is_valid_json() {
    let q = Queue::new();
    q.ticket(
        "ab-1",
        &New {
            assignee: Some("a \"quoted\" \\ one".into()),
            tags: vec!["x".into()],
            ..titled("T")
        },
    );
    let ticket = q.folder.read(&id("ab-1")).unwrap();
    let out = render_query(&[&ticket]);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["assignee"], "a \"quoted\" \\ one");
    assert_eq!(value["priority"], "2");
    assert_eq!(value["deps"], serde_json::json!([]));
    assert!(
        out.starts_with("{\"id\":\"ab-1\",\"status\":\"open\",\"deps\":[]"),
        "{out}"
    );
}

#[test]
fn show_adds_what_others_say() {
    let q = Queue::new();
    q.plain("ab-1", "open", "ab-2, gone");
    q.plain("ab-2", "open", "");
    let child = q.ticket(
        "ab-3",
        &New {
            parent: Some(id("ab-1")),
            ..titled("Child\u{202e}")
        },
    );
    q.folder.link(&[id("ab-1"), id("ab-2")]).unwrap();
    q.folder.add_note(&id("ab-1"), "\x1b[31mred", at(0)).unwrap();
    let rows = q.folder.rows(None).unwrap();
    let graph = Graph::new(&rows);
    let show = |id: &Id, terminal| render_show(&rows, &graph, &q.folder.read(id).unwrap(), terminal);
    let raw = show(&id("ab-1"), false);
    assert_eq!(
        raw,
        format!(
            "{}\n## Blockers\n\n- ab-2 [open] Ticket ab-2\n- gone [missing]\n\n## Children\n\n- ab-3 [open] Child<U+202E>\n\n## Linked\n\n- ab-2 [open] Ticket ab-2\n",
            q.text("ab-1")
        )
    );
    assert!(!show(&id("ab-1"), true).contains('\x1b'));
    assert!(show(&id("ab-2"), false).contains("## Blocking\n\n- ab-1 [open] Ticket ab-1\n"));
    let child = show(&child, false);
    assert!(child.contains("\nparent: ab-1  # Ticket ab-1\n"), "{child}");
}

#[test]
fn trees_and_cycles_look_like_tk() {
    let q = Queue::new();
    q.plain("t-1", "open", "t-2, t-3, t-4, gone");
    q.plain("t-2", "open", "t-4");
    q.plain("t-3", "closed", "");
    q.plain("t-4", "open", "t-5");
    q.plain("t-5", "open", "t-1");
    let rows = q.folder.rows(None).unwrap();
    let graph = Graph::new(&rows);
    let root = id("t-1");
    assert_eq!(
        render_tree(&rows, &graph, &root, false),
        "t-1 [open] Ticket t-1\n├── t-3 [closed] Ticket t-3\n└── t-2 [open] Ticket t-2\n    └── t-4 [open] Ticket t-4\n        └── t-5 [open] Ticket t-5\n"
    );
    assert_eq!(
        render_tree(&rows, &graph, &root, true),
        "t-1 [open] Ticket t-1\n├── t-3 [closed] Ticket t-3\n├── t-2 [open] Ticket t-2\n│   └── t-4 [open] Ticket t-4\n│       └── t-5 [open] Ticket t-5\n└── t-4 [open] Ticket t-4\n    └── t-5 [open] Ticket t-5\n"
    );
    assert_eq!(
        render_cycles(&rows, &graph),
        "Cycle 1: t-1 -> t-4 -> t-5 -> t-1\n  t-1      [open] Ticket t-1\n  t-4      [open] Ticket t-4\n  t-5      [open] Ticket t-5\n"
    );
    q.folder.set_status(&id("t-5"), Status::Closed).unwrap();
    let rows = q.folder.rows(None).unwrap();
    assert_eq!(
        render_cycles(&rows, &Graph::new(&rows)),
        "No dependency cycles found\n"
    );
}

#[test]
fn an_id_that_is_part_of_another_is_still_found() {
    let q = Queue::new();
    for text in ["ab-1", "ab-12", "cd-3"] {
        q.plain(text, "open", "");
    }
    q.write("cd-4.md", "broken, but it has a name");
    assert_eq!(q.folder.resolve("ab-1").unwrap(), id("ab-1"));
    assert_eq!(q.folder.resolve(" 12\n").unwrap(), id("ab-12"));
    assert_eq!(q.folder.resolve("cd-4").unwrap(), id("cd-4"));
    let error = q.folder.resolve("cd").unwrap_err();
    assert_eq!(error.to_string(), "ambiguous ID 'cd' matches multiple tickets");
    assert_eq!(error.hint().unwrap(), "it could be cd-3, cd-4");
    for asked in ["", "zz", "../ab-1", "*", "ab-1.md/..", "\u{202e}"] {
        assert!(
            matches!(q.folder.resolve(asked), Err(Error::NotFound { .. })),
            "{asked}"
        );
    }
}

#[test]
fn tickets_of_one_second_keep_the_order_in_which_they_were_made() {
    let q = Queue::new();
    let made = [("bbbb", 7), ("aaaa", 120), ("cccc", 999)].map(|(part, ms)| {
        let now = at(0) + jiff::Span::new().milliseconds(ms);
        let id = q
            .folder
            .create(&titled("one"), "ab", now, || Ok(part.into()))
            .unwrap();
        q.folder.read(&id).unwrap().created
    });
    assert!(made.is_sorted() && made[0] < made[1], "{made:?}");
    assert!(q.text("ab-bbbb").contains("created: 2026-01-31T12:00:00.007Z\n"));
}
