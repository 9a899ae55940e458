//! A journal of thousands of tickets.

use crate::commands::archived::{aside, forget_the_view, with_past_of};

#[test]
fn a_long_journal_is_set_aside_while_it_is_folded_anew() {
    let repo = with_past_of(6000);
    repo.ticket("later", "After an old one", "");
    let text = repo.read(".tickets/later.md");
    repo.write(
        ".tickets/later.md",
        &text.replace("deps: []", "deps: [o-1, gate]"),
    );
    let said = repo.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, 3, "{said}");
    for first in [&["ps"] as &[&str], &["doctor"], &["run", "--until-idle"]] {
        forget_the_view(&repo);
        let said = repo.crew(first);
        assert_ne!(said.code, 1, "{first:?}: {said}");
        let said = repo.crew(&["doctor"]).ok();
        assert!(said.out.contains("nothing is wrong"), "{first:?}: {said}");
        // All of the first ten thousand rows, of which each has two; an engine does the others too.
        let aside = aside(&repo);
        assert!(aside > 4000, "{first:?}: {aside} tickets are archived");
    }
    repo.script("echo $CREW_TICKET_ID > y; git add y; git commit -qm y; echo DONE");
    repo.ticket("gate", "Before it", "");
    repo.crew(&["run", "--until-idle"]).ok();
    assert!(repo.read(".tickets/later.md").contains("status: closed"));
    let said = repo.crew(&["doctor", "--deep"]).ok();
    assert!(said.out.contains("every state is what replay gives"), "{said}");
}
