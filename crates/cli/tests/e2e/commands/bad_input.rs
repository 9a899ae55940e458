//! Each a clear error with what to do next, and nothing lost.

use crate::commands::repo::Repo;

#[test]
fn repositories_that_crew_cannot_work_on() {
    let none = Repo::none();
    insta::assert_snapshot!("no_repository", none.seen(&["init", "--yes"]));
    let empty = Repo::empty();
    insta::assert_snapshot!("empty_repository", empty.seen(&["init", "--yes"]));

    let bare = Repo::none();
    bare.git(&["init", "--quiet", "--bare"]);
    insta::assert_snapshot!("bare_repository", bare.seen(&["init", "--yes"]));

    let detached = Repo::new();
    detached.git(&["switch", "--quiet", "--detach"]);
    insta::assert_snapshot!("detached_repository", detached.seen(&["init", "--yes"]));

    let source = Repo::new();
    source.write("more", "");
    source.commit("second");
    let shallow = Repo::none();
    let from = format!("file://{}", source.root.display());
    shallow.git(&["clone", "--quiet", "--depth=1", &from, "."]);
    insta::assert_snapshot!("shallow_repository", shallow.seen(&["init", "--yes"]));
}

#[test]
fn without_settings_every_command_says_what_makes_them() {
    let repo = Repo::new();
    for args in [
        &["ps"][..],
        &["queue"],
        &["run"],
        &["stop"],
        &["spawn"],
        &["kill", "ada"],
        &["explain", "t-1"],
        &["history", "t-1"],
        &["events"],
        &["clean"],
        &["config"],
    ] {
        let said = repo.crew(args);
        assert_eq!(said.code, 2, "{args:?}: {said}");
        assert!(
            said.err.contains("has no crew.toml") && said.err.contains("hint: `crew init`"),
            "{args:?}: {said}"
        );
    }
    assert!(
        !repo.root.join(".crew").exists(),
        "nothing is made before `crew init`"
    );
}

/// A branch that is older than crew, for example: `crew init` would make a second crew.toml.
#[test]
fn without_settings_where_crew_has_begun_the_other_branch_is_pointed_to() {
    let repo = Repo::with_crew();
    repo.crew(&["run", "--until-idle"]).ok();
    std::fs::remove_file(repo.root.join("crew.toml")).unwrap();
    for command in [["queue"].as_slice(), &["run", "--until-idle"]] {
        let said = repo.crew(command);
        assert_eq!(said.code, 2, "{said}");
        assert!(
            said.err.contains("switch to the branch that has it") && !said.err.contains("crew init"),
            "{said}"
        );
    }
}

#[test]
fn bad_settings_are_shown_where_they_stand() {
    let repo = Repo::with_crew();
    repo.write(
        "crew.toml",
        "[run]\nmax_worker = 3\ndebounce = \"5 minutes\"\n\n[revew]\n",
    );
    insta::assert_snapshot!(repo.seen(&["config"]));
    assert_eq!(repo.crew(&["run", "--until-idle"]).code, 2);
    assert_eq!(repo.crew(&["spawn", "ada"]).code, 2);
    assert_eq!(repo.crew(&["ps"]).code, 0, "what runs is seen all the same");
    assert!(
        !repo.root.join(".crew").exists(),
        "what cannot be carried out is not asked"
    );
}

