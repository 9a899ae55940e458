//! The trial of the checks by `crew init` ends with everything that it has started.

use testkit::world::World;

#[test]
fn an_interrupt_ends_the_check_that_init_tries() {
    let world = World::bare();
    let waits = World::until_home("never").replace('$', "$$");
    world.commit("Makefile", &format!("test:\n\t{waits}\n"));
    let mut init = world.start_at(&world.project(""), &["init", "--yes", "--try"]);
    let runs = || world.processes().iter().any(|process| process.contains("/never"));
    world.wait("the check runs", runs);
    init.signal("INT");
    let said = init.end();
    assert_eq!(said.code, Some(130), "{said}");
    assert!(said.out.contains("the trial of the checks was ended"), "{said}");
    world.assert_at_rest();
}
