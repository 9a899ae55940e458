use super::*;
use crate::Fence;
use crate::attempt::{Attempt, Claim, StartPoint};
use crate::conversation::Conversation;
use crate::policy::budget::Budget;
use crate::ticket::{Done, Held, Spec, Why};

/// A queue that can be changed.
struct World {
    tickets: BTreeMap<TicketId, Arc<Ticket>>,
    files: BTreeMap<TicketId, File>,
    roster: BTreeSet<AgentName>,
    names: Vec<AgentName>,
    now: Time,
}

fn id(text: &str) -> TicketId {
    TicketId::new(text).unwrap()
}

fn agent(text: &str) -> AgentName {
    AgentName::new(text).unwrap()
}

impl World {
    fn new(tickets: &[(&str, Spec)]) -> Self {
        let mut world = Self {
            tickets: BTreeMap::new(),
            files: BTreeMap::new(),
            roster: BTreeSet::from([agent("ann"), agent("bob")]),
            names: Vec::new(),
            now: Time(10_000),
        };
        for (name, spec) in tickets {
            let ticket = Ticket {
                spec: spec.clone(),
                state: State::Open,
                ..Ticket::new(id(name))
            };
            world.tickets.insert(id(name), Arc::new(ticket));
            let file = File {
                status: FileStatus::Open,
                changed_at: Time(0),
                unreadable: false,
            };
            world.files.insert(id(name), file);
        }
        world
    }

    fn queue(&self) -> Queue<'_> {
        let debounce = Duration::from_millis(500);
        Queue {
            tickets: &self.tickets,
            files: &self.files,
            roster: &self.roster,
            names: &self.names,
            debounce,
            pause: None,
            target: None,
            set_up: None,
            now: self.now,
        }
    }

    fn ticket(&mut self, name: &str) -> &mut Ticket {
        Arc::make_mut(self.tickets.get_mut(&id(name)).unwrap())
    }

    fn file(&mut self, name: &str) -> &mut File {
        self.files.get_mut(&id(name)).unwrap()
    }

    /// With nobody idle: why it waits, in words.
    fn why(&self, name: &str) -> String {
        explain(self.queue(), &id(name), &[], 0)
            .expect("it waits")
            .to_string()
    }

    fn order(&self) -> Vec<&str> {
        order(self.queue()).into_iter().map(TicketId::as_str).collect()
    }

    fn hold(&mut self, name: &str, why: Why) {
        self.ticket(name).held = Some(Box::new(Held {
            why,
            note: "so".to_owned(),
            since: Time(0),
            retry_at: None,
            may_pass: false,
            for_all: false,
            output: None,
        }));
    }

    fn assigned(&self, idle: &[&str], free: u32) -> Vec<(String, String)> {
        let names: Vec<AgentName> = idle.iter().map(|n| agent(n)).collect();
        let idle: Vec<&AgentName> = self.roster.iter().filter(|a| names.contains(a)).collect();
        let pairs = assign(self.queue(), &idle, free);
        pairs
            .into_iter()
            .map(|(t, a)| (t.to_string(), a.to_string()))
            .collect()
    }
}

fn plain() -> Spec {
    Spec::default()
}

fn after(deps: &[&str]) -> Spec {
    Spec {
        deps: deps.iter().map(|d| id(d)).collect(),
        ..plain()
    }
}

fn recovers(what: &str) -> Spec {
    Spec {
        recovers: Some(id(what)),
        ..plain()
    }
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(t, a)| ((*t).to_owned(), (*a).to_owned()))
        .collect()
}

#[test]
fn first_by_priority_then_by_age_then_by_id() {
    let spec = |priority, created| Spec {
        priority,
        created: Time(created),
        ..plain()
    };
    let world = World::new(&[
        ("t-a", spec(2, 1)),
        ("t-b", spec(1, 9)),
        ("t-c", spec(1, 3)),
        ("t-d", spec(1, 3)),
    ]);
    assert_eq!(world.order(), ["t-c", "t-d", "t-b", "t-a"]);
}

