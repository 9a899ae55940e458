//! Whose words count on a pull request, and that none of them is lost.

use testkit::world::DONE;

use super::host::{assert_landed, review, somebody_reviews, tell, told, with_host};

#[test]
fn each_request_for_changes_reaches_the_agent_though_one_person_wrote_two() {
    let world = with_host("");
    world
        .ticket("t-1")
        .agent("work \"t-1.txt\" \"round $RUN\"\necho DONE\n")
        .write();
    world.drain_held();
    let of = |id, state, body| review(&world, id, state, body);
    let reviews = [
        // Whoever approves takes their own request back.
        of(4, "CHANGES_REQUESTED", "withdrawn"),
        of(5, "APPROVED", "fine"),
        of(6, "CHANGES_REQUESTED", "name it"),
        of(7, "COMMENTED", "so so"),
        of(8, "CHANGES_REQUESTED", "describe it"),
    ];
    tell(&world, "1/reviews", &reviews.concat());
    world.drain_held();
    let prompt = world.prompt("t-1", 2);
    assert!(
        prompt.contains("rev: name it") && prompt.contains("rev: describe it"),
        "{prompt}"
    );
    assert!(!prompt.contains("withdrawn"), "{prompt}");
    assert!(world.says("t-1", "rev asked for changes"));
    world.drain_held();
    assert_eq!(
        (world.count("t-1", "changes_requested"), world.runs("t-1")),
        (1, 2)
    );
}

#[test]
fn the_words_of_strangers_hide_no_approval() {
    let world = with_host("after = \"approved\"");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    let long = "x".repeat(60_000);
    let strangers: String = (0..100)
        .map(|id| review(&world, 100 + id, "CHANGES_REQUESTED", &long).replace("MEMBER", "NONE"))
        .collect();
    let approval = review(&world, 7, "APPROVED", "fine");
    tell(&world, "1/reviews", &(strangers + &approval));
    world.drain_all();
    assert_landed(&world);
}

#[test]
fn a_member_who_may_not_write_neither_merges_nor_steers_an_agent() {
    let world = with_host("after = \"approved\"");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    tell(&world, "permissions/rev", "read");
    for state in ["APPROVED", "CHANGES_REQUESTED"] {
        somebody_reviews(&world, 7, state, "words");
        world.drain_held();
        assert_eq!(told(&world, "1/state"), "OPEN");
        assert_eq!(
            (world.count("t-1", "changes_requested"), world.runs("t-1")),
            (0, 1)
        );
    }
    somebody_reviews(&world, 8, "APPROVED", "fine");
    tell(&world, "permissions/rev", "write");
    world.drain_all();
    assert_landed(&world);
}

#[test]
fn the_longest_title_makes_one_that_the_host_takes() {
    let world = with_host("");
    let title = "日".repeat(400);
    world.ticket("t-1").title(&title).agent(DONE).write();
    world.drain_held();
    let title = told(&world, "1/title");
    assert!(title.starts_with("日日") && title.ends_with("… (t-1)"), "{title}");
    assert!((200..=256).contains(&title.chars().count()), "{title}");
}
