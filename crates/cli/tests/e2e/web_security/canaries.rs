//! S16: what is secret is in no answer, page, log or notification.

use super::*;
use crate::commands::engine::Engine;

/// The address of every answer of the interface that is read, of a repository with the ticket t-1 and the
/// agent `ada`; `RUN` is a run of it.
const ANSWERS: &[&str] = &[
    "/api/v1/repos",
    "/api/v1/devices",
    "/api/v1/r/repo/view",
    "/api/v1/r/repo/tickets?over=true",
    "/api/v1/r/repo/tickets/t-1",
    "/api/v1/r/repo/tickets/t-1/history",
    "/api/v1/r/repo/tickets/t-1/diff",
    "/api/v1/r/repo/runs/RUN/output?from=start",
    "/api/v1/r/repo/runs/RUN/find?q=canary",
    "/api/v1/r/repo/runs/RUN/raw",
    "/api/v1/r/repo/events?limit=200",
    "/api/v1/r/repo/events/1",
    "/api/v1/r/repo/cost",
    "/api/v1/r/repo/spans",
    "/api/v1/r/repo/health",
    "/api/v1/r/repo/settings",
    "/api/v1/r/repo/search?q=canary",
    "/metrics",
];

#[test]
fn what_is_secret_is_in_no_answer_log_or_notification() {
    let repo = Repo::with_agent(
        "test -n \"$HARNESS_3\" && echo \"I read\"\necho one > one.txt\ngit add --all\ngit commit -qm one\necho 'QUESTION: and now?'",
    );
    let mut canaries: Vec<String> = Vec::new();
    let mut table = |of: &str| -> String {
        let entries = (0..15).map(|n| {
            let canary = format!("canary-{of}-{n}-6f1e9a");
            let entry = format!("{}_{n} = \"{canary}\"", of.to_uppercase());
            canaries.push(canary);
            entry
        });
        format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
    };
    let (harness, checks) = (table("harness"), table("checks"));
    let settings = repo.read("crew.toml");
    let harness_at = "# env = {}                        # added to the agent's environment";
    let checks_at = "# env = {}                        # added to the environment of checks";
    assert!(
        settings.contains(harness_at) && settings.contains(checks_at),
        "{settings}"
    );
    let settings = settings
        .replace(harness_at, &format!("env = {harness}"))
        .replace(checks_at, &format!("env = {checks}"));
    repo.write("crew.toml", &settings);
    repo.commit("secrets");
    // A notifier that keeps all that it is told.
    let told = repo.home().join("told");
    let program = format!("[[to]]\ncommand = [\"tee\", \"-a\", \"{}\"]\n", told.display());
    let folder = repo.home().join(".config/crew");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("notify.toml"), program).unwrap();
    repo.ticket("t-1", "Ask something", "");
    let page = Served::start(&repo, &["--port", "0"]);
    let token = page.token();
    canaries.push(token.clone());
    let engine = Engine::start(&repo, &[]);
    let run = until("it asks, and its run is known", || {
        let answer = page.get("/api/v1/r/repo/tickets/t-1", &token);
        let read = (answer.status == 200).then(|| answer.json())?;
        let is_asked = !repo.crew(&["inbox", "--json"]).json()["items"]
            .as_array()?
            .is_empty();
        let run = read["runs"].as_array()?.last()?["run"].as_str()?.to_owned();
        (is_asked && told.exists()).then_some(run)
    });
    let mut said = Vec::new();
    for address in ANSWERS {
        let address = address.replace("RUN", &run);
        let answer = page.get(&address, &token);
        assert_eq!(answer.status, 200, "{address}: {answer}");
        said.push((address, answer.body));
    }
    let output = said
        .iter()
        .find(|(address, _)| address.contains("/output"))
        .unwrap();
    assert!(
        output.1.contains("I read"),
        "the agent was given its environment: {}",
        output.1
    );
    drop(page);
    drop(engine);
    for file in [repo.root.join(".crew/engine.log"), repo.home().join("err"), told] {
        let text = fs::read_to_string(&file).unwrap_or_default();
        said.push((file.display().to_string(), text));
    }
    for (place, text) in &said {
        for canary in &canaries {
            assert!(!text.contains(canary.as_str()), "{place} has {canary}: {text}");
        }
    }
}