#[test]
fn every_refusal_says_why() {
    let mut world = World::new(&[
        ("t-ok", plain()),
        ("t-held", plain()),
        ("t-taken", plain()),
        ("t-late", plain()),
        (
            "t-epic",
            Spec {
                kind: "epic".to_owned(),
                ..plain()
            },
        ),
        ("t-torn", plain()),
        ("t-fresh", plain()),
        ("t-gone", plain()),
        ("t-shut", plain()),
        ("t-busy", plain()),
        ("t-over", plain()),
        ("t-dep", after(&["t-ok", "t-over", "t-held"])),
        ("t-void", after(&["t-none"])),
        ("t-rec", recovers("t-ok")),
        ("t-lost", recovers("t-none")),
    ]);
    world.hold("t-held", Why::Blocked);
    world.file("t-taken").status = FileStatus::InProgress;
    world.ticket("t-late").due = Some(Time(20_000));
    world.file("t-torn").unreadable = true;
    world.file("t-fresh").changed_at = Time(9_501);
    world.files.remove(&id("t-gone"));
    world.file("t-shut").status = FileStatus::Closed;
    let session = crate::SessionId(uuid::Uuid::from_u128(1));
    let claim = Claim::new(agent("ann"), Fence(1), 1, StartPoint::Target);
    let conversation = Conversation::new(crate::samples::harness(), session);
    let attempt = Attempt::new(claim, conversation, Time(0));
    world.ticket("t-busy").state = State::InProgress(Box::new(attempt));
    world.ticket("t-over").state = State::Done(Done::ClosedByPerson);

    assert_eq!(world.why("t-ok"), "no agent is free; it is the next");
    assert_eq!(world.why("t-held"), "it is held: so");
    assert!(world.why("t-taken").starts_with("a person has taken it"));
    assert_eq!(
        world.why("t-late"),
        "it came back and is not dispatched again before 1970-01-01T00:00:20Z"
    );
    assert_eq!(world.why("t-epic"), "it is an epic; agents work on its parts");
    assert!(world.why("t-torn").starts_with("its file cannot be read"));
    assert!(world.why("t-fresh").starts_with("its file changed a moment ago"));
    assert_eq!(world.why("t-gone"), "its file is gone");
    assert_eq!(world.why("t-shut"), "its file's status is closed");
    assert_eq!(world.why("t-busy"), "ann works on it");
    assert_eq!(world.why("t-over"), "it is done (closed by person)");
    assert_eq!(world.why("t-dep"), "it waits for t-held, t-ok");
    assert!(
        world
            .why("t-void")
            .starts_with("it depends on t-none, and there is no such ticket")
    );
    assert_eq!(world.why("t-rec"), "it recovers t-ok, which has not failed");
    assert!(
        world
            .why("t-lost")
            .starts_with("it recovers t-none, and there is no such ticket")
    );
    assert_eq!(world.why("t-none"), "there is no such ticket");
    assert_eq!(world.order(), ["t-ok"]);
}

#[test]
fn a_file_counts_once_it_has_been_still_for_long_enough() {
    let mut world = World::new(&[("t-1", plain()), ("t-2", plain())]);
    world.file("t-1").changed_at = Time(9_900);
    world.file("t-2").changed_at = Time(9_700);
    assert_eq!(debounce_ends_at(world.queue()), Some(Time(10_200)));
    world.now = Time(10_200);
    assert_eq!(world.order(), ["t-2"]);
    world.now = Time(10_400);
    assert_eq!(
        (world.order(), debounce_ends_at(world.queue())),
        (vec!["t-1", "t-2"], None)
    );
}

#[test]
fn a_cycle_is_shown_as_the_way_round() {
    let world = World::new(&[
        ("t-a", after(&["t-b"])),
        ("t-b", after(&["t-c", "t-x"])),
        ("t-c", after(&["t-a"])),
        ("t-x", plain()),
        ("t-y", after(&["t-a"])),
        ("t-self", after(&["t-self"])),
    ]);
    assert!(
        world
            .why("t-a")
            .starts_with("it depends on itself: t-a → t-b → t-c → t-a;")
    );
    assert!(
        world
            .why("t-c")
            .starts_with("it depends on itself: t-c → t-a → t-b → t-c;")
    );
    assert!(
        world
            .why("t-self")
            .starts_with("it depends on itself: t-self → t-self;")
    );
    assert_eq!(
        world.why("t-y"),
        "it waits for t-a",
        "it is not part of the cycle"
    );
    assert_eq!(world.order(), ["t-x"]);
}

