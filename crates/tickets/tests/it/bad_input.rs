//! Bad files, names and texts: each is a clear problem, and none affects the other tickets.

use tickets::*;

use crate::{Queue, at, id, titled};

/// The content of a file, the line of its problem, and words of the problem's message.
type Bad = (&'static str, Vec<u8>, Option<usize>, &'static str);

fn unreadable() -> Vec<Bad> {
    let text = |text: &str| text.as_bytes().to_vec();
    let front = |lines: &str| format!("---\nid: x\n{lines}\n---\n# T\n").into_bytes();
    let utf16: Vec<u8> = "\u{feff}---\nstatus: open\n---\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let deep = format!("x: {}{}", "[".repeat(10_000), "]".repeat(10_000));
    let bomb =
        "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]";
    let many = format!("deps: [{}]", "a, ".repeat(100_000));
    vec![
        ("empty", text(""), None, "empty"),
        ("blank", text(" \n\n"), None, "empty"),
        ("only a mark", text("\u{feff}"), None, "empty"),
        ("no front matter", text("# Title\n"), Some(1), "no front matter"),
        (
            "dashes with more",
            text("----\nid: x\n---\n"),
            Some(1),
            "no front matter",
        ),
        (
            "a blank line first",
            text("\n---\nid: x\n---\n"),
            Some(1),
            "no front matter",
        ),
        (
            "half-written",
            text("---\nid: x\nstatus: op"),
            Some(1),
            "never closed",
        ),
        ("only the first line", text("---\n"), Some(1), "never closed"),
        ("closed by dots", text("---\nid: x\n...\n"), Some(3), "malformed"),
        ("NUL", text("---\nid: x\n---\n\0"), Some(4), "binary"),
        ("UTF-16", utf16, Some(1), "binary"),
        (
            "an image",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(),
            Some(3),
            "binary",
        ),
        (
            "Latin-1",
            b"---\nid: x\n---\n# Caf\xe9\n".to_vec(),
            Some(4),
            "not UTF-8",
        ),
        (
            "a cut character",
            b"---\nid: x\n---\n# \xf0\x9f\x91".to_vec(),
            Some(4),
            "not UTF-8",
        ),
        (
            "an overlong character",
            b"---\nid: \xc0\xaf\n---\n".to_vec(),
            Some(2),
            "not UTF-8",
        ),
        (
            "a surrogate",
            b"---\nid: \xed\xa0\x80\n---\n".to_vec(),
            Some(2),
            "not UTF-8",
        ),
        ("huge", vec![b'x'; 2 << 20], None, "2097152 bytes"),
        (
            "a key twice",
            front("status: open\nstatus: closed"),
            Some(4),
            "first on line 3",
        ),
        (
            "a key twice, quoted",
            front("status: open\n\"status\": closed"),
            Some(4),
            "first on line 3",
        ),
        ("no colon", front("status: open\njust text"), Some(4), "malformed"),
        (
            "no space behind the colon",
            front("status:open"),
            Some(3),
            "malformed",
        ),
        (
            "an open list",
            front("status: open\ndeps: [a, b"),
            Some(4),
            "malformed",
        ),
        (
            "an open list over lines",
            front("deps: [a,\n  b\nstatus: open"),
            Some(3),
            "malformed",
        ),
        ("an open text", front("assignee: \"ada"), Some(3), "malformed"),
        ("an anchor", front("deps: &a [x]"), Some(3), "malformed"),
        ("an alias", front("deps: *a"), Some(3), "malformed"),
        ("a merge key", front("<<: *a"), Some(3), "malformed"),
        ("an alias bomb", front(bomb), Some(3), "malformed"),
        ("a deep nest", front(&deep), Some(3), "malformed"),
        ("a list too long", front(&many), Some(3), "malformed"),
        (
            "indented from the start",
            text("---\n  id: x\n---\n"),
            Some(2),
            "malformed",
        ),
        (
            "a list at the top",
            text("---\n- id: x\n---\n"),
            Some(2),
            "malformed",
        ),
        (
            "a flow at the top",
            text("---\n{id: x}\n---\n"),
            Some(2),
            "malformed",
        ),
        ("a complex key", front("? [a]\n: b"), Some(3), "malformed"),
        ("TOML", text("+++\nid = 1\n+++\n"), Some(1), "no front matter"),
        ("JSON", text("{\"id\": 1}"), Some(1), "no front matter"),
        (
            "a merge in progress",
            text("<<<<<<< HEAD\n---\nid: x\n---\n"),
            Some(1),
            "no front matter",
        ),
        (
            "a merge in progress, inside",
            front("<<<<<<< HEAD\nstatus: open\n=======\nstatus: closed\n>>>>>>> b"),
            Some(3),
            "malformed",
        ),
    ]
}

