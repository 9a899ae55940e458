//! Pins: a candidate outlives garbage collections in the user's repository for as long as it is pinned.

use git::{Candidate, Error, Id, Intent, Landing, Repository};

use crate::support::{World, main_branch, merged};

fn ticket() -> Id {
    Id::parse("t-1").unwrap()
}

/// A world with a branch `side`, and its candidate for `main`; the work of each call is another.
fn built(world: &World) -> (Candidate, Intent) {
    world.git(&["checkout", "-q", "-B", "side", "main"]);
    world.write("side.txt", "side\n");
    let tip = world.commit_all("side");
    world.git(&["checkout", "-q", "main"]);
    let old = world.head();
    let candidate = merged(&world.open(), &old, &tip);
    let intent = Intent {
        target: main_branch(),
        old,
        new: candidate.commit.clone(),
    };
    (candidate, intent)
}

fn collect_garbage(world: &World) {
    world.git(&["reflog", "expire", "--expire=now", "--all"]);
    world.git(&["gc", "-q", "--prune=now"]);
}

fn pins(repository: &Repository) -> Vec<String> {
    let pins = repository.candidate_pins().unwrap();
    pins.into_iter().map(|pin| pin.name).collect()
}

/// The naive version has no ref for a candidate: between its build and its landing, a `git gc` takes it.
#[test]
fn a_candidate_without_a_pin_is_collected_and_a_pinned_one_lands() {
    let world = World::new();
    let (candidate, intent) = built(&world);
    let repository = world.open_locked();
    // A git that stays up has looked at it: its answer must not count.
    repository.tree_of(&candidate.commit).unwrap();
    repository.require_candidate(&candidate.commit).unwrap();
    collect_garbage(&world);
    let gone = |result: Result<(), Error>| matches!(result, Err(Error::CandidateGone { .. }));
    assert!(gone(repository.require_candidate(&candidate.commit)));
    assert!(gone(repository.land(&intent).map(drop)));
    assert_eq!(world.oid("main"), intent.old);
    assert!(!world.root().join(".git/index.lock").exists());
    // Nobody wants it any more: that ends it all the same.
    repository.end_landing(&intent).unwrap();

    let (again, intent) = built(&world);
    repository.pin_candidate(&ticket(), 2, &again.commit).unwrap();
    collect_garbage(&world);
    repository.require_candidate(&again.commit).unwrap();
    let landed = Landing::Landed { left: vec![] };
    assert_eq!(repository.land(&intent).unwrap(), landed);
    repository.unpin_candidates(&ticket()).unwrap();
    collect_garbage(&world);
    assert_eq!(world.oid("main"), again.commit);
    assert_eq!(pins(&repository), [""; 0]);
    assert_eq!(world.read("side.txt"), "side\n");
}

/// A merge that is whole but for its files is no candidate either.
#[test]
fn a_candidate_whose_tree_is_gone_is_gone() {
    let world = World::new();
    let (candidate, _) = built(&world);
    let (folder, file) = candidate.tree.0.as_str().split_at(2);
    std::fs::remove_file(world.root().join(".git/objects").join(folder).join(file)).unwrap();
    let looked = world.open().require_candidate(&candidate.commit);
    assert!(matches!(looked, Err(Error::CandidateGone { .. })));
}

#[test]
fn pinning_is_repeated_and_an_earlier_rounds_pin_goes_however_it_is_stored() {
    let world = World::new();
    let (candidate, intent) = built(&world);
    let repository = world.open_locked();
    let of = |ticket: &str, round: u32| format!("refs/crew/candidate/{ticket}/{round}");
    let other = Id::parse("t-11").unwrap();
    repository.pin_candidate(&other, 1, &intent.old).unwrap();
    repository.pin_candidate(&ticket(), 1, &intent.old).unwrap();
    for _ in 0..2 {
        repository.pin_candidate(&ticket(), 2, &candidate.commit).unwrap();
        assert_eq!(pins(&repository), [of("t-1", 2), of("t-11", 1)]);
    }
    world.git(&["pack-refs", "--all"]);
    // Another attempt of the ticket begins to count anew.
    repository.pin_candidate(&ticket(), 1, &candidate.commit).unwrap();
    assert_eq!(pins(&repository), [of("t-1", 1), of("t-11", 1)]);
    repository.pin_candidate(&ticket(), 1, &intent.old).unwrap();
    assert_eq!(world.oid(&of("t-1", 1)), intent.old);
    world.git(&["pack-refs", "--all"]);
    for _ in 0..2 {
        repository.unpin_candidates(&ticket()).unwrap();
        assert_eq!(pins(&repository), [of("t-11", 1)]);
    }
    let left = repository.candidate_pins().unwrap();
    assert_eq!((left[0].ticket.as_str(), &left[0].commit), ("t-11", &intent.old));
    repository.forget_candidate_pin(&left[0]).unwrap();
    assert_eq!(pins(&repository), [""; 0]);
}