#[test]
fn of_a_long_cycle_each_ticket_shows_the_beginning() {
    let names: Vec<String> = (0..10_000).map(|n| format!("t-{n}")).collect();
    let next = |n: usize| names[(n + 1) % names.len()].as_str();
    let cycle: Vec<(&str, Spec)> = names
        .iter()
        .enumerate()
        .map(|(n, name)| (name.as_str(), after(&[next(n)])))
        .chain([("t-behind", after(&["t-0"]))])
        .collect();
    let world = World::new(&cycle);
    let all = refusals(world.queue());
    let paths = all.values().filter_map(|refusal| match refusal {
        Refusal::Cycle { path, .. } => Some(path.len()),
        _ => None,
    });
    assert_eq!(paths.clone().count(), 10_000);
    assert_eq!(paths.max(), Some(16));
    assert!(world.why("t-7").contains("t-7 → t-8 →") && world.why("t-7").contains("→ …;"));
    assert_eq!(world.why("t-behind"), "it waits for t-0");
}

#[test]
fn all_refusals_at_once_say_what_each_alone_says() {
    let mut world = World::new(&[
        ("t-a", after(&["t-b"])),
        ("t-b", after(&["t-c", "t-x"])),
        ("t-c", after(&["t-a"])),
        ("t-x", plain()),
        ("t-y", after(&["t-a"])),
        ("t-z", after(&["t-x"])),
        ("t-held", plain()),
    ]);
    world.hold("t-held", Why::Blocked);
    let all = refusals(world.queue());
    assert_eq!(all.len(), 6, "{all:?}");
    for (id, refusal) in all {
        assert_eq!(explain(world.queue(), id, &[], 0).as_ref(), Some(&refusal));
    }
    for free in [0, 1] {
        let ada = AgentName::new("ada").unwrap();
        let why = explanations(world.queue(), &[&ada], free);
        assert_eq!(why.len(), 7 - free as usize, "{why:?}");
        for id in world.tickets.keys() {
            assert_eq!(explain(world.queue(), id, &[&ada], free).as_ref(), why.get(id));
        }
    }
}

#[test]
fn a_child_that_came_back_waits_for_its_time_and_then_for_its_parent() {
    let mut world = World::new(&[("t-1", plain())]);
    let delegated = crate::samples::ticket::delegated();
    let by = delegated.by.clone();
    world.ticket("t-1").delegated = Some(Box::new(delegated));
    let may = |world: &World| assignable(world.queue(), &id("t-1"));
    assert_eq!(may(&world), Err(Refusal::Delegated { by }));
    world.ticket("t-1").due = Some(Time(20_000));
    assert_eq!(may(&world), Err(Refusal::NotDue { until: Time(20_000) }));
}

#[test]
fn a_person_who_assigns_speaks_for_people_and_for_nothing_else() {
    let mut world = World::new(&[("t-1", plain()), ("t-2", after(&["t-1"])), ("t-3", plain())]);
    for name in ["t-1", "t-2"] {
        world.file(name).status = FileStatus::InProgress;
        world.file(name).changed_at = Time(10_000);
    }
    world.ticket("t-3").due = Some(Time(20_000));
    let may = |name: &str| assignable(world.queue(), &id(name));
    let refusals = refusals(world.queue());
    let yields = |name: &str| refusals[&id(name)].yields_to_a_person();
    assert!(yields("t-1") && !yields("t-3"));
    assert_eq!(may("t-1"), Ok(()));
    assert_eq!(may("t-2"), Err(Refusal::WaitsFor { ids: vec![id("t-1")] }));
    assert_eq!(may("t-3"), Err(Refusal::NotDue { until: Time(20_000) }));
    assert_eq!(eligible(world.queue(), &id("t-2")), Err(Refusal::TakenByPerson));
}

#[test]
fn a_chain_of_any_length_is_looked_through() {
    let names: Vec<String> = (0..20_000).map(|n| format!("t-{n}")).collect();
    let specs: Vec<(&str, Spec)> = names
        .iter()
        .enumerate()
        .map(|(n, name)| {
            (
                name.as_str(),
                names.get(n + 1).map_or(plain(), |next| after(&[next])),
            )
        })
        .collect();
    let world = World::new(&specs);
    assert_eq!(world.why("t-0"), "it waits for t-1");
    assert_eq!(refusals(world.queue()).len(), names.len() - 1, "in one walk");
}