#[test]
fn an_unreadable_file_is_a_problem_of_its_own() {
    let q = Queue::new();
    q.plain("ok-1", "open", "");
    for (name, bytes, line, words) in unreadable() {
        q.write("x.md", &bytes);
        let readings = q.folder.load().unwrap();
        assert_eq!(readings.tickets().count(), 1, "{name}: the good one stands");
        let problem = readings
            .problems()
            .next()
            .unwrap_or_else(|| panic!("{name}: nothing reported"))
            .clone();
        assert_eq!(problem.line, line, "{name}: {problem}");
        assert!(problem.to_string().contains(words), "{name}: {problem}");
        assert!(
            problem.path.ends_with("x.md") && !problem.hint().is_empty(),
            "{name}"
        );
        assert!(!problem.to_string().chars().any(char::is_control), "{name}");
        // A file that was not understood is never written to.
        for error in [
            q.folder.set_status(&id("x"), Status::Closed).unwrap_err(),
            q.folder.add_note(&id("x"), "n", at(0)).unwrap_err(),
            q.folder.dep(&id("x"), &id("ok-1")).unwrap_err(),
        ] {
            assert!(matches!(error, Error::Unreadable(_)), "{name}: {error}");
        }
        assert_eq!(
            std::fs::read(q.folder.path().join("x.md")).unwrap(),
            bytes,
            "{name}"
        );
    }
}

