//! The client itself against the model: what the other tests take for granted.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use model_server::{Route, Server};
use serde_json::{Value, json};

use testkit::client;
use testkit::scene::{MODEL, scripted};

#[test]
fn the_client_plays_the_script_and_asks_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["home", "tmp", "work"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let server = Server::start().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test plays the user")]
    let mut command = Command::new(client::program());
    command
        .args(["-p", "--output-format", "stream-json", "--verbose"])
        .args(["--permission-mode", "bypassPermissions", "--model", MODEL])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder.path().join("home"))
        .env("IS_SANDBOX", "1")
        .envs(client::variables(folder.path(), &server.url()))
        .current_dir(folder.path().join("work"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let both = json!([{ "bash": "echo one" }, { "bash": "echo two" }]);
    let script = json!([{ "bash": "echo hello > made" }, both, { "thinking": "hm", "text": "so\nDONE" }]);
    let prompt = scripted("alone", &script);
    child.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");

    assert_eq!(
        fs::read_to_string(folder.path().join("work/made")).unwrap(),
        "hello\n"
    );
    let last = String::from_utf8(output.stdout).unwrap();
    let result: Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&result["is_error"], &result["result"]),
        (&json!(false), &json!("so\nDONE"))
    );
    assert!(server.problems().is_empty(), "{:?}", server.problems());
    let turns: Vec<_> = server
        .requests()
        .into_iter()
        .filter(|request| request.route == Route::Messages)
        .map(|request| request.step)
        .collect();
    assert_eq!(turns, [Some(0), Some(1), Some(2)]);
}
