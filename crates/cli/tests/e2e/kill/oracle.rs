//! What must be true when the queue is drained, whatever was killed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use model::attempt;
use model::journal::{Fact, State, Stream};
use model::ticket;
use store::{Journal as _, Location};

use crate::kill::git::{command, git, try_git};
use crate::kill::processes;
use crate::kill::world::{Plan, World};

/// The end of what the engines said.
pub(crate) fn log(world: &World) -> String {
    let text = fs::read_to_string(world.outside("engine.log")).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}

/// What is to have become of which ticket.
pub(crate) struct Expected {
    /// Landed: each has a merge.
    pub(crate) landed: BTreeSet<String>,
    /// Closed, whatever it came to.
    pub(crate) closed: BTreeSet<String>,
}

impl Expected {
    /// All of them landed.
    pub(crate) fn all(plans: &BTreeMap<String, Plan>) -> Self {
        let all: BTreeSet<String> = plans.keys().cloned().collect();
        Self {
            landed: all.clone(),
            closed: all,
        }
    }
}

/// The numbers of tokens and commits that the agents of a scenario report for all tickets together, at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported {
    pub(crate) tokens: usize,
    pub(crate) commits: usize,
}

/// Looks at everything; panics at the first promise that was not kept. `least` is reported by the agents at
/// least. `notes`: what a person wrote, and in which ticket.
pub(crate) fn check(
    world: &World,
    least: Reported,
    plans: &BTreeMap<String, Plan>,
    notes: &BTreeMap<String, String>,
    status: ExitStatus,
    engine: u32,
) {
    check_all_but_the_reports(world, plans, notes, status, engine);
    no_token_is_lost(world, least.tokens);
    no_commit_is_lost(world, least.commits);
    each_step_started_once(world);
}

/// As [`check`], for an agent that does not report what it has written.
pub(crate) fn check_all_but_the_reports(
    world: &World,
    plans: &BTreeMap<String, Plan>,
    notes: &BTreeMap<String, String>,
    status: ExitStatus,
    engine: u32,
) {
    assert_eq!(
        status.code(),
        Some(0),
        "how engine {engine} ended:\n{}",
        log(world)
    );
    check_world(world, &Expected::all(plans), notes);
}

/// As [`check_all_but_the_reports`], when the last engine has ended.
pub(crate) fn check_world(world: &World, expected: &Expected, notes: &BTreeMap<String, String>) {
    check_all_but_the_journal(world, expected, notes);
    the_journal_agrees(world, expected);
}

/// As [`check_world`], for a journal in which there is more than this world's tickets.
pub(crate) fn check_all_but_the_journal(
    world: &World,
    expected: &Expected,
    notes: &BTreeMap<String, String>,
) {
    no_process_is_left(world);
    each_landed_once(world, &expected.landed);
    every_landed_tree_passes(world);
    world.check_edits();
    tickets_are_closed(world, &expected.closed, notes);
    each_landing_is_noted_once(world, &expected.landed);
    nothing_is_left_behind(world);
}

fn no_process_is_left(world: &World) {
    let left = processes::of_root(world.root());
    assert!(left.is_empty(), "left: {left:#?}");
}

/// The merges that crew made, oldest first: commit and ticket.
pub(crate) fn landed(world: &World) -> Vec<(String, String)> {
    let format = "--format=%H %(trailers:key=Ticket,valueonly,separator=%x2c)";
    let text = git(
        &world.repo(),
        &["log", "--first-parent", "--reverse", "--merges", format, "main"],
    );
    text.lines()
        .map(|line| line.split_once(' ').unwrap_or((line, "")))
        .map(|(commit, ticket)| (commit.to_owned(), ticket.to_owned()))
        .collect()
}