#[test]
fn odd_but_sound_files_are_tickets() {
    let q = Queue::new();
    let front = |lines: &str| format!("---\n{lines}\n---\n# T\n");
    let cases: Vec<(&str, String, Option<&str>)> = vec![
        (
            "CRLF",
            "---\r\nid: x\r\nstatus: open\r\n---\r\n# T\r\n".into(),
            None,
        ),
        (
            "a mark",
            "\u{feff}---\nid: x\nstatus: open\n---\n# T\n".into(),
            None,
        ),
        ("no last line end", "---\nid: x\nstatus: open\n---".into(), None),
        (
            "blanks behind the dashes",
            "--- \nid: x\nstatus: open\n---\t\n".into(),
            None,
        ),
        ("no id", front("status: open"), None),
        (
            "a colon in a text",
            front("status: open\nassignee: Jo: Smith"),
            None,
        ),
        (
            "a deep key of someone else",
            front("status: open\nmeta:\n  a: {b: [1, 2]}\n  # c\n  d: e"),
            None,
        ),
        ("tags on lines", front("status: open\ntags:\n- a\n- b"), None),
        ("tags as a text", front("status: open\ntags: a, b"), None),
        ("another id", front("id: y\nstatus: open"), Some("has the id 'y'")),
        ("no status", front("id: x"), Some("no status")),
        ("an empty status", front("status:"), Some("no status")),
        (
            "a status of bd",
            front("status: deferred"),
            Some("unknown status 'deferred'"),
        ),
        (
            "a status in capitals",
            front("status: Open"),
            Some("unknown status 'Open'"),
        ),
        (
            "a status that is a list",
            front("status: [open]"),
            Some("wrong shape"),
        ),
        (
            "a status with controls",
            front("status: \"o\\u001b[31m\""),
            Some("unknown status 'o␛[31m'"),
        ),
        (
            "priority 9",
            front("status: open\npriority: 9"),
            Some("priority '9'"),
        ),
        (
            "priority -1",
            front("status: open\npriority: -1"),
            Some("priority '-1'"),
        ),
        (
            "priority NaN",
            front("status: open\npriority: .nan"),
            Some("priority '.nan'"),
        ),
        (
            "priority 1e400",
            front("status: open\npriority: 1e400"),
            Some("priority '1e400'"),
        ),
        (
            "priority P1",
            front("status: open\npriority: P1"),
            Some("priority 'P1'"),
        ),
        (
            "no such day",
            front("status: open\ncreated: 2026-02-30T00:00:00Z"),
            Some("is not a time"),
        ),
        (
            "a day only",
            front("status: open\ncreated: 2026-02-03"),
            Some("is not a time"),
        ),
        (
            "year 99999",
            front("status: open\ncreated: 99999-01-01T00:00:00Z"),
            Some("is not a time"),
        ),
        (
            "a dependency out of the folder",
            front("status: open\ndeps: [../x]"),
            Some("'../x' cannot be"),
        ),
        (
            "a dependency like an option",
            front("status: open\ndeps: [-rf]"),
            Some("'-rf' cannot be"),
        ),
        (
            "dependencies that are a map",
            front("status: open\ndeps: {a: b}"),
            Some("wrong shape"),
        ),
    ];
    for (name, text, words) in cases {
        q.write("x.md", &text);
        let ticket = q
            .folder
            .read(&id("x"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(ticket.id, id("x"), "{name}: the file's name counts");
        assert_eq!(ticket.document.text(), text, "{name}");
        let problems: Vec<String> = ticket.problems.iter().map(ToString::to_string).collect();
        match words {
            None => {
                assert_eq!(problems, [""; 0], "{name}");
                assert_eq!((ticket.status, ticket.priority), (Status::Open, 2), "{name}");
            }
            Some(words) => assert!(
                problems.iter().any(|problem| problem.contains(words)),
                "{name}: {problems:?}"
            ),
        }
        let unknown = words.is_some_and(|words| words.contains("status"));
        assert!(!unknown || ticket.status == Status::Unknown, "{name}");
        assert_eq!(ticket.priority, 2, "{name}");
        // An invalid dependency still blocks.
        let rows = q.folder.rows(None).unwrap();
        let bad_dep = words.is_some_and(|_| text.contains("deps:"));
        assert_eq!(Graph::new(&rows).is_blocked("x"), bad_dep, "{name}");
        // Such a file can be edited without a change of its other lines.
        q.folder.set_status(&id("x"), Status::Closed).unwrap();
        let after = q.folder.read(&id("x")).unwrap();
        assert_eq!(
            (after.status, after.body()),
            (Status::Closed, ticket.body()),
            "{name}"
        );
    }
}

#[test]
fn a_name_that_is_no_id_is_refused_everywhere() {
    let long = "a".repeat(129);
    let names = [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "/etc/passwd",
        "-rf",
        "--upload-pack=x",
        ".hidden",
        "a..b",
        "a.",
        "a.lock",
        "A.LOCK",
        "a b",
        "a\nb",
        "a\rb",
        "a\0b",
        "a\tb",
        "a\x1b[31mb",
        "a|b",
        "a\"b",
        "a'b",
        "a;b",
        "a`id`b",
        "a$(id)",
        "a*",
        "a?",
        "a[b",
        "a\\b",
        "a:b",
        "a~b",
        "a^b",
        "a@{b",
        "ä",
        "\u{202e}a",
        "a\u{200b}b",
        "e\u{301}",
        long.as_str(),
    ];
    for name in names {
        let error = Id::new(name).unwrap_err();
        assert!(matches!(error, Error::BadId { .. }), "{name:?}");
        assert!(!error.to_string().chars().any(char::is_control), "{name:?}");
        assert!(error.hint().is_some());
    }
    let longest = "a".repeat(128);
    for name in [
        "a",
        "0",
        "x.1",
        "x.1.10",
        "a_b-C",
        "HEAD",
        "CON",
        "nul",
        longest.as_str(),
    ] {
        assert_eq!(Id::new(name).unwrap().as_str(), name);
    }
    let q = Queue::new();
    q.plain("ok-1", "open", "");
    for name in [
        "a b.md",
        "-rf.md",
        "a\nb.md",
        "a..b.md",
        "ä.md",
        "x.lock.md",
        "a|\"b.md",
    ] {
        q.write(name, "---\nstatus: open\n---\n");
    }
    for name in [
        ".hidden.md",
        ".lock",
        ".crew.tmp",
        ".crew.was",
        "notes.txt",
        "x.md~",
        "x.md.tmp.123",
    ] {
        q.write(name, "---\nstatus: open\n---\n");
    }
    use std::os::unix::ffi::OsStrExt;
    let not_utf8 = std::ffi::OsStr::from_bytes(b"\xff\xfe.md");
    std::fs::write(q.folder.path().join(not_utf8), "---\nstatus: open\n---\n").unwrap();
    let readings = q.folder.load().unwrap();
    assert_eq!(readings.tickets().count(), 1);
    assert_eq!(
        readings
            .problems()
            .filter(|p| matches!(p.kind, ProblemKind::BadName(_)))
            .count(),
        8
    );
    assert!(
        readings
            .problems()
            .all(|p| !p.to_string().chars().any(char::is_control))
    );
}

#[test]
fn a_path_never_leads_out_of_the_folder() {
    let q = Queue::new();
    let outside = q.root().join("outside.md");
    let secret = "---\nstatus: open\n---\n# Secret\n";
    std::fs::write(&outside, secret).unwrap();
    let link = q.folder.path().join("ab-1.md");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    std::os::unix::fs::symlink("/dev/zero", q.folder.path().join("ab-2.md")).unwrap();
    std::os::unix::fs::symlink("ab-3.md", q.folder.path().join("ab-3.md")).unwrap();
    std::fs::create_dir(q.folder.path().join("ab-4.md")).unwrap();
    rustix_fifo(&q.folder.path().join("ab-5.md"));
    let socket = std::os::unix::net::UnixListener::bind(q.folder.path().join("ab-6.md")).unwrap();
    let readings = q.folder.load().unwrap();
    assert_eq!(readings.tickets().count(), 0);
    assert_eq!(
        readings
            .problems()
            .filter(|p| p.kind == ProblemKind::NotRegularFile)
            .count(),
        6
    );
    for n in 1..=6 {
        let id = id(&format!("ab-{n}"));
        assert!(matches!(
            q.folder.set_status(&id, Status::Closed),
            Err(Error::Unreadable(_))
        ));
        assert!(matches!(
            q.folder.add_note(&id, "x", at(0)),
            Err(Error::Unreadable(_))
        ));
    }
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), secret);
    assert!(link.is_symlink());
    // A new ticket is not written through a link either: its id is taken.
    let made = q
        .folder
        .create(&titled("T"), "ab", at(0), || Ok("1".into()))
        .unwrap();
    assert_eq!(made.as_str(), "ab-11");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), secret);
    drop(socket);
    // Neither are the lock and the temporary file.
    let q = Queue::new();
    let a = q.plain("ab-1", "open", "");
    std::os::unix::fs::symlink(&outside, q.folder.path().join(".crew.tmp")).unwrap();
    q.folder.set_status(&a, Status::Closed).unwrap();
    std::os::unix::fs::symlink(&outside, q.root().join("l")).unwrap();
    std::fs::remove_file(q.folder.path().join(".lock")).unwrap();
    std::os::unix::fs::symlink(&outside, q.folder.path().join(".lock")).unwrap();
    assert!(matches!(
        q.folder.set_status(&a, Status::Open),
        Err(Error::Io { .. })
    ));
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), secret);
}