#[test]
fn a_ticket_meant_for_an_agent_waits_for_it_and_any_other_takes_who_is_left() {
    let meant = |who: &str| Spec {
        assignee: Some(who.to_owned()),
        ..plain()
    };
    let mut world = World::new(&[
        ("t-1", plain()),
        ("t-2", meant("ann")),
        ("t-3", meant("Jane Doe")),
    ]);
    assert_eq!(
        world.assigned(&["ann", "bob"], 2),
        pairs(&[("t-1", "bob"), ("t-2", "ann")])
    );
    assert_eq!(world.assigned(&["bob"], 2), pairs(&[("t-1", "bob")]));
    assert_eq!(
        world.assigned(&["ann"], 2),
        pairs(&[("t-1", "ann")]),
        "nobody is left over for the first in the queue"
    );
    assert_eq!(world.assigned(&["ann", "bob"], 1), pairs(&[("t-1", "bob")]));
    assert_eq!(world.assigned(&["ann", "bob"], 0), []);
    assert_eq!(world.why("t-2"), "it is meant for ann, who has another ticket");
    world.tickets.remove(&id("t-1"));
    assert_eq!(
        world.assigned(&["bob"], 2),
        pairs(&[("t-3", "bob")]),
        "a person's name binds nobody"
    );
    assert_eq!(world.why("t-3"), "no agent is free, and 1 are before it");
}

#[test]
fn with_names_a_ticket_meant_for_nobody_goes_only_to_those_who_are_named() {
    let mut world = World::new(&[("t-1", plain()), ("t-2", plain()), ("t-3", plain())]);
    world.names = vec![agent("bob")];
    assert_eq!(world.assigned(&["ann", "bob"], 3), pairs(&[("t-1", "bob")]));
    assert_eq!(world.assigned(&["ann"], 3), []);
    let idle = world.roster.first().unwrap();
    assert_eq!(
        explain(world.queue(), &id("t-1"), &[idle], 3),
        Some(Refusal::NoAgentFree { ahead: 0 })
    );

    // What a person means for ann goes to her, whatever stands before it.
    world.ticket("t-3").spec.assignee = Some("ann".to_owned());
    assert_eq!(
        world.assigned(&["ann", "bob"], 3),
        pairs(&[("t-1", "bob"), ("t-3", "ann")])
    );
    assert_eq!(world.assigned(&["ann"], 3), pairs(&[("t-3", "ann")]));
    world.ticket("t-1").spec.assignee = Some("bob".to_owned());
    assert_eq!(
        world.assigned(&["ann", "bob"], 3),
        pairs(&[("t-1", "bob"), ("t-3", "ann")]),
        "t-2 waits for bob, and not for ann"
    );
}

#[test]
fn a_recovery_waits_for_a_failure_and_ends_with_a_success() {
    let mut world = World::new(&[("t-1", plain()), ("t-rec", recovers("t-1"))]);
    assert_eq!(world.order(), ["t-1"]);
    let budget = Budget {
        spent_micro_usd: 1,
        limit_micro_usd: 1,
    };
    let paths = Why::Paths {
        paths: Vec::new(),
        tip: crate::Oid::new("a".repeat(40)).unwrap(),
    };
    let failures = [
        Why::Failed,
        Why::NoProgress,
        Why::Conflict,
        Why::Review,
        Why::Reaped,
    ];
    let others = [
        Why::Blocked,
        Why::Killed,
        Why::CouldNotRun,
        Why::TargetRed,
        Why::Landing,
        Why::Hold,
        Why::Auth,
        Why::Budget { budget },
        paths,
    ];
    for why in failures {
        world.hold("t-1", why.clone());
        assert_eq!(world.order(), ["t-rec"], "{why:?}");
    }
    for why in others {
        world.hold("t-1", why.clone());
        assert_eq!(world.order(), Vec::<&str>::new(), "{why:?}");
    }
    assert!(not_needed(world.queue()).is_empty());
    world.ticket("t-1").held = None;
    world.ticket("t-1").state = State::Done(Done::Failed {
        reason: "no".to_owned(),
    });
    assert_eq!(world.order(), ["t-rec"]);
    world.ticket("t-1").state = State::Done(Done::ClosedByPerson);
    assert_eq!(world.why("t-rec"), "it recovers t-1, which is done: not needed");
    assert_eq!(not_needed(world.queue()), [&id("t-rec")]);
}

