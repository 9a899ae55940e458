//! Killed once at each operation, and again where it is carried on. All the other points are in `deep`.

use crate::kill::deep::points::{Death, Recording, every_point_was_passed, run};
use crate::kill::scenario::Size;

/// For each operation a point, and one that whoever carries on from there must come by.
const CARRIED_ON: [(&str, &str); 8] = [
    ("durable.claimed", "begun.prepare_workspace"),
    ("prepare.gitdir", "prepare.renamed"),
    ("run.made", "run.launched"),
    ("import.packed", "import.branch_moved"),
    ("check.ready", "check.made"),
    ("land.moved", "follow.refreshed"),
    ("remove.renamed", "remove.removed"),
    ("recover.loaded", "recover.loaded"),
];

#[test]
fn killed_at_each_operation_and_again_where_it_is_carried_on_it_comes_to_the_same() {
    let (few, all) = (Recording::of(Size::Few), Recording::of(Size::All));
    every_point_was_passed(&all);
    let deaths = CARRIED_ON.map(|(first, second)| Death {
        size: Size::Few,
        points: vec![format!("{first}:1"), format!("{second}:1")],
        must: true,
    });
    let (_, missed) = run(&deaths, &few.content, &all.content);
    assert_eq!(missed, 0, "who was to die twice");
}
