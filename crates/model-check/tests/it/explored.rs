//! Invariants that hold in every state, and those that break without a guard.

use model_check::{Bounds, Found, Guards, Lease, Summary, explore};

/// Nothing goes wrong: two engines that take turns, three tickets, two agents.
pub(crate) const CALM: Bounds = Bounds {
    tickets: 3,
    agents: 2,
    gatekeepers: 0,
    lease: Lease::Lock,
    rejections: 0,
    stops: 0,
    pushes: 0,
    rewinds: 0,
    losses: 0,
    drops: 0,
    edits: 0,
    failures: 0,
    holds: 0,
    children: 0,
    questions: 0,
};

/// Work is reviewed by the one gatekeeper.
pub(crate) const REVIEWED: Bounds = Bounds {
    tickets: 2,
    gatekeepers: 1,
    ..CALM
};

/// Two engines at once, one of which does not know that it was overtaken.
pub(crate) const OVERTAKEN: Bounds = Bounds {
    agents: 1,
    lease: Lease::RunsOut,
    stops: 1,
    ..CALM
};

pub(crate) fn holds(bounds: Bounds) -> Summary {
    match explore(Guards::ALL, bounds) {
        Ok(summary) => {
            println!("{bounds:?}\n{summary:?}");
            assert!(summary.at_rest > 0, "some history comes to rest");
            summary
        }
        Err(found) => panic!("{bounds:?}\n{found}"),
    }
}

pub(crate) fn falls(guards: Guards, bounds: Bounds) -> Found {
    match explore(guards, bounds) {
        Ok(summary) => panic!("nothing fell without a guard: {guards:?} {bounds:?} {summary:?}"),
        Err(found) => {
            println!("{guards:?}\n{found}");
            found
        }
    }
}

#[test]
fn three_tickets_an_engine_killed_and_a_foreign_push() {
    let summary = holds(Bounds {
        stops: 1,
        pushes: 1,
        ..CALM
    });
    assert!(summary.states > 500_000, "it explores what it says: {summary:?}");
}

#[test]
fn three_tickets_an_engine_killed_and_edits_in_the_way() {
    holds(Bounds {
        stops: 1,
        edits: 1,
        ..CALM
    });
}

#[test]
fn one_ticket_and_everything_at_once() {
    holds(Bounds {
        tickets: 1,
        stops: 3,
        pushes: 2,
        rewinds: 1,
        losses: 2,
        drops: 1,
        edits: 1,
        ..CALM
    });
}

/// Each review has a claim of its own beside that of the attempt.
#[test]
fn one_ticket_in_review_and_everything_at_once() {
    holds(Bounds {
        tickets: 1,
        stops: 2,
        pushes: 1,
        losses: 2,
        drops: 1,
        rejections: 1,
        ..REVIEWED
    });
}

#[test]
fn without_a_review_it_falls() {
    let hasty = Guards {
        review: false,
        ..Guards::ALL
    };
    let one = Bounds {
        tickets: 1,
        ..REVIEWED
    };
    assert_eq!(falls(hasty, one).invariant, "R1");
    holds(one);
}

/// A landing that keeps failing is ended, and its ticket is held while others land; work that cannot be
/// merged or checked is held too.
#[test]
fn two_tickets_an_engine_killed_and_work_that_is_held() {
    let bounds = Bounds {
        tickets: 2,
        stops: 1,
        ..CALM
    };
    let held = holds(Bounds { holds: 1, ..bounds });
    assert!(held.values > holds(bounds).values, "work is held: {held:?}");
}

/// It can come to rest at any time, and a retry that changes nothing and that nobody counts keeps it from
/// ever doing so.
#[test]
fn without_an_end_of_vain_retries_it_need_not_come_to_rest() {
    let one = Bounds { tickets: 1, ..CALM };
    let endless = Guards {
        counted: false,
        ..Guards::ALL
    };
    let found = falls(endless, one);
    assert_eq!(found.invariant, "G9");
    assert_eq!(found.what, "it can come to rest, and need not ever");
    let round = found
        .history
        .iter()
        .skip_while(|line| !line.starts_with("and then"));
    assert_eq!(round.count(), 3, "it fails, and that is told: {found}");
    holds(Bounds {
        failures: 2,
        stops: 1,
        ..one
    });
}

#[test]
fn without_the_question_for_the_claim_it_falls() {
    let deaf = Guards {
        claim: false,
        ..Guards::ALL
    };
    assert_eq!(falls(deaf, OVERTAKEN).invariant, "I1");
}

#[test]
fn without_compare_and_swap_it_falls() {
    let blunt = Guards {
        swap: false,
        ..Guards::ALL
    };
    let pushed = Bounds { pushes: 1, ..CALM };
    assert_eq!(falls(blunt, pushed).invariant, "G5");
}

/// A landing that was ordered is not taken back by a later decision: only the lock, which does not run out,
/// keeps an engine from performing it after its ticket was dropped, or the target was put back. Hosts that
/// share a repository need more.
#[test]
fn a_lease_that_runs_out_does_not_take_a_landing_back() {
    let one = Bounds {
        tickets: 1,
        ..OVERTAKEN
    };
    let dropped = Bounds {
        drops: 1,
        edits: 1,
        ..one
    };
    let put_back = Bounds {
        pushes: 1,
        rewinds: 1,
        ..one
    };
    for bounds in [dropped, put_back] {
        assert_eq!(falls(Guards::ALL, bounds).invariant, "G2");
        holds(Bounds {
            lease: Lease::Lock,
            ..bounds
        });
    }
}

/// One ticket whose agent delegates two children.
pub(crate) const TEAM: Bounds = Bounds {
    tickets: 1,
    children: 2,
    ..CALM
};

#[test]
fn a_leader_with_two_children_an_engine_killed_and_one_of_them_dropped() {
    let summary = holds(Bounds {
        stops: 1,
        drops: 1,
        ..TEAM
    });
    assert!(summary.states > 1_000, "it explores what it says: {summary:?}");
}

#[test]
fn a_leader_with_two_children_a_process_lost_and_a_question_asked() {
    holds(Bounds {
        stops: 1,
        losses: 1,
        questions: 1,
        ..TEAM
    });
}

#[test]
fn without_the_wait_for_the_processes_of_children_it_falls() {
    let hasty = Guards {
        waits: false,
        ..Guards::ALL
    };
    let woken = Bounds { drops: 1, ..TEAM };
    assert_eq!(falls(hasty, woken).invariant, "T5");
}
