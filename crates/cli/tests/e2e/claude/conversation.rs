//! What people see of a real step: its conversation.

use serde_json::json;
use testkit::scene::Scene;

#[test]
fn a_step_is_shown_as_a_conversation() {
    let scene = Scene::new();
    let below = "@@[{\"bash\":\"echo below\"},{\"text\":\"I found it.\"}]@@";
    let script = json!([
        { "text": "I **look**.", "bash": "seq 40" },
        { "bash": "seq 20; printf '\\033[31mred\\033[0m\\n' >&2; exit 3" },
        { "tool": "Task", "input": { "description": "find it", "prompt": below,
            "subagent_type": "general-purpose", "run_in_background": false } },
        { "write": ["x", "x\n"] },
        { "text": "SUMMARY: looked\n**DONE**\nDONE" },
    ]);
    // The marks of the script within are written as escapes: the model takes the last ones for the script's.
    let script = script.to_string().replace("@@", "\\u0040\\u0040");
    let body = format!("Work on it by the script.\n\n@@{script}@@");
    scene.world.ticket("t-1").body(&body).write();
    scene.drain_all();

    let said = scene.world.must(&["logs", "t-1"]).out;
    let shown = without_spans(&said);
    for part in [
        "  I **look**.\n",
        "  > Bash: seq 40 … ok",
        ", 40 lines\n",
        "failed",
        "\n              red\n",
        "  > Task: find it\n",
        "      > Bash: echo below … ok: below\n",
        "  < Task: find it … ok",
        "  > Write: x … ok",
        "  » SUMMARY: looked\n",
        "✗ not used: **DONE**, which counts only as `DONE`",
        "  » DONE\n",
        "  = ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(
        !shown.contains("\n              3\n") && !shown.contains('\u{1b}'),
        "{shown}"
    );

    let full = scene.world.must(&["logs", "t-1", "--full"]).out;
    for part in [
        "\n              1\n",
        "\n              content: x\n",
        "              prompt: ",
    ] {
        assert!(full.contains(part), "{part}: {full}");
    }
    let last = scene.world.must(&["logs", "t-1", "-n", "2"]).out;
    let lines: Vec<&str> = last.lines().collect();
    assert!(
        matches!(lines[..], [head, done, used]
            if head.starts_with("── t-1, step 1") && done.ends_with("» DONE") && used.contains("= ")),
        "{last}"
    );
    let refused = scene.world.crew(&["logs", "t-1", "-n", "2", "--raw"]);
    assert_eq!(refused.code, Some(2), "{refused}");
}

/// Without what each use of a tool took, which is shown from a second on.
fn without_spans(said: &str) -> String {
    let mut lines = String::new();
    for line in said.lines() {
        let (words, rest) = line.split_once(" after ").unwrap_or((line, ""));
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        lines.push_str(&format!("{words}{rest}\n"));
    }
    lines
}