#[test]
fn a_dependency_counts_when_it_ended_well_and_a_failed_one_is_a_reason_of_its_own() {
    let mut world = World::new(&[("t-1", plain()), ("t-2", after(&["t-1"]))]);
    let landed = Done::Landed {
        commit: crate::Oid::new("a".repeat(40)).unwrap(),
        acceptance: String::new(),
        agent: agent("ann"),
        brought_nothing: false,
    };
    let replaced = Done::Replaced {
        by: id("t-9"),
        commit: crate::Oid::new("a".repeat(40)).unwrap(),
    };
    for done in [landed, replaced, Done::NotNeeded, Done::ClosedByPerson] {
        world.ticket("t-1").state = State::Done(done.clone());
        assert_eq!(world.order(), ["t-2"], "{done:?}");
    }
    let dropped = Done::Dropped {
        by: crate::Actor::Engine,
        reason: "no".to_owned(),
    };
    let failed = Done::Failed {
        reason: "no".to_owned(),
    };
    for (done, says) in [(dropped, "was dropped"), (failed, "has failed")] {
        world.ticket("t-1").state = State::Done(done);
        world.ticket("t-1").since = Time(7_000);
        assert_eq!(world.order(), Vec::<&str>::new());
        assert_eq!(world.why("t-2"), format!("it depends on t-1, which {says}"));
        let refusal = refusals(world.queue()).remove(&id("t-2")).unwrap();
        let Refusal::DependencyFailed { since, .. } = refusal else {
            panic!("{refusal:?}");
        };
        assert_eq!(since, Time(7_000));
    }
}

#[test]
fn a_recovery_does_not_wait_for_the_success_of_the_ticket_that_it_recovers() {
    let recovery = Spec {
        deps: [id("t-1")].into(),
        ..recovers("t-1")
    };
    let mut world = World::new(&[("t-1", plain()), ("t-rec", recovery)]);
    assert_eq!(world.why("t-rec"), "it recovers t-1, which has not failed");
    world.hold("t-1", Why::Failed);
    assert_eq!(world.order(), ["t-rec"]);
}

#[test]
fn a_cycle_over_recovered_tickets_is_shown_too() {
    let world = World::new(&[
        ("t-a", after(&["t-rec"])),
        ("t-rec", recovers("t-a")),
        ("t-self", recovers("t-self")),
    ]);
    let all = refusals(world.queue());
    for (name, way) in [
        ("t-a", "t-a → t-rec → t-a"),
        ("t-rec", "t-rec → t-a → t-rec"),
        ("t-self", "t-self → t-self"),
    ] {
        let says = format!("it waits for itself: {way}; remove one of these dependencies or `recovers`");
        assert_eq!(world.why(name), says);
        assert_eq!(all[&id(name)].to_string(), says);
    }
    let Refusal::Cycle { recovering, .. } = &all[&id("t-a")] else {
        panic!("{all:?}");
    };
    assert_eq!(recovering, &[id("t-rec")]);
}

/// t-1, whose agent waits for these children; each with whether it has a workspace of its own.
fn delegating(children: &[(&str, bool, Spec)]) -> World {
    let mut named: Vec<(&str, Spec)> = vec![("t-1", plain())];
    named.extend(children.iter().map(|(child, _, spec)| (*child, spec.clone())));
    let mut world = World::new(&named);
    let mut attempt = crate::samples::attempt::first();
    attempt.children = children.iter().map(|(child, _, _)| id(child)).collect();
    for (child, is_apart, _) in children {
        world.ticket(child).delegated = Some(Box::new(crate::ticket::Delegated {
            by: id("t-1"),
            fence: attempt.claim.fence,
            is_apart: *is_apart,
            ..crate::samples::ticket::delegated()
        }));
    }
    world.ticket("t-1").state = State::InProgress(Box::new(attempt));
    world
}