fn each_landed_once(world: &World, expected: &BTreeSet<String>) {
    let repo = world.repo();
    let mut landed: Vec<String> = landed(world).into_iter().map(|(_, ticket)| ticket).collect();
    landed.sort();
    let all: Vec<String> = expected.iter().cloned().collect();
    assert_eq!(landed, all, "the merges of main");
    // Nor does any commit beside main's own line claim to be the work of one of these.
    let trailers = git(
        &repo,
        &[
            "log",
            "--format=%(trailers:key=Ticket,valueonly,separator=%x2c)",
            "main",
        ],
    );
    assert_eq!(
        trailers.lines().filter(|line| expected.contains(*line)).count(),
        all.len()
    );
    let unmerged = git(
        &repo,
        &["rev-list", "--first-parent", "--no-merges", "--count", "main"],
    );
    let by_hand = world.commits().len();
    assert_eq!(
        unmerged.trim(),
        by_hand.to_string(),
        "main's own line is the person's commits and crew's merges"
    );
    let moves = moves(world);
    let places: BTreeSet<&String> = moves.iter().collect();
    assert_eq!(places.len(), moves.len(), "main stood at each once: {moves:?}");
    let most = all.len() + by_hand;
    match world.batch() {
        1 => assert_eq!(moves.len(), most, "main moved once for each"),
        _ => assert!(moves.len() < most, "main moved once for each batch: {moves:?}"),
    }
    let line = git(&repo, &["rev-list", "--first-parent", "main"]);
    for commit in world.commits() {
        assert!(
            line.lines().any(|one| one == commit),
            "the person's {commit} is not in main's own line"
        );
    }
}

/// The commits at which the target has stood.
fn moves(world: &World) -> Vec<String> {
    let said = git(&world.repo(), &["rev-list", "--walk-reflogs", "main"]);
    said.lines().map(str::to_owned).collect()
}

/// A merge in the middle of a batch is never the target.
fn every_landed_tree_passes(world: &World) {
    let repo = world.repo();
    let moves = moves(world);
    for (commit, ticket) in landed(world) {
        if !moves.contains(&commit) {
            continue;
        }
        let tree = world.root().join(format!("tree-{ticket}"));
        let index = world.root().join(format!("index-{ticket}"));
        let mut prefix = tree.clone().into_os_string();
        prefix.push("/");
        for args in [
            vec!["read-tree", &commit],
            vec!["checkout-index", "-a", "--prefix", prefix.to_str().unwrap()],
        ] {
            let done = command(&repo)
                .env("GIT_INDEX_FILE", &index)
                .args(&args)
                .output()
                .unwrap();
            assert!(
                done.status.success(),
                "{args:?}: {}",
                String::from_utf8_lossy(&done.stderr)
            );
        }
        let said = Command::new("sh")
            .arg("check.sh")
            .current_dir(&tree)
            .output()
            .unwrap();
        assert!(
            said.status.success(),
            "{ticket}: {}",
            String::from_utf8_lossy(&said.stdout)
        );
        fs::remove_dir_all(tree).unwrap();
    }
}

/// Whatever an agent said that it had written is in the target, once, and in the person's checkout.
fn no_token_is_lost(world: &World, at_least: usize) {
    let repo = world.repo();
    let tokens = world.reported::<3>("tokens");
    assert!(tokens.len() >= at_least, "{} tokens", tokens.len());
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for [ticket, token, path] in tokens {
        let text = files.entry(path.clone()).or_insert_with(|| {
            let text = git(&repo, &["show", &format!("main:{path}")]);
            assert_eq!(
                fs::read_to_string(repo.join(&path)).unwrap(),
                text,
                "{path} in the checkout"
            );
            text
        });
        let line = format!("{ticket} {token}");
        assert_eq!(
            text.lines().filter(|l| *l == line).count(),
            1,
            "{line} in {path}:\n{text}"
        );
    }
}

/// Every commit that an agent said it had made is in the target or kept.
pub(crate) fn no_commit_is_lost(world: &World, at_least: usize) {
    let kept = git(&world.repo(), &["rev-list", "main", "--glob=refs/crew/*"]);
    let kept: BTreeSet<&str> = kept.lines().collect();
    let commits = world.reported::<2>("commits");
    assert!(commits.len() >= at_least, "{} commits", commits.len());
    for [ticket, commit] in commits {
        assert!(kept.contains(commit.as_str()), "{ticket}: {commit} is lost");
    }
}

