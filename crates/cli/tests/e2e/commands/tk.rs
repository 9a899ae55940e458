//! tk's commands, by either name.

use crate::commands::repo::{Repo, env};

#[test]
fn a_folder_of_tickets_above_the_repository_is_not_its_queue() {
    let repo = Repo::with_crew();
    let above = repo.root.parent().unwrap().join(".tickets");
    std::fs::create_dir(&above).unwrap();
    let queue = repo.root.join(".tickets");
    if queue.exists() {
        std::fs::remove_dir_all(&queue).unwrap();
    }
    let listed = repo.crew(&["ticket", "ls"]);
    assert_eq!(listed.code, 1, "{listed}");
    repo.crew(&["ticket", "create", "Here"]).ok();
    assert_eq!(std::fs::read_dir(&above).unwrap().count(), 0);
    assert!(repo.crew(&["ticket", "ls"]).ok().out.contains("Here"));
}

#[test]
fn a_ticket_goes_round() {
    let repo = Repo::with_crew();
    let tk = |args: &[&str]| repo.crew(&[&["ticket"], args].concat()).ok().out;
    let first = tk(&[
        "create",
        "Write it",
        "-d",
        "All of it",
        "--acceptance",
        "It reads well",
        "-p",
        "1",
        "--tags",
        "a,b",
    ]);
    let first = first.trim();
    let second = tk(&["create", "Then: read it | \"aloud\""]);
    let second = second.trim();
    assert!(
        first.starts_with("rep-"),
        "{first}: named after the repository's folder"
    );
    assert_eq!(
        tk(&["dep", second, first]),
        format!("Added dependency: {second} -> {first}\n")
    );
    assert_eq!(tk(&["dep", second, first]), "Dependency already exists\n");
    assert_eq!(tk(&["ready"]), format!("{first} [P1][open] - Write it\n"));
    assert_eq!(
        tk(&["blocked"]),
        format!("{second} [P2][open] - Then: read it | \"aloud\" <- [{first}]\n")
    );
    assert_eq!(tk(&["start", first]), format!("Updated {first} -> in_progress\n"));
    assert_eq!(tk(&["close", first]), format!("Updated {first} -> closed\n"));
    assert_eq!(
        tk(&["closed", "--limit=5"]),
        format!("{first} [closed] - Write it\n")
    );
    assert_eq!(tk(&["reopen", first]), format!("Updated {first} -> open\n"));
    assert_eq!(
        tk(&["status", first, "closed"]),
        format!("Updated {first} -> closed\n")
    );
    assert_eq!(
        tk(&["add-note", second, "a", "note"]),
        format!("Note added to {second}\n")
    );
    assert!(tk(&["show", second]).contains("a note"));
    assert_eq!(
        tk(&["link", first, second]),
        "Added 2 link(s) between 2 tickets\n"
    );
    assert_eq!(
        tk(&["unlink", first, second]),
        format!("Removed link: {first} <-> {second}\n")
    );
    assert!(tk(&["dep", "tree", second]).contains("└── "));
    assert_eq!(tk(&["dep", "cycle"]), "No dependency cycles found\n");
    assert_eq!(
        tk(&["undep", second, first]),
        format!("Removed dependency: {second} -/-> {first}\n")
    );
    assert_eq!(
        tk(&["ls", "--status=open"]),
        format!("{second} [open] - Then: read it | \"aloud\"\n")
    );
    assert_eq!(tk(&["query"]).lines().count(), 2);
    assert!(tk(&["edit", second]).starts_with("Edit ticket file: "));
    assert_eq!(tk(&["query", ".status == \"closed\""]).lines().count(), 1);
    assert!(tk(&[]).contains("Usage: crew ticket"));
}

