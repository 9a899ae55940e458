//! Records: a workspace is found again by the note beside it, and gives way without a loss.

use git::{Id, KeptKind, Spec};

use crate::support::{World, limits, main_branch, put};

#[test]
fn a_base_whose_pin_was_deleted_is_pinned_again_and_the_work_is_taken_over() {
    let world = World::new();
    let repository = world.open_locked();
    let spec = world.spec("ada", "t-1");
    let workspace = repository.prepare(&spec).unwrap();
    put(&workspace.path().join("new.txt"), "work\n");
    world.git_at(&workspace.path(), &["add", "-A"]);
    world.git_at(&workspace.path(), &["commit", "-q", "-m", "work"]);
    world.git(&["update-ref", "-d", "refs/crew/base/t-1/1"]);
    world.git(&["update-ref", "-d", "refs/heads/agent/ada-t-1"]);
    let again = |attempt| repository.pin_again(&spec.root, &spec.agent, &spec.ticket, attempt);
    assert_eq!(again(2).unwrap(), None, "another attempt");
    assert_eq!(again(1).unwrap(), Some(spec.base.clone()));
    assert_eq!(world.oid("refs/crew/base/t-1/1"), spec.base);
    let imported = repository.import(&workspace, &limits()).unwrap();
    assert_eq!(world.oid("agent/ada-t-1"), imported.tip);
    assert_eq!(imported.commits, 1);
    repository.remove(&workspace).unwrap();
    repository.forget_workspace(&workspace, None).unwrap();
    assert_eq!(again(1).unwrap(), None, "it is gone");
}

#[test]
fn a_workspace_of_an_earlier_attempt_gives_way_and_its_work_is_kept() {
    let world = World::new();
    let repository = world.open_locked();
    let spec = world.spec("ada", "t-1");
    let earlier = repository.prepare(&spec).unwrap();
    put(&earlier.path().join("new.txt"), "work\n");
    world.git(&["update-ref", "-d", "refs/crew/base/t-1/1"]);
    // `ada-t` on `1` has the same folder, and is not this ticket's.
    let twin = Spec {
        agent: Id::parse("ada-t").unwrap(),
        ticket: Id::parse("1").unwrap(),
        ..spec.clone()
    };
    assert!(!repository.end_earlier(&twin, None).unwrap());
    assert!(earlier.exists());
    let second = Spec {
        attempt: 2,
        ..spec.clone()
    };
    let target = repository.branch_tip(&main_branch()).unwrap();
    assert!(repository.end_earlier(&second, target.as_ref()).unwrap());
    assert!(!earlier.exists());
    let kept = repository.kept(Some(&spec.ticket)).unwrap();
    let rescue = kept.iter().find(|one| one.kind == KeptKind::Rescue).unwrap();
    assert_eq!(world.git(&["show", &format!("{}:new.txt", rescue.name)]), "work");
    let workspace = repository.prepare(&second).unwrap();
    assert!(!workspace.path().join("new.txt").exists());
    assert!(!repository.end_earlier(&world.spec("bob", "t-2"), None).unwrap());
}