fn tickets_are_closed(world: &World, closed: &BTreeSet<String>, notes: &BTreeMap<String, String>) {
    let queue = world.queue();
    for id in closed {
        let ticket = queue.read(&tickets::Id::new(id).unwrap()).unwrap();
        assert_eq!(ticket.status, tickets::Status::Closed, "{id}");
        // One that was not needed says what it was for, and a person asks for a review, or lets an agent
        // delegate, by a tag.
        let of_ours = ticket
            .tags
            .iter()
            .filter(|tag| !["recovery", "risky", "leader"].contains(&tag.as_str()));
        assert_eq!(of_ours.count(), 0, "{id}: {:?}", ticket.tags);
        assert!(
            ticket.body().contains("Do it, and say so.\n"),
            "{id}: {}",
            ticket.body()
        );
        for (note, _) in notes.iter().filter(|(_, of)| *of == id) {
            let times = ticket.body().lines().filter(|line| line == note).count();
            assert_eq!(times, 1, "{id}: {note}\n{}", ticket.body());
        }
    }
}

/// crew has noted each landing in the ticket's file, with the commit.
fn each_landing_is_noted_once(world: &World, expected: &BTreeSet<String>) {
    let queue = world.queue();
    let landed: BTreeMap<String, String> = landed(world)
        .into_iter()
        .map(|(commit, ticket)| (ticket, commit))
        .collect();
    for id in expected {
        let ticket = queue.read(&tickets::Id::new(id).unwrap()).unwrap();
        let noted = ticket.body().lines().filter(|line| line.starts_with("DONE: "));
        let noted: Vec<&str> = noted.collect();
        let commit = format!("({})", &landed[id][..8]);
        let is_one = matches!(noted.as_slice(), [one] if one.ends_with(&commit));
        assert!(is_one, "{id} landed as {commit}: {noted:?}");
    }
}

pub(crate) fn nothing_is_left_behind(world: &World) {
    let repo = world.repo();
    assert_eq!(git(&repo, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(
        git(&repo, &["branch", "--list", "--format=%(refname:short)"]),
        "main\n"
    );
    assert_eq!(
        git(&repo, &["for-each-ref", "--format=%(refname)", "refs/crew/base"]),
        "",
        "pins"
    );
    assert_eq!(
        git(
            &repo,
            &["for-each-ref", "--format=%(refname)", "refs/crew/candidate"]
        ),
        "",
        "candidates"
    );
    let (good, out, err) = try_git(&repo, &["fsck", "--strict", "--no-progress", "--no-dangling"]);
    assert!(good && out.is_empty() && err.is_empty(), "git fsck:\n{out}{err}");
    // The slot of checks stays for the next ones.
    let mut workspaces = files_below(&world.state());
    workspaces.retain(|path| !path.contains(".checks/"));
    assert!(workspaces.is_empty(), "left of workspaces: {workspaces:?}");
    let secrets: Vec<String> = files_below(&repo.join(".crew"))
        .into_iter()
        .filter(|path| path.ends_with("/env.json"))
        .collect();
    assert!(
        secrets.is_empty(),
        "environments that nobody needs any more: {secrets:?}"
    );
    let passing: Vec<String> = fs::read_dir(repo.join(".crew"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        // crew's own empty repository keeps `git clean` out of the folder.
        .filter(|name| (name.starts_with('.') && name != ".git") || name.contains(".new-"))
        .collect();
    assert!(passing.is_empty(), "under passing names: {passing:?}");
    let locks: Vec<String> = files_below(&repo.join(".git"))
        .into_iter()
        .filter(|path| path.ends_with(".lock") && !path.ends_with("/crew.lock"))
        .collect();
    assert!(locks.is_empty(), "{locks:?}");
}

fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}

fn the_journal_agrees(world: &World, expected: &Expected) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let ledger = store::open(&Location::file(world.journal())).await.unwrap();
        assert_eq!(ledger.0.verify().await.unwrap(), Vec::<String>::new());
        let pending = ledger.pending(model::Time(i64::MAX)).await.unwrap();
        assert!(pending.is_empty(), "not performed: {pending:#?}");
        let mut done = BTreeSet::new();
        for (stream, _, state) in ledger.streams().await.unwrap() {
            if let (Stream::Ticket(id), State::Ticket(ticket)) = (stream, state) {
                assert!(matches!(ticket.state, ticket::State::Done(_)), "{ticket:#?}");
                done.insert(id.to_string());
            }
        }
        assert_eq!(done, expected.closed);
    });
    let mut landed: BTreeMap<String, u32> = BTreeMap::new();
    for (id, event) in events(world) {
        if let ticket::Event::Landed { .. } = event {
            *landed.entry(id).or_default() += 1;
        }
    }
    assert!(
        landed.keys().eq(expected.landed.iter()) && landed.values().all(|times| *times == 1),
        "{landed:?}"
    );
}