#[test]
fn a_child_that_waits_against_the_order_of_its_leader_waits_for_itself() {
    let says = |way: &str, of: &str, on: &str| {
        format!("it waits for itself: {way}; remove the dependency of {of} on {on} ({BY_DELEGATION})")
    };
    let shared = |one: Spec, other: Spec| delegating(&[("t-1-c1", false, one), ("t-1-c2", false, other)]);

    let later = shared(after(&["t-1-c2"]), plain());
    let way = "t-1-c1 → t-1-c2 → t-1-c1";
    assert_eq!(later.why("t-1-c1"), says(way, "t-1-c1", "t-1-c2"));
    let all = refusals(later.queue());
    let cycle = &all[&id("t-1-c1")];
    assert_eq!(cycle.dependencies_of_cycle(), [(&id("t-1-c1"), &id("t-1-c2"))]);
    assert!(later.why("t-1-c2").starts_with("it is a part of t-1"));

    let leader = shared(plain(), after(&["t-1"]));
    let way = "t-1-c2 → t-1 → t-1-c2";
    assert_eq!(leader.why("t-1-c2"), says(way, "t-1-c2", "t-1"));

    let earlier = shared(plain(), after(&["t-1-c1"]));
    assert_eq!(earlier.why("t-1-c2"), "it waits for t-1-c1");

    // Side by side neither waits for the other's turn.
    let apart = delegating(&[("t-1-c1", true, after(&["t-1-c2"])), ("t-1-c2", true, plain())]);
    assert_eq!(apart.why("t-1-c1"), "it waits for t-1-c2");
}

#[test]
fn whoever_depends_on_a_child_from_outside_waits_for_its_leader_to_land() {
    let mut world = delegating(&[("t-1-c1", false, after(&["t-2"])), ("t-1-c2", false, plain())]);
    let outside = Ticket {
        spec: after(&["t-1-c2"]),
        state: State::Open,
        ..Ticket::new(id("t-2"))
    };
    world.tickets.insert(id("t-2"), Arc::new(outside));
    let file = *world.file("t-1");
    world.files.insert(id("t-2"), file);
    let says = world.why("t-2");
    assert!(says.contains(": t-2 → t-1-c2 → "), "{says}");
    let cycle = explain(world.queue(), &id("t-1-c1"), &[], 0).unwrap();
    let links = [("t-1-c1", "t-2"), ("t-2", "t-1-c2")].map(|(of, on)| (id(of), id(on)));
    let found: Vec<_> = cycle.dependencies_of_cycle();
    assert_eq!(found, links.iter().map(|(of, on)| (of, on)).collect::<Vec<_>>());
}

#[test]
fn a_dependency_that_would_never_end_is_found_before_it_is_made() {
    let mut world = delegating(&[
        ("t-1-c1", false, plain()),
        ("t-1-c2", false, plain()),
        ("t-1-c3", true, plain()),
        ("t-1-c4", true, plain()),
    ]);
    let round = |of: &str, on: &str| match cycle_with(world.queue(), &id(of), &id(on)) {
        Some(Refusal::Cycle { path, .. }) => {
            let path: Vec<&str> = path.iter().map(TicketId::as_str).collect();
            path.join(" ")
        }
        Some(_) | None => String::new(),
    };
    assert_eq!(round("t-1-c1", "t-1-c2"), "t-1-c1 t-1-c2 t-1-c1");
    assert_eq!(round("t-1-c2", "t-1-c4"), "t-1-c2 t-1-c4 t-1-c2");
    // Over whichever of its children that are not over.
    assert!(round("t-1-c2", "t-1").starts_with("t-1-c2 t-1 "));
    assert_eq!(round("t-1", "t-1-c1"), "t-1 t-1-c1 t-1");
    assert_eq!(round("t-1-c2", "t-1-c1"), "");
    assert_eq!(round("t-1-c3", "t-1-c4"), "", "side by side");
    world.ticket("t-1-c1").state = State::Done(Done::NotNeeded);
    world.ticket("t-1-c2").state = State::Done(Done::NotNeeded);
    assert!(cycle_with(world.queue(), &id("t-1-c3"), &id("t-1-c1")).is_none());
}
