//! The dashboard on a real terminal, beside a real engine.

use crate::commands::engine::Engine;
use crate::commands::repo::Repo;

/// Thinks until a file stands beside the repository, asks, and does what it was told.
const ASKS: &str = "\
if [ \"$CREW_STEP\" = 1 ]; then
  echo 'I think about colours'
  while ! test -e \"$TICKETS_DIR/../../go\"; do sleep 0.02; done
  echo 'QUESTION: blue or red?'
  exit 0
fi
echo paint > wall.txt
git add --all
git commit --quiet -m 'Paint the wall'
echo 'SUMMARY: painted the wall'
echo DONE";

#[test]
fn a_person_watches_an_agent_answers_it_sees_it_land_and_stops_the_engine() {
    let repo = Repo::with_agent(ASKS);
    repo.ticket("t-1", "Paint the wall", "");
    let mut screen = repo.terminal(&[], (80, 24));
    screen.until("no engine: R runs one");
    screen.until("t-1");
    let engine = Engine::start(&repo, &["--agents", "1"]);
    screen.until("I think about colours");
    screen.until("● at work");
    std::fs::write(repo.root.parent().unwrap().join("go"), "").unwrap();
    screen.until("1 waits for you");
    screen.press("4a");
    screen.until("blue or red?");
    screen.press("red\r");
    screen.until("✓ t-1");
    screen.until("1/1 done");
    screen.press("2d");
    screen.until("landed on main as");
    screen.until("+paint");
    screen.press("q");
    screen.until("━ 2 Queue");
    screen.press("26\r");
    screen.until("landed as");
    screen.resize(40, 10);
    screen.until("▌6 History");
    screen.press("S");
    screen.until("Stop the engine?");
    screen.press("f");
    screen.until("○ no engine");
    assert_eq!(engine.ended().status.code(), Some(0));
    screen.press("q");
    assert_eq!(screen.left(), (0, true));
    assert_eq!(repo.read("wall.txt"), "paint\n");
}

#[test]
fn without_an_engine_a_command_is_carried_out_here() {
    let repo = Repo::with_crew();
    repo.ticket("t-1", "Paint the wall", "");
    let mut screen = repo.terminal(&["d", "--no-color"], (200, 50));
    screen.until("t-1");
    screen.press("n");
    screen.until("a name or a number");
    screen.press("zoe\r");
    screen.until("○ zoe");
    assert!(repo.crew(&["ps"]).ok().out.contains("zoe"));
    screen.press("2r");
    screen.until("✗ retry t-1 refused");
    screen.press("\u{3}");
    assert_eq!(screen.left(), (0, true));
}

#[test]
fn a_journal_that_is_gone_is_said_and_another_one_is_shown() {
    let repo = Repo::with_crew();
    repo.crew(&["spawn", "ada"]).ok();
    let mut screen = repo.terminal(&["dashboard"], (80, 24));
    screen.until("○ ada");
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        // The last two are gone where nobody has the journal open.
        drop(std::fs::remove_file(repo.root.join(".crew").join(file)));
    }
    screen.until("! the journal was deleted");
    repo.crew(&["spawn", "bob"]).ok();
    screen.until("○ bob");
    screen.press("q");
    assert_eq!(screen.left(), (0, true));
}

#[test]
fn a_folder_that_comes_back_without_a_journal_is_not_said_to_be_gone() {
    let repo = Repo::with_crew();
    repo.crew(&["spawn", "ada"]).ok();
    let mut screen = repo.terminal(&["dashboard"], (200, 24));
    screen.until("○ ada");
    let away = repo.root.with_extension("away");
    std::fs::rename(&repo.root, &away).unwrap();
    screen.until("is gone, or was moved");
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        drop(std::fs::remove_file(away.join(".crew").join(file)));
    }
    std::fs::rename(&away, &repo.root).unwrap();
    screen.until("! the journal was deleted");
    screen.press("q");
    assert_eq!(screen.left(), (0, true));
}

#[test]
fn a_terminal_is_given_back_when_the_dashboard_is_terminated() {
    let repo = Repo::with_crew();
    let mut screen = repo.terminal(&["dashboard"], (80, 24));
    screen.until("1 Agents");
    screen.terminate();
    assert_eq!(screen.left(), (130, true));
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let repo = Repo::with_crew();
    let said = repo.crew(&["dashboard"]);
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains("needs a terminal") && said.err.contains("crew ps"),
        "{said}"
    );
    let alone = repo.crew(&[]).ok();
    assert!(alone.out.contains("Usage: crew"), "{alone}");
}

#[test]
fn alone_where_there_is_no_crew_it_is_help() {
    let repo = Repo::new();
    let mut screen = repo.terminal(&[], (80, 40));
    screen.until("Print version");
    assert_eq!(screen.left(), (0, true));
}

#[test]
fn an_edit_of_the_settings_that_cannot_be_used_is_shown_on_every_surface() {
    let repo = Repo::with_crew();
    repo.ticket("t-1", "Paint the wall", "");
    let mut screen = repo.terminal(&["d", "--no-color"], (120, 40));
    screen.until("4 Inbox");
    assert_eq!(
        repo.crew(&["ps", "--json"]).ok().json()["rejected_settings"],
        serde_json::Value::Null
    );
    let good = repo.read("crew.toml");
    repo.write("crew.toml", &format!("{good}\nbogus = = 3\n"));
    screen.until("4 Inbox 1 waits for you");
    screen.press("4");
    screen.until("until then no engine starts");
    let inbox = repo.crew(&["inbox", "--json"]);
    assert_eq!(inbox.code, 3);
    let item = &inbox.json()["items"][0];
    assert_eq!(item["kind"], "settings");
    let why = item["why"].as_str().unwrap();
    assert!(
        why.starts_with("crew.toml:") && why.contains("extra `=`"),
        "{why}"
    );
    assert_eq!(repo.crew(&["ps", "--json"]).ok().json()["rejected_settings"], why);
    repo.write("crew.toml", &good);
    screen.until("nothing waits for you");
    screen.press("q");
    assert_eq!(screen.left(), (0, true));
}