/// No step was started twice, and none that the journal does not know; each that the journal knows has ended
/// once.
pub(crate) fn each_step_started_once(world: &World) {
    let (mut ordered, mut ended) = (BTreeSet::new(), 0);
    for (_, event) in events(world) {
        let ticket::Event::Attempt(event) = event else {
            continue;
        };
        if let attempt::Event::StepStarted { run, .. } = &event {
            assert!(ordered.insert(run.to_string()), "{run} was ordered twice");
        }
        let ends = matches!(
            event,
            attempt::Event::StepFinished { .. } | attempt::Event::StepFailed { .. }
        );
        ended += usize::from(ends);
    }
    assert_eq!(ended, ordered.len(), "steps that ended, and that were ordered");
    assert_eq!(
        world.reported::<3>("overlaps"),
        Vec::<[String; 3]>::new(),
        "two at once on a ticket"
    );
    let mut started = BTreeSet::new();
    for [marker, ticket, _] in world.reported::<3>("starts") {
        // The run's own name, then whose it is.
        let run = marker
            .rsplit_once('.')
            .map_or(marker.clone(), |(run, _)| run.to_owned());
        assert!(ordered.contains(&run), "{ticket}: {run} is not in the journal");
        assert!(started.insert(run.clone()), "{ticket}: {run} was started twice");
    }
}

/// No step of a review was started twice, and none that the journal does not know.
pub(crate) fn each_review_started_once(world: &World) {
    let ordered: BTreeSet<String> = events(world)
        .into_iter()
        .filter_map(|(_, event)| match event {
            ticket::Event::Review {
                event: ticket::ReviewEvent::Started { run },
                ..
            } => Some(run.to_string()),
            _ => None,
        })
        .collect();
    let mut started = BTreeSet::new();
    for [marker, ticket, _] in world.reported::<3>("reviews") {
        let run = marker
            .rsplit_once('.')
            .map_or(marker.clone(), |(run, _)| run.to_owned());
        assert!(ordered.contains(&run), "{ticket}: {run} is not in the journal");
        assert!(started.insert(run.clone()), "{ticket}: {run} was started twice");
    }
}

/// Every event of every ticket, oldest first.
pub(crate) fn events(world: &World) -> Vec<(String, ticket::Event)> {
    facts(world)
        .into_iter()
        .filter_map(|fold| match (fold.stream, fold.fact) {
            (Stream::Ticket(id), Fact::Ticket(event)) => Some((id.to_string(), event)),
            _ => None,
        })
        .collect()
}

/// How many engines have opened the project.
pub(crate) fn engines(world: &World) -> usize {
    let opened = |fact: &Fact| matches!(fact, Fact::Project(model::project::Event::Opened));
    facts(world).iter().filter(|fold| opened(&fold.fact)).count()
}

/// A ticket as the journal has it.
pub(crate) fn ticket(world: &World, id: &str) -> Option<Arc<ticket::Ticket>> {
    tickets(world).remove(id)
}

/// Every ticket as the journal has it.
pub(crate) fn tickets(world: &World) -> BTreeMap<String, Arc<ticket::Ticket>> {
    let last = facts(world).into_iter().filter_map(|fold| match fold.after {
        State::Ticket(ticket) => Some((ticket.id.to_string(), ticket)),
        State::Project(_) => None,
    });
    last.collect()
}

/// Whether something that a ticket has ordered is not performed.
pub(crate) fn is_pending(world: &World, id: &str) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let ledger = store::open(&Location::file(world.journal())).await.unwrap();
        let pending = ledger.pending(model::Time(i64::MAX)).await.unwrap();
        pending.iter().any(|ordered| ordered.ticket.as_str() == id)
    })
}

/// Every fact, oldest first.
pub(crate) fn facts(world: &World) -> Vec<store::Recorded> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let ledger = store::open(&Location::file(world.journal())).await.unwrap();
        ledger.tail(0, u32::MAX).await.unwrap()
    })
}
