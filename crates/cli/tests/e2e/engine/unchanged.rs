//! Files that are unchanged for an agent's own git land as the agent committed them: those outside of a
//! sparse checkout, and content for a filter of the agent's own.

use testkit::world::World;

/// A world with files in several folders; `land`: more of its settings.
fn world(land: &str) -> World {
    let world = World::with(|s| s.land = land.to_owned());
    for file in ["README", "docs/guide", "src/lib", "src/deep/more"] {
        world.commit(file, "old\n");
    }
    world
}

fn assert_whole(world: &World, changed: &[(&str, &str)]) {
    for (file, content) in changed {
        assert_eq!(world.on_main(file).as_deref(), Some(*content), "{file}");
    }
    for file in ["src/lib", "src/deep/more"] {
        assert_eq!(world.on_main(file).as_deref(), Some("old\n"), "{file}");
    }
    assert_eq!(world.git(&["for-each-ref", "refs/crew/rescue"]), "");
    world.assert_at_rest();
}

#[test]
fn files_outside_of_an_agents_sparse_checkout_do_not_land_as_deleted() {
    let world = world("");
    let script = "git sparse-checkout set docs\n[ ! -e src ] || exit 9\necho better > README\n\
                  git commit -qam better\n[ -z \"$(git status --porcelain)\" ] || exit 9\necho DONE";
    world.ticket("t-1").agent(script).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_whole(&world, &[("README", "better\n")]);
}

#[test]
fn an_agent_works_in_a_workspace_that_its_set_up_made_sparse() {
    let world = world("[workspace]\nsetup = [\"git sparse-checkout set docs\"]");
    let script = "[ ! -e src ] || exit 9\necho better > README\ngit commit -qam better\n\
                  echo new > docs/new\necho DONE";
    world.ticket("t-1").agent(script).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_whole(&world, &[("README", "better\n"), ("docs/new", "new\n")]);
}

#[test]
fn content_that_an_agent_committed_through_its_own_filter_lands_as_it_was_committed() {
    let world = world("");
    let script = "git config filter.vault.clean 'tr a-z A-Z'\ngit config filter.vault.smudge 'tr A-Z a-z'\n\
                  echo 'secrets/** filter=vault' > .gitattributes\nmkdir secrets\necho secret > secrets/key\n\
                  git add .\ngit commit -qm secret\necho TOKEN > local.env\n\
                  echo local.env >> .git/info/exclude\n\
                  echo DONE";
    world.ticket("t-1").agent(script).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_whole(&world, &[("secrets/key", "SECRET\n")]);
    assert_eq!(world.on_main("local.env"), None);
}
