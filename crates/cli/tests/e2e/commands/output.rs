//! What is printed, and what happens when nobody reads it.

use std::process::Stdio;

use crate::commands::repo::{Repo, env};

#[test]
fn a_closed_pipe_is_no_failure() {
    let repo = Repo::with_crew();
    for n in 0..50 {
        repo.ticket(&format!("t-{n}"), "Some title", "");
    }
    for args in [
        &["queue"][..],
        &["ps"],
        &["man"],
        &["completions", "zsh"],
        &["config", "--schema"],
        &["ticket", "ls"],
        &[],
    ] {
        let mut child = env()
            .args(repo.program(&repo.root))
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn nothing_is_coloured_where_no_terminal_is() {
    let repo = Repo::with_crew();
    repo.ticket("t-1", "One", "");
    for args in [
        &["queue"][..],
        &["ps"],
        &["explain", "t-1"],
        &["explain", "nothing"],
        &["--help"],
        &[],
    ] {
        let said = repo.crew(args);
        assert!(
            !said.out.contains('\u{1b}') && !said.err.contains('\u{1b}'),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn every_shell_has_completions_and_the_manual_knows_every_command_but_the_hidden() {
    let repo = Repo::none();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = repo.crew(&["completions", shell]).ok();
        assert!(
            said.out.contains("CREW_COMPLETE") && said.out.contains("crew"),
            "{shell}: {said}"
        );
    }
    let man = repo.crew(&["man"]).ok().out;
    assert!(
        man.starts_with("NAME\n") && man.contains("crew-queue(1)") && !man.contains("crew-shim"),
        "{man}"
    );
    let page = repo.crew(&["man", "explain"]).ok().out;
    assert!(
        page.contains("crew-explain") && page.contains("why a ticket"),
        "{page}"
    );
    assert!(
        page.contains("crew explain [-C <DIR>]") && page.contains("<TICKET>\n"),
        "{page}"
    );
    assert!(
        !page.contains('\\') && !page.lines().any(|line| line.starts_with('.')),
        "{page}"
    );
    assert_eq!(repo.crew(&["man", "expl"]).ok().out, page);
    let said = repo.crew(&["man", "shim"]);
    assert_eq!(said.code, 2, "{said}");
    repo.crew(&["man", "--into", "pages"]).ok();
    let pages: std::collections::BTreeSet<String> = std::fs::read_dir(repo.root.join("pages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        pages.contains("crew.1") && pages.contains("crew-run.1") && !pages.contains("crew-shim.1"),
        "{pages:?}"
    );
}

#[test]
fn the_help_names_every_command() {
    let repo = Repo::none();
    insta::assert_snapshot!(repo.seen(&[]));
}

#[test]
fn machines_are_drawn_and_written() {
    let repo = Repo::none();
    // The one of the ticket takes seconds to draw, and is among the pages.
    let said = repo.crew(&["diagram", "att"]).ok();
    assert!(
        said.out.starts_with("stateDiagram-v2\n") && said.out.contains("waiting_for_input"),
        "{said}"
    );
    assert_eq!(repo.crew(&["diagram", "nothing"]).code, 2);
    repo.crew(&["diagram", "--all", "machines"]).ok();
    let listed = repo.crew(&["diagram"]).ok().out;
    for machine in listed.lines() {
        assert!(
            repo.read(&format!("machines/{machine}.md"))
                .contains("```mermaid"),
            "{machine}"
        );
    }
}