#[test]
fn listings_and_a_ticket_are_printed_as_json() {
    let tk = Tk::new();
    let repo = &tk.repo;
    repo.ticket("t-1", "One", "tags: [ui]\nassignee: ada");
    repo.ticket("t-2", "Two\u{202e}", "");
    repo.ticket("t-3", "Three", "parent: t-2");
    repo.crew(&["ticket", "dep", "t-2", "t-1"]).ok();
    repo.crew(&["ticket", "link", "t-2", "t-3"]).ok();
    repo.crew(&["ticket", "close", "t-3"]).ok();
    repo.crew(&["ticket", "add-note", "t-2", "look at it"]).ok();
    repo.write(".tickets/t-4.md", "no front matter\n");
    let ids = |args: &[&str]| -> Vec<String> {
        let said = repo.crew(&[&["ticket"], args, &["--json"]].concat()).json();
        let tickets = said["tickets"].as_array().unwrap().iter();
        assert_eq!(said["unreadable"].as_array().unwrap().len(), 1);
        tickets
            .map(|ticket| ticket["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&["ls"]), ["t-1", "t-2", "t-3"]);
    assert_eq!(ids(&["ls", "--status=closed"]), ["t-3"]);
    assert_eq!(ids(&["ready"]), ["t-1"]);
    assert_eq!(ids(&["ready", "-T", "ui"]), ["t-1"]);
    assert_eq!(ids(&["ready", "-a", "bob"]), [""; 0]);
    assert_eq!(ids(&["blocked"]), ["t-2"]);
    assert_eq!(ids(&["closed", "--limit=0"]), [""; 0]);
    let blocked = repo.crew(&["--json", "ticket", "blocked"]).json();
    let blockers = serde_json::json!([{ "id": "t-1", "reason": "unclosed" }]);
    assert_eq!(blocked["tickets"][0]["blockers"], blockers);
    let shown = repo.crew(&["ticket", "show", "--json", "t-2"]).json();
    assert_eq!(shown["title"], "Two\u{202e}");
    assert_eq!(shown["notes"][0]["text"], "look at it");
    let three = serde_json::json!([{ "id": "t-3", "status": "closed", "title": "Three" }]);
    assert_eq!((&shown["children"], &shown["linked"]), (&three, &three));
    assert_eq!(shown["text"], repo.read(".tickets/t-2.md"));
    let (out, _, code) = tk.says(&[], &["ready", "--json"]);
    let by_tk: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (by_tk, code),
        (repo.crew(&["ticket", "ready", "--json"]).json(), 0)
    );
}

#[test]
fn an_index_beside_the_journal_changes_no_listing() {
    let repo = Repo::with_crew();
    let index = repo.root.join(".crew/tickets.index");
    repo.ticket("t-1", "One", "");
    repo.crew(&["ticket", "ls"]).ok();
    assert!(!index.exists(), "there is no crew folder yet");
    repo.crew(&["ticket", "start", "t-1"]).ok();
    repo.crew(&["run", "--until-idle"]).ok();
    repo.ticket("t-2", "Two", "");
    let listed = |index: &[u8]| {
        std::fs::write(repo.root.join(".crew/tickets.index"), index).unwrap();
        repo.crew(&["ticket", "ls"]).ok().out
    };
    let plain = "t-1      [in_progress] - One\nt-2      [open] - Two\n";
    assert_eq!(listed(b""), plain);
    let good = std::fs::read(&index).unwrap();
    assert!(!good.is_empty());
    assert_eq!(listed(&good), plain);
    assert_eq!(listed(&good[..good.len() - 1]), plain);
    repo.crew(&["ticket", "close", "t-2"]).ok();
    assert_eq!(listed(&good), plain.replace("open", "closed"));
}

#[test]
fn a_listing_needs_no_git_where_crew_has_been() {
    let tk = Tk::new();
    let repo = &tk.repo;
    repo.ticket("t-1", "One", "");
    repo.write("src/deep/a.rs", "");
    let program = || {
        let mut words = repo.program(&repo.root.join("src/deep"));
        words.insert(words.len() - 1, "PATH=/nowhere".to_owned());
        words
    };
    let without_git = |args: &[&str]| repo.run(&program(), args);
    let said = without_git(&["ticket", "ls"]);
    assert_eq!(
        said.out, "t-1      [open] - One\n",
        "{said}: of the nearest folder"
    );
    repo.crew(&["ticket", "start", "t-1"]).ok();
    repo.crew(&["run", "--until-idle"]).ok();
    // Of the repository, which is known by now: a folder of tickets that is nearer is none of its own.
    repo.write("src/.tickets/t-9.md", "---\nstatus: open\n---\n# Nine\n");
    let said = without_git(&["ticket", "ls"]).ok();
    assert_eq!(said.out, "t-1      [in_progress] - One\n");
}

#[test]
fn the_usage_of_dep_names_the_program() {
    let tk = Tk::new();
    let (_, err, code) = tk.says(&[], &["dep"]);
    let wanted = "Usage: tk dep <id> <dependency-id>
       tk dep tree <id>  - show dependency tree
       tk dep cycle      - find dependency cycles\n";
    assert_eq!((err.as_str(), code), (wanted, 1));
    let said = tk.repo.crew(&["ticket", "dep"]);
    assert!(said.err.contains("crew ticket dep tree <id>"), "{said}");
}

#[test]
fn what_tk_refuses_is_refused_with_its_code() {
    let repo = Repo::with_crew();
    repo.ticket("t-1", "One", "");
    for args in [
        &["frobnicate"][..],
        &["show", "nothing"],
        &["show"],
        &["show", "../../etc/passwd"],
        &["create", "--frob"],
        &["create", "two\nlines"],
        &["create", "x", "-p", "9"],
        &["status", "t-1", "half"],
        &["dep", "t-1", "t-1"],
        &["undep", "t-1", "t-2"],
        &["ls", "--limit=3"],
        &["closed", "--limit=x"],
    ] {
        let said = repo.crew(&[&["ticket"], args].concat());
        assert_eq!(said.code, 1, "{args:?}: {said}");
        assert!(said.err.starts_with("error: "), "{args:?}: {said}");
    }
    assert_eq!(
        repo.crew(&["ticket", "ls"]).ok().out,
        "t-1      [open] - One\n",
        "nothing was written"
    );
}

#[test]
fn help_is_an_option_of_each_command() {
    let repo = Repo::with_crew();
    let help = repo.crew(&["ticket", "help"]).ok().out;
    for args in [
        &["create", "--help"][..],
        &["create", "A title", "-h"],
        &["dep", "--help"],
        &["--help"],
    ] {
        assert_eq!(
            repo.crew(&[&["ticket"], args].concat()).ok().out,
            help,
            "{args:?}"
        );
    }
    let noted = repo.crew(&["ticket", "create", "--", "--help"]).ok();
    let shown = repo.crew(&["ticket", "show", noted.out.trim()]).ok();
    assert!(shown.out.contains("# --help"), "{shown}");
}

#[test]
fn called_tk_it_is_tk() {
    let repo = Repo::none();
    let link = repo.home().join("tk");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_crew"), &link).unwrap();
    let mut command = repo.program(&repo.root);
    *command.last_mut().unwrap() = link.display().to_string();
    let tk = |args: &[&str]| env().args(&command).args(args).output().unwrap();
    let created = tk(&["create", "No repository needed"]);
    assert!(created.status.success(), "{created:?}");
    let listed = String::from_utf8(tk(&["ls"]).stdout).unwrap();
    assert!(listed.contains("No repository needed"), "{listed}");
    assert_eq!(tk(&["frobnicate"]).status.code(), Some(1));
}

/// crew, called `tk` in the repository's folder, with a folder of plugins on the `PATH`.
struct Tk {
    command: Vec<String>,
    repo: Repo,
}

impl Tk {
    fn new() -> Self {
        let repo = Repo::with_crew();
        let link = repo.home().join("tk");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_crew"), &link).unwrap();
        let mut command = repo.program(&repo.root);
        *command.last_mut().unwrap() = link.display().to_string();
        Self { command, repo }
    }

    fn plugin(&self, name: &str, script: &str) {
        let folder = self.repo.home().join("plugins");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, mode).unwrap();
    }

    /// What it prints, what it says of an error, and its exit code.
    fn says(&self, set: &[&str], args: &[&str]) -> (String, String, i32) {
        let folder = self.repo.home().join("plugins");
        let (program, before) = self.command.split_last().unwrap();
        let path = before.iter().find_map(|word| word.strip_prefix("PATH="));
        let path = format!("PATH={}:{}", folder.display(), path.unwrap());
        let mut command = env();
        command.args(before).arg(path).args(set).arg(program).args(args);
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap();
        (text(output.stdout), text(output.stderr), code)
    }
}

#[test]
fn called_tk_it_speaks_as_tk() {
    let tk = Tk::new();
    tk.repo.ticket("t-1", "One", "");
    tk.repo.ticket("t-2", "Two", "");
    let nothing = String::new;
    assert_eq!(
        tk.says(&[], &["undep", "t-1", "t-2"]),
        ("Dependency not found\n".to_owned(), nothing(), 1)
    );
    assert_eq!(
        tk.says(&[], &["start"]),
        (nothing(), "Usage: tk start <id>\n".to_owned(), 1)
    );
    let (out, err, code) = tk.says(&[], &["show", "no"]);
    assert_eq!((out, code), (nothing(), 1));
    assert!(err.starts_with("Error: ticket 'no' not found\n"), "{err}");
    let (out, err, code) = tk.says(&[], &["frobnicate"]);
    assert_eq!((out, code), (nothing(), 1));
    assert!(
        err.starts_with("Unknown command: frobnicate\ntk - minimal ticket system"),
        "{err}"
    );
    let (out, err, code) = tk.says(&[], &["query", ".id | endswith(\"2\")"]);
    assert_eq!((err, code), (nothing(), 0));
    assert!(
        out.starts_with("{\"id\":\"t-2\",") && out.lines().count() == 1,
        "{out}"
    );
    let (out, err, code) = tk.says(&[], &["query", ".id ("]);
    assert_eq!((out, code), (nothing(), 1));
    assert!(err.contains("cannot be read"), "{err}");
}

#[test]
fn a_plugin_goes_before_a_command_for_a_person_only() {
    let tk = Tk::new();
    tk.repo.ticket("t-1", "One", "");
    tk.plugin(
        "tk-ready",
        "# tk-plugin: Greets\necho \"hello $* of $TICKETS_DIR\"; $TK_SCRIPT super ready; exit 3",
    );
    tk.plugin("ticket-ready", "echo never");
    let listed = "t-1      [P2][open] - One\n";
    let (out, _, code) = tk.says(&[], &["ready", "you", "--help"]);
    assert!(out.starts_with("hello you --help of /"), "{out}");
    assert!(out.ends_with(&format!("/.tickets\n{listed}")), "{out}");
    assert_eq!(code, 3);
    assert_eq!(tk.says(&[], &["super", "ready"]).0, listed);
    let help = tk.says(&[], &["help"]).0;
    assert!(help.contains("  ready                  Greets\n"), "{help}");
    // An agent, a check and a hook do not run it.
    for set in ["CREW_WORKER=1", "CREW_CHECK=1"] {
        assert_eq!(tk.says(&[set], &["ready"]).0, listed, "{set}");
    }
}
