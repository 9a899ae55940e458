//! The tour of the README, as it stands there.

use std::path::Path;
use std::process::Stdio;

use crate::commands::repo::{Repo, env};
use testkit::readme::tour;

/// The shell commands of the tour, block by block, without those that install crew and those that need a real
/// agent.
fn commands() -> String {
    let blocks = tour().into_iter();
    let ours: Vec<String> = blocks
        .filter(|block| !block.contains("cargo install") && !block.starts_with("crew init\n"))
        .collect();
    assert_eq!(ours.len(), 3, "the tour has other commands: {ours:#?}");
    ours.concat()
        .replace("<ticket>", "\"$(crew ticket closed --limit=1 | cut -d' ' -f1)\"")
        .replace("<agent>", "ada")
}

#[test]
fn the_tour_of_the_readme_does_what_it_says() {
    let repo = Repo::new();
    repo.git(&["config", "user.name", "Ada"]);
    repo.git(&["config", "user.email", "ada@example.org"]);
    let mut program = repo.program(&repo.root);
    let crew = program.pop().unwrap();
    let path = program.iter().position(|word| word.starts_with("PATH=")).unwrap();
    let folder = Path::new(&crew).parent().unwrap().display();
    program[path] = program[path].replacen("PATH=", &format!("PATH={folder}:"), 1);
    let output = env()
        .args(program)
        .args(["sh", "-e", "-c", &commands()])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{out}\n{err}");
    for said in [
        "landed 2 tickets",
        "2 landed",
        "Say hello",
        "SUMMARY: wrote notes/",
    ] {
        assert!(out.contains(said), "no {said:?} in {out}\n{err}");
    }
    assert_eq!(std::fs::read_dir(repo.root.join("notes")).unwrap().count(), 2);
}

/// `cargo run -- demo` takes the one binary of the workspace's default members.
#[test]
fn the_first_command_of_the_readme_names_one_program() {
    let said = env()
        .args([
            "cargo",
            "metadata",
            "--format-version=1",
            "--no-deps",
            "--locked",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let all: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    let items = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let default = items(&all["workspace_default_members"]);
    let programs: Vec<String> = items(&all["packages"])
        .iter()
        .filter(|package| default.contains(&package["id"]))
        .flat_map(|package| items(&package["targets"]))
        .filter(|target| items(&target["kind"]).contains(&"bin".into()))
        .map(|target| target["name"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(programs, ["crew"]);
}