#[test]
fn a_harness_that_is_not_there_is_named() {
    let repo = Repo::with_crew();
    let said = repo.crew(&["run", "--until-idle", "--harness", "claud"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(said.err.contains("no harness named `claud`"), "{said}");
}

#[test]
fn agents_and_tickets_that_nobody_knows() {
    let repo = Repo::with_crew();
    repo.ticket("t-1", "One", "");
    repo.crew(&["spawn", "ada"]).ok();
    let seen: String = [
        &["kill", "adda"][..],
        &["peek", "zoe"],
        &["logs", "zoe"],
        &["answer", "zoe", "hi"],
        &["explain", "t-9"],
        &["history", "nothing"],
        &["merge", "ada"],
        &["assign", "ada", "t-9"],
        &["assign", "zoe", "t-1"],
        &["retry", "t-9"],
        &["drop", "t-9"],
        &["waive", "t-9", "because"],
        &["approve", "t-9"],
        &["history", "t-1", "--to", "stuk"],
    ]
    .map(|args| repo.seen(args))
    .concat();
    insta::assert_snapshot!(seen);
}

#[test]
fn names_that_are_none_are_refused_before_anything_is_asked() {
    let repo = Repo::with_crew();
    let names = [
        "../x",
        "a b",
        "a\nb",
        "a|b",
        "a'b",
        "\u{1b}[31mred",
        "a/../../b",
        ".hidden",
        "x.lock",
        "\u{202e}evil",
        "",
    ];
    let refused = |args: &[&str]| {
        let said = repo.crew(args);
        assert_eq!(said.code, 2, "{args:?}: {said}");
        let harmless = |text: &str| {
            !text
                .chars()
                .any(|c| c.is_control() && c != '\n' || c == '\u{202e}')
        };
        assert!(
            harmless(&said.err) && said.err.contains("hint: "),
            "{args:?}: {said}"
        );
    };
    for name in names {
        refused(&["spawn", name]);
        refused(&["explain", name]);
    }
    let worst = "../\u{1b}[2J\n";
    refused(&["kill", worst]);
    refused(&["assign", worst, "t-1"]);
    refused(&["drop", worst]);
    refused(&["logs", worst]);
    refused(&["merge", worst]);
    let said = repo.crew(&["spawn", "-x"]);
    assert_eq!(said.code, 2, "{said}");
    let said = repo.crew(&["spawn", "--", "-x"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(said.err.contains("cannot begin with a dash"), "{said}");
    let said = repo.crew(&["spawn", "1000"]);
    assert!(
        said.code == 1 && said.err.contains("crew spawn 1000 --yes"),
        "{said}"
    );
    assert_eq!(
        repo.crew(&["ps", "--json"]).ok().json()["agents"]
            .as_array()
            .map(Vec::len),
        Some(0),
        "nobody came"
    );
    assert_eq!(repo.crew(&["spawn", "0"]).code, 2);
    assert_eq!(repo.crew(&["spawn", "99999999999"]).code, 2);
    assert!(!repo.root.join(".crew").exists(), "nothing was written");
}

#[test]
fn words_that_are_no_commands() {
    let repo = Repo::with_crew();
    assert_eq!(repo.crew(&["frobnicate"]).code, 2);
    let later = repo.crew(&["attach"]);
    assert_eq!(later.code, 2, "it is not pretended to be there: {later}");
    assert_eq!(repo.crew(&["say"]).code, 2, "to whom?");
    assert_eq!(repo.crew(&["web", "frobnicate"]).code, 2);
    assert_eq!(repo.crew(&["cle"]).code, 2, "`clean` or `cleanup`?");
    repo.crew(&["expl", "--help"]).ok();
    assert_eq!(repo.crew(&["waive", "t-1", "  "]).code, 2);
    assert_eq!(repo.crew(&["-C", "nowhere", "ps"]).code, 2);
}

#[test]
fn ticket_files_that_cannot_be_read_are_named_and_hide_no_other() {
    let repo = Repo::with_crew();
    repo.ticket("t-1", "Good", "");
    repo.ticket("t-2", "Cycle", "");
    repo.write(".tickets/t-3.md", "no front matter\n");
    std::fs::write(
        repo.root.join(".tickets/t-4.md"),
        b"---\nid: t-4\n\xff\xfe\n---\n# x\n",
    )
    .unwrap();
    repo.write(
        ".tickets/t-5.md",
        "---\nid: t-5\nstatus: open\ndeps: [t-5]\npriority: 2\n---\n# \u{1b}]0;pwned\u{7}Itself\n",
    );
    repo.ticket("t-6", "Missing", "");
    let with = repo.read(".tickets/t-6.md").replace("deps: []", "deps: [gone-1]");
    repo.write(".tickets/t-6.md", &with);
    let said = repo.crew(&["queue"]).ok();
    assert!(
        said.out.contains("Good") && said.out.contains("t-3") && said.out.contains("t-4"),
        "{said}"
    );
    assert!(
        !said.out.contains('\u{1b}') && !said.out.contains("pwned"),
        "{said}"
    );
    let why = |id: &str| {
        repo.crew(&["explain", id, "--json"]).ok().json()["refusal"]["why"]
            .as_str()
            .map(str::to_owned)
    };
    assert_eq!(why("t-1"), None);
    assert_eq!(why("t-3").as_deref(), Some("unreadable"));
    assert_eq!(why("t-4").as_deref(), Some("unreadable"));
}
