//! The README's block for the real client, as it stands there.

use std::os::unix::fs::symlink;

use model_server::Server;
use serde_json::json;

use testkit::client;
use testkit::pty::Pty;
use testkit::readme::tour;
use testkit::scene::scripted;
use testkit::world::{World, crew, path_variable};

/// The block, and what stands before it.
fn block() -> String {
    let mut ours = tour()
        .into_iter()
        .filter(|block| block.starts_with("crew init\n"));
    let (Some(block), None) = (ours.next(), ours.next()) else {
        panic!("the tour has no one block for Claude Code");
    };
    assert!(block.ends_with("crew run --until-idle\n"), "{block}");
    block
}

/// A newcomer has `crew` and `claude` on PATH, a key instead of a login, and a repository with a `CLAUDE.md`,
/// by which the model learns what it does: the ticket has the README's words.
#[test]
fn the_readmes_block_for_claude_code_lands_a_ticket() {
    let server = Server::start().unwrap();
    let world = World::bare();
    let script = json!([
        { "bash": "echo well > done.txt && git add done.txt && git commit -q -m 'Do it'" },
        { "text": "SUMMARY: did it\nDONE" },
    ]);
    world.commit("CLAUDE.md", &scripted("what is asked", &script));
    for folder in ["bin", "tmp"] {
        std::fs::create_dir(world.path(folder)).unwrap();
    }
    symlink(crew(), world.path("bin/crew")).unwrap();
    symlink(client::program(), world.path("bin/claude")).unwrap();
    let path = [world.path("bin").as_os_str(), path_variable().as_os_str()].join(std::ffi::OsStr::new(":"));

    let mut shell = world.program("setsid");
    shell
        .args(["--ctty", "sh", "-e", "-c", &block()])
        .current_dir(world.path("project"))
        .env("PATH", path)
        .env("TERM", "xterm-256color")
        .env("TMPDIR", world.path("tmp"))
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "sk-ant-no-key");
    let mut terminal = Pty::start(&mut shell, (100, 50));
    terminal.until("Write crew.toml? [Y/n]");
    terminal.press("\n");
    let status = terminal.ended();

    let screen = terminal.screen();
    assert!(status.success(), "{status}:\n{screen}");
    assert!(screen.contains("landed 1 ticket"), "{screen}");
    assert_eq!(world.on_main("done.txt"), Some("well\n".to_owned()));
    let settings = world.read("crew.toml");
    assert!(settings.contains("harness = \"claude\""), "{settings}");
    let landed = world.landed();
    let [ticket] = &landed[..] else {
        panic!("{landed:?}:\n{screen}");
    };
    assert_eq!(world.front(ticket, "status"), "closed");
    world.assert_at_rest();
    assert!(server.problems().is_empty(), "{:?}", server.problems());
    let asked = &server.requests()[0];
    let told = asked.user_texts().join("\n");
    for text in ["What is to be done", "How one sees that it is done."] {
        assert!(told.contains(text), "the agent was not told {text:?}: {told}");
    }
}