#[expect(
    clippy::disallowed_methods,
    reason = "a pipe with a name is made by the system's tool"
)]
fn rustix_fifo(path: &std::path::Path) {
    assert!(
        std::process::Command::new("mkfifo")
            .arg("--")
            .arg(path)
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn texts_are_kept_as_they_are_or_refused() {
    let q = Queue::new();
    let sound = [
        "../../etc/passwd",
        "a | b",
        "say \"hi\" it's",
        "-rf --all",
        "$(id) `id` ; &&",
        "# hash",
        "日本 👍",
        "\u{202e}rtl",
        "---",
        "a: b",
        "[x]",
        "'",
        "\\",
        "%s%n",
        "{{ x }}",
        "status: closed",
    ];
    for title in sound {
        let id = q.folder.create(&titled(title), "ab", at(0), random).unwrap();
        let ticket = q.folder.read(&id).unwrap();
        assert_eq!(ticket.title, title);
        assert_eq!(ticket.problems, []);
        let line = render_list(&[&Row::of(&ticket)]);
        assert_eq!(line.lines().count(), 1);
        assert!(!line.contains('\u{202e}'));
        serde_json::from_str::<serde_json::Value>(&render_query(&[&ticket])).unwrap();
    }
    let before = q.folder.ids().unwrap().len();
    let long = "x".repeat(1001);
    for title in [
        "two\nlines",
        "cr\rhere",
        "tab\there",
        "esc\x1b[31m",
        "nul\0",
        "\u{9b}31m",
        "\x7f",
        long.as_str(),
    ] {
        let error = q.folder.create(&titled(title), "ab", at(0), random).unwrap_err();
        assert!(matches!(error, Error::BadValue { .. }), "{title:?}: {error}");
    }
    let bad: Vec<New> = vec![
        New {
            assignee: Some("a\nstatus: closed".into()),
            ..titled("T")
        },
        New {
            kind: "x\n---".into(),
            ..titled("T")
        },
        New {
            kind: " ".into(),
            ..titled("T")
        },
        New {
            external_ref: Some("\x1b".into()),
            ..titled("T")
        },
        New {
            tags: vec!["a\nb".into()],
            ..titled("T")
        },
        New {
            description: Some("\0".into()),
            ..titled("T")
        },
        New {
            description: Some("x".repeat(2 << 20)),
            ..titled("T")
        },
        New {
            priority: 5,
            ..titled("T")
        },
        New {
            deps: vec![id("gone-1")],
            ..titled("T")
        },
        New {
            parent: Some(id("gone-1")),
            ..titled("T")
        },
    ];
    for new in bad {
        assert!(q.folder.create(&new, "ab", at(0), random).is_err(), "{new:?}");
    }
    assert_eq!(q.folder.ids().unwrap().len(), before, "nothing was written");
    let empty = q.folder.create(&titled(" "), "ab", at(0), random).unwrap();
    assert_eq!(q.folder.read(&empty).unwrap().title, "Untitled");
    let quoted = New {
        assignee: Some("- @ada: \"x\", 'y' # [z]".into()),
        tags: vec![
            "a, b".into(),
            "[c]".into(),
            "d: e".into(),
            "#f".into(),
            "~".into(),
        ],
        external_ref: Some("null".into()),
        ..titled("T")
    };
    let made = q.folder.create(&quoted, "ab", at(0), random).unwrap();
    let ticket = q.folder.read(&made).unwrap();
    assert_eq!(
        (ticket.assignee, ticket.tags, ticket.external_ref),
        (quoted.assignee, quoted.tags, quoted.external_ref)
    );
    // A note may have any character but NUL, and does not change the ticket's keys.
    q.folder
        .add_note(&made, "---\nstatus: closed\n---\n\r\n\x1b]0;x\x07", at(1))
        .unwrap();
    assert_eq!(q.folder.read(&made).unwrap().status, Status::Open);
    assert!(matches!(
        q.folder.add_note(&made, "\0", at(2)),
        Err(Error::BadValue { .. })
    ));
    let text = q.text(made.as_str());
    assert!(matches!(
        q.folder.add_note(&made, &"x".repeat(2 << 20), at(2)),
        Err(Error::WouldSpoil(_))
    ));
    assert_eq!(q.text(made.as_str()), text);
    let sound_prefix = q.folder.create(&titled("T"), "../x", at(0), random);
    assert!(matches!(sound_prefix, Err(Error::BadId { .. })));
}

#[test]
fn a_folder_without_rights_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let q = Queue::new();
    let a = q.plain("ab-1", "open", "");
    let path = q.folder.file(&a);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    q.folder.set_status(&a, Status::Closed).unwrap();
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o640,
        "permissions stay"
    );
    std::fs::remove_dir_all(q.folder.path()).unwrap();
    assert!(matches!(q.folder.load(), Err(Error::Io { .. })));
    assert!(matches!(
        q.folder.set_status(&a, Status::Open),
        Err(Error::Io { .. })
    ));
    std::fs::write(q.folder.path(), "a file").unwrap();
    assert!(matches!(
        q.folder.load(),
        Err(Error::NotAFolder { .. } | Error::Io { .. })
    ));
    assert!(matches!(
        Folder::at(q.folder.path()),
        Err(Error::NotAFolder { .. })
    ));
}

