//! What goes on as more happens.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::commands::engine::Engine;
use crate::commands::repo::{Repo, env, until};

/// A command that prints until it is interrupted. Ended when dropped.
pub(crate) struct Following(Child, Receiver<String>);

impl Following {
    pub(crate) fn start(repo: &Repo, args: &[&str]) -> Self {
        let mut child = env()
            .args(repo.program(&repo.root))
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out: ChildStdout = child.stdout.take().unwrap();
        let (tell, told) = channel();
        std::thread::spawn(move || {
            BufReader::new(out)
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| tell.send(line))
        });
        Self(child, told)
    }

    /// The next line.
    #[track_caller]
    pub(crate) fn line(&self) -> String {
        self.1.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    #[track_caller]
    fn says(&self, wanted: &str) {
        let mut before = Vec::new();
        loop {
            match self.1.recv_timeout(Duration::from_secs(60)) {
                Ok(line) if line.contains(wanted) => return,
                Ok(line) => before.push(line),
                Err(error) => panic!("{error}: no `{wanted}` after {before:#?}"),
            }
        }
    }

    /// Interrupts it; its exit code.
    pub(crate) fn interrupted(mut self) -> Option<i32> {
        let pid = self.0.id().to_string();
        assert!(env().args(["kill", "-INT", &pid]).status().unwrap().success());
        until("it has ended", || self.0.try_wait().unwrap()).code()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn events_are_followed_as_they_happen() {
    let repo = Repo::with_crew();
    let early = Following::start(&repo, &["events", "--follow"]);
    repo.crew(&["spawn", "ada"]).ok();
    early.says("agent ada was spawned");
    assert_eq!(early.interrupted(), Some(130));
    let following = Following::start(&repo, &["events", "--follow", "--json"]);
    following.says("agent ada was spawned");
    repo.crew(&["spawn", "bob"]).ok();
    following.says("agent bob was spawned");
    assert_eq!(following.interrupted(), Some(130));
}

#[test]
fn an_agents_output_is_followed_over_its_steps() {
    let script = "echo \"careful $CREW_STEP\" >&2\n\
                  echo \"begun $CREW_STEP\"\n\
                  printf 'half a li'\n\
                  while ! test -e \"$TICKETS_DIR/../../go-$CREW_STEP\"; do sleep 0.02; done\n\
                  printf 'ne \\033[2J%s\\n' \"$CREW_STEP\"\n\
                  if test \"$CREW_STEP\" = 2; then git commit --quiet --allow-empty -m w; echo DONE; fi";
    let repo = Repo::with_agent(script);
    repo.ticket("t-1", "One", "");
    let engine = Engine::start(&repo, &["--agents", "1"]);
    let name = until("an agent at work", || {
        let ps = repo.crew(&["ps", "--json"]).ok().json();
        let agents = ps["agents"].as_array()?.clone();
        let working = agents
            .into_iter()
            .find(|agent| agent["state"] == "working" && agent["running"] == true);
        working.map(|agent| agent["name"].as_str().unwrap_or_default().to_owned())
    });
    let following = Following::start(&repo, &["logs", "-f", &name]);
    following.says("t-1, step 1");
    following.says("begun 1");
    std::fs::write(repo.root.parent().unwrap().join("go-1"), "").unwrap();
    following.says("half a line 1");
    following.says("stderr: careful 1");
    following.says("t-1, step 2");
    following.says("begun 2");
    std::fs::write(repo.root.parent().unwrap().join("go-2"), "").unwrap();
    following.says("half a line 2");
    following.says("DONE");
    assert_eq!(following.interrupted(), Some(130));
    repo.crew(&["stop", "--kill", "--wait"]).ok();
    assert_eq!(engine.ended().status.code(), Some(0));
}