#[test]
fn a_promise_that_is_not_understood_holds_the_ticket_and_is_said() {
    let q = Queue::new();
    let of = |file: &str| {
        q.write("x.md", file.as_bytes());
        let read = q.folder.read(&id("x")).unwrap();
        let said = read.problems.iter().map(|one| (one.line, one.to_string()));
        (read.commitments.clone(), said.collect::<Vec<_>>())
    };
    for (front, line, words) in [
        (
            "acceptance_test:\n  - test -e x",
            3,
            "'acceptance_test' has the wrong shape",
        ),
        ("acceptance-test: test -e x", 3, "'acceptance-test' is not read"),
        ("commitment:\n  - run: test -e x", 3, "'commitment' is not read"),
        ("commitments: {a: b}", 3, "'commitments' has the wrong shape"),
    ] {
        let (listed, said) = of(&format!("---\nid: x\n{front}\nstatus: open\n---\n# T\n"));
        assert!(
            matches!(listed.as_slice(), [one] if one.run.is_none()),
            "{front}: {listed:?}"
        );
        assert!(
            matches!(said.as_slice(), [(at, text)] if *at == Some(line) && text.contains(words)),
            "{front}: {said:?}"
        );
    }
    let (listed, said) = of("---\nid: x\nstatus: open\nacceptance: it works\n---\n# T\n");
    assert_eq!((listed.len(), said.len()), (0, 1), "words hold nothing");
    let text = "# T\n\n## Acceptance criteria\n\n- a: `$ x`\n- $ y\n- a: `$ x`\n";
    let (listed, said) = of(&format!("---\nid: x\nstatus: open\n---\n{text}"));
    assert_eq!(listed.len(), 2, "said twice, it is one: {listed:?}");
    assert!(
        matches!(said.as_slice(), [(Some(10), text)] if text.contains("$ y")),
        "{said:?}"
    );
    let (listed, said) = of(&format!("---\nid: x\nstatus: closed\n---\n{text}"));
    assert_eq!((listed.len(), said.len()), (2, 0), "nobody mends what is over");
}
