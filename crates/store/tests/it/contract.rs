//! The contract: the promises that every backend keeps.

use std::sync::Arc;
use std::time::Duration;

use model::journal::{EffectId, TimerRef};
use model::{AgentName, Fence, TicketId, Time};
use store::{
    Answer, Append, Appended, CachedView, Error, Journal, NewView, Number, Record, Seq, Slot, SlotChange,
    TimerChange, Version, ViewArchive, Which,
};

use crate::support::{self, Backend, append, assert_sound, command, event, ordering, shown, stream};

macro_rules! contract {
    ($($name:ident)*) => {
        mod memory {
            $(
                #[tokio::test]
                async fn $name() {
                    super::$name::<crate::support::InMemory>().await;
                }
            )*
        }

        mod sqlite {
            $(
                #[tokio::test]
                async fn $name() {
                    super::$name::<crate::support::InFile>().await;
                }
            )*
        }
    };
}

contract! {
    an_append_gets_consecutive_places
    an_append_of_any_length_is_one
    a_stream_begins_empty_and_once
    a_version_conflict_tells_what_was_found
    a_stale_fence_is_refused
    a_new_fence_must_be_greater
    an_agent_is_at_one_ticket
    a_claim_has_one_agent
    a_slot_is_freed_and_taken_in_one_append
    a_known_key_writes_nothing
    a_key_is_of_one_stream
    a_batch_is_all_or_nothing
    a_batch_builds_on_itself
    effects_are_pending_in_order_until_done
    a_tried_effect_waits_for_its_time
    an_effect_is_done_with_the_facts_that_report_it
    an_effect_is_reported_once
    an_unknown_effect_is_not_found
    a_timer_set_again_makes_the_old_setting_stale
    a_cancelled_timer_never_fires
    a_timer_fires_once
    a_generation_never_comes_back
    the_tail_goes_on_from_any_place
    an_event_is_found_by_its_version
    waiting_ends_with_the_next_fact
    every_write_is_noticed
    the_stored_state_is_the_one_after_the_last_event
    a_command_is_asked_once
    a_command_is_answered_by_facts
    a_command_is_answered_without_facts
    an_archived_stream_stays_whole
    a_saved_view_archives_the_streams_in_which_nothing_is_left_to_do
    bad_input_is_refused_before_anything
    notes_are_kept_and_the_journals_own_are_not_changed
    listings_are_paged
    text_comes_back_as_it_went_in
    what_was_written_is_there_after_reopening
    a_race_for_a_version_has_one_winner
}

async fn one(journal: &impl Journal, append: Append) -> Result<Appended, Error> {
    journal
        .append(vec![append])
        .await
        .map(|mut appended| appended.remove(0))
}

async fn an_append_gets_consecutive_places<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let first = Append {
        events: vec![event("a", 1), event("b", 2)],
        ..append("x", 0)
    };
    let appended = one(&journal, first).await.unwrap();
    assert_eq!(
        (appended.first_seq, appended.last_seq, appended.version),
        (Seq(1), Seq(2), Version(2))
    );
    assert!(!appended.repeated);
    one(&journal, append("y", 0)).await.unwrap();
    let appended = one(&journal, append("x", 2)).await.unwrap();
    assert_eq!(
        (appended.first_seq, appended.last_seq, appended.version),
        (Seq(4), Seq(4), Version(3))
    );

    let events = journal.events(Seq(0), 10).await.unwrap();
    let places: Vec<_> = events
        .iter()
        .map(|event| (event.seq.0, event.stream.to_string(), event.version.0))
        .collect();
    let at = |seq, id: &str, version| (seq, format!("ticket/{id}"), version);
    assert_eq!(
        places,
        [at(1, "x", 1), at(2, "x", 2), at(3, "y", 1), at(4, "x", 3)]
    );
    assert_eq!(journal.head().await.unwrap(), Seq(4));
    assert_sound(&journal).await;
}

/// An append that is longer than one statement can be, in rows and in values.
async fn an_append_of_any_length_is_one<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let mut before = 0;
    for count in [1, 127, 128, 129, 300, 9_000] {
        let events = (1..=count).map(|n| {
            let mut event = event("happened", before + n);
            event.effects = vec![format!("{n}"); usize::try_from(n % 3).unwrap()];
            event
        });
        let append = Append {
            events: events.collect(),
            ..append("a", before)
        };
        let effects: usize = append.events.iter().map(|event| event.effects.len()).sum();
        let appended = one(&journal, append.clone()).await.unwrap();
        assert_eq!(
            (appended.first_seq.0, appended.last_seq.0),
            (before + 1, before + count)
        );
        assert_eq!(appended.effects.len(), effects);
        let events = journal.events(Seq(before), 10_000).await.unwrap();
        assert_eq!(events.len(), append.events.len());
        for (event, given) in events.iter().zip(&append.events) {
            assert_eq!(
                (&event.body, &event.state_after),
                (&given.body, &given.state_after)
            );
        }
        before += count;
    }
    assert_sound(&journal).await;
}

async fn a_stream_begins_empty_and_once<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    assert_eq!(journal.load(&stream("x")).await.unwrap(), None);
    assert_eq!(journal.head().await.unwrap(), Seq(0));
    assert_eq!(journal.append(Vec::new()).await.unwrap(), []);
    one(&journal, append("x", 0)).await.unwrap();
    let again = one(&journal, append("x", 0)).await.unwrap_err();
    assert!(
        matches!(
            again,
            Error::VersionConflict {
                found: Version(1),
                ..
            }
        ),
        "{again:?}"
    );
}

async fn a_version_conflict_tells_what_was_found<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let missing = one(&journal, append("x", 3)).await.unwrap_err();
    assert!(
        matches!(
            missing,
            Error::VersionConflict {
                found: Version(0),
                ..
            }
        ),
        "{missing:?}"
    );
    one(&journal, append("x", 0)).await.unwrap();
    one(&journal, append("x", 1)).await.unwrap();
    for wrong in [0, 1, 3, 9] {
        let conflict = one(&journal, append("x", wrong)).await.unwrap_err();
        let Error::VersionConflict {
            stream,
            expected,
            found,
        } = conflict
        else {
            panic!("{conflict:?}")
        };
        assert_eq!(
            (stream, expected, found),
            (support::stream("x"), Version(wrong), Version(2))
        );
    }
    assert_eq!(journal.head().await.unwrap(), Seq(2));
}

async fn a_stale_fence_is_refused<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let early = one(
        &journal,
        Append {
            fence: Some(Fence(1)),
            ..append("x", 0)
        },
    )
    .await
    .unwrap_err();
    assert!(
        matches!(
            early,
            Error::StaleFence {
                current: Fence(0),
                ..
            }
        ),
        "{early:?}"
    );
    one(
        &journal,
        Append {
            fence: Some(Fence(0)),
            new_fence: Some(Fence(7)),
            ..append("x", 0)
        },
    )
    .await
    .unwrap();
    for stale in [0, 6, 8] {
        let refused = one(
            &journal,
            Append {
                fence: Some(Fence(stale)),
                ..append("x", 1)
            },
        )
        .await
        .unwrap_err();
        let Error::StaleFence {
            stream,
            given,
            current,
        } = refused
        else {
            panic!("{refused:?}")
        };
        assert_eq!(
            (stream, given, current),
            (support::stream("x"), Fence(stale), Fence(7))
        );
    }
    one(
        &journal,
        Append {
            fence: Some(Fence(7)),
            ..append("x", 1)
        },
    )
    .await
    .unwrap();
    // Without one, the version alone decides.
    one(&journal, append("x", 2)).await.unwrap();
    assert_eq!(journal.load(&stream("x")).await.unwrap().unwrap().fence, Fence(7));
}

async fn a_new_fence_must_be_greater<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let zero = one(
        &journal,
        Append {
            new_fence: Some(Fence(0)),
            ..append("x", 0)
        },
    )
    .await
    .unwrap_err();
    assert!(matches!(zero, Error::StaleFence { .. }), "{zero:?}");
    assert_eq!(journal.load(&stream("x")).await.unwrap(), None);
    one(
        &journal,
        Append {
            new_fence: Some(Fence(3)),
            ..append("x", 0)
        },
    )
    .await
    .unwrap();
    for wrong in [1, 3] {
        let refused = one(
            &journal,
            Append {
                new_fence: Some(Fence(wrong)),
                ..append("x", 1)
            },
        )
        .await
        .unwrap_err();
        assert!(
            matches!(
                refused,
                Error::StaleFence {
                    current: Fence(3),
                    ..
                }
            ),
            "{refused:?}"
        );
    }
    one(
        &journal,
        Append {
            new_fence: Some(Fence(4)),
            ..append("x", 1)
        },
    )
    .await
    .unwrap();
    let late = one(
        &journal,
        Append {
            fence: Some(Fence(3)),
            ..append("x", 2)
        },
    )
    .await
    .unwrap_err();
    assert!(
        matches!(
            late,
            Error::StaleFence {
                current: Fence(4),
                ..
            }
        ),
        "{late:?}"
    );
}

fn agent_name(name: &str) -> AgentName {
    AgentName::new(name).unwrap()
}

fn take(agent: &str, ticket: &str, fence: u64) -> SlotChange {
    SlotChange::Take {
        agent: agent_name(agent),
        ticket: TicketId::new(ticket).unwrap(),
        fence: Fence(fence),
    }
}

fn free(agent: &str) -> SlotChange {
    SlotChange::Free {
        agent: agent_name(agent),
    }
}

fn slot(agent: &str, ticket: &str, fence: u64) -> Slot {
    Slot {
        agent: agent_name(agent),
        ticket: TicketId::new(ticket).unwrap(),
        fence: Fence(fence),
    }
}

/// A claim as the engine makes it: a fence minted, the slot taken with it.
fn claim(stream: &str, expected: u64, agent: &str, ticket: &str) -> Append {
    Append {
        new_fence: Some(Fence(1)),
        slots: vec![take(agent, ticket, 1)],
        ..append(stream, expected)
    }
}

async fn an_agent_is_at_one_ticket<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    one(&journal, claim("x", 0, "ada", "x")).await.unwrap();
    let taken = one(&journal, claim("y", 0, "ada", "y")).await.unwrap_err();
    let Error::SlotTaken { agent, ticket, by } = taken else {
        panic!("{taken:?}")
    };
    assert_eq!(
        (agent.as_str(), ticket.as_str(), by),
        ("ada", "y", slot("ada", "x", 1))
    );
    assert_eq!(journal.load(&stream("y")).await.unwrap(), None);
    assert_eq!(journal.slots().await.unwrap(), [slot("ada", "x", 1)]);
    assert_sound(&journal).await;
}

async fn a_claim_has_one_agent<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    one(&journal, claim("x", 0, "ada", "x")).await.unwrap();
    let taken = one(
        &journal,
        Append {
            slots: vec![take("bob", "x", 1)],
            ..append("x", 1)
        },
    )
    .await
    .unwrap_err();
    let Error::SlotTaken { agent, by, .. } = taken else {
        panic!("{taken:?}")
    };
    assert_eq!((agent.as_str(), by), ("bob", slot("ada", "x", 1)));
    // Both in the way: the agent's own slot is named.
    one(&journal, claim("y", 0, "bob", "y")).await.unwrap();
    let taken = one(
        &journal,
        Append {
            slots: vec![take("bob", "x", 1)],
            ..append("x", 1)
        },
    )
    .await
    .unwrap_err();
    let Error::SlotTaken { by, .. } = taken else {
        panic!("{taken:?}")
    };
    assert_eq!(by, slot("bob", "y", 1));
    // Another claim of the ticket is another slot: a review beside the attempt.
    let change = Append {
        new_fence: Some(Fence(2)),
        slots: vec![take("eve", "x", 2)],
        ..append("x", 1)
    };
    one(&journal, change).await.unwrap();
    let slots = [slot("ada", "x", 1), slot("bob", "y", 1), slot("eve", "x", 2)];
    assert_eq!(journal.slots().await.unwrap(), slots);
    assert_sound(&journal).await;
}

async fn a_slot_is_freed_and_taken_in_one_append<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    one(&journal, claim("x", 0, "ada", "x")).await.unwrap();
    let change = Append {
        slots: vec![
            free("ada"),
            free("nobody"),
            take("bob", "x", 1),
            take("ada", "z", 0),
        ],
        ..append("x", 1)
    };
    one(&journal, change).await.unwrap();
    assert_eq!(
        journal.slots().await.unwrap(),
        [slot("ada", "z", 0), slot("bob", "x", 1)]
    );
}

async fn a_known_key_writes_nothing<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let mut first = Append {
        key: Some("k1".to_owned()),
        ..ordering("x", 0, &["one", "two"])
    };
    first.events.push(event("more", 2));
    first.events[1].effects = vec!["3".to_owned()];
    let appended = one(&journal, first.clone()).await.unwrap();
    assert_eq!(appended.effects.len(), 3);
    one(&journal, append("x", 2)).await.unwrap();
    journal.done(appended.effects[0], Time(9)).await.unwrap();
    let before = shown(&journal).await;

    let again = one(&journal, first.clone()).await.unwrap();
    assert_eq!(
        again,
        Appended {
            repeated: true,
            ..appended.clone()
        }
    );
    // In a batch, the others are written.
    let both = journal.append(vec![first, append("y", 0)]).await.unwrap();
    assert_eq!(
        both[0],
        Appended {
            repeated: true,
            ..appended
        }
    );
    assert_eq!(both[1].first_seq, Seq(4));
    let mut after = shown(&journal).await;
    assert_ne!(after, before);
    assert_eq!(
        journal.load(&stream("x")).await.unwrap().unwrap().version,
        Version(3)
    );
    assert_sound(&journal).await;

    // A refused append leaves its key unused.
    let refused = Append {
        key: Some("k2".to_owned()),
        ..append("x", 1)
    };
    one(&journal, refused).await.unwrap_err();
    assert_eq!(shown(&journal).await, after);
    let ok = one(
        &journal,
        Append {
            key: Some("k2".to_owned()),
            ..append("x", 3)
        },
    )
    .await
    .unwrap();
    assert!(!ok.repeated);
    after = shown(&journal).await;
    let twice = Append {
        key: Some("k3".to_owned()),
        ..append("x", 4)
    };
    let batch = journal.append(vec![twice.clone(), twice]).await.unwrap();
    assert_eq!((batch[0].repeated, batch[1].repeated), (false, true));
    assert_ne!(shown(&journal).await, after);
}

async fn a_key_is_of_one_stream<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    one(
        &journal,
        Append {
            key: Some("k".to_owned()),
            ..append("x", 0)
        },
    )
    .await
    .unwrap();
    let reused = one(
        &journal,
        Append {
            key: Some("k".to_owned()),
            ..append("y", 0)
        },
    )
    .await
    .unwrap_err();
    assert_eq!(
        reused.to_string(),
        "idempotency key `k` belongs to stream `ticket/x`"
    );
}

async fn a_batch_is_all_or_nothing<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let set = TimerChange::Set {
        key: "t".to_owned(),
        due: Time(50),
    };
    one(
        &journal,
        Append {
            timers: vec![set.clone()],
            ..ordering("x", 0, &["e"])
        },
    )
    .await
    .unwrap();
    one(&journal, claim("z", 0, "ada", "z")).await.unwrap();
    journal.submit(command("c")).await.unwrap();
    let before = shown(&journal).await;

    let timer = TimerRef {
        stream: stream("x"),
        key: "t".to_owned(),
        generation: 1,
    };
    let everything = Append {
        new_fence: Some(Fence(5)),
        timers: vec![
            set,
            TimerChange::Set {
                key: "u".to_owned(),
                due: Time(70),
            },
        ],
        slots: vec![free("ada"), take("bob", "x", 5)],
        completes: Some(EffectId { seq: 1, index: 0 }),
        fires: Some(timer.clone()),
        answers: Some(Answer {
            command: "c".into(),
            outcome: "1".to_owned(),
        }),
        key: Some("k".to_owned()),
        ..ordering("x", 1, &["f", "g"])
    };
    let failing = [
        append("y", 4),
        Append {
            fence: Some(Fence(4)),
            ..append("x", 2)
        },
        Append {
            slots: vec![take("eve", "x", 5)],
            ..append("y", 0)
        },
        Append {
            completes: Some(EffectId { seq: 1, index: 0 }),
            ..append("y", 0)
        },
        Append {
            completes: Some(EffectId { seq: 9, index: 0 }),
            ..append("y", 0)
        },
        Append {
            fires: Some(timer),
            ..append("y", 0)
        },
        Append {
            answers: Some(Answer {
                command: "c".into(),
                outcome: "2".to_owned(),
            }),
            ..append("y", 0)
        },
        Append {
            key: Some("k".to_owned()),
            ..append("y", 0)
        },
        Append {
            events: Vec::new(),
            ..append("y", 0)
        },
    ];
    for failing in failing {
        let refused = journal.append(vec![everything.clone(), failing.clone()]).await;
        assert!(refused.is_err(), "{failing:?}");
        assert_eq!(shown(&journal).await, before, "{failing:?}");
    }
    one(&journal, everything).await.unwrap();
    assert_sound(&journal).await;
}

async fn a_batch_builds_on_itself<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let report = Append {
        completes: Some(EffectId { seq: 1, index: 0 }),
        ..append("x", 1)
    };
    let appended = journal
        .append(vec![ordering("x", 0, &["e"]), report, append("y", 0)])
        .await
        .unwrap();
    let places: Vec<_> = appended.iter().map(|appended| appended.first_seq.0).collect();
    assert_eq!(places, [1, 2, 3]);
    assert_eq!(journal.pending(Time(0), 10).await.unwrap(), []);
    assert_sound(&journal).await;
}

async fn effects_are_pending_in_order_until_done<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    one(&journal, ordering("x", 0, &["a", "b"])).await.unwrap();
    one(&journal, ordering("y", 0, &["c"])).await.unwrap();
    // A new effect never waits for a clock, not even one that went back.
    let bodies =
        |effects: Vec<store::Effect>| effects.into_iter().map(|effect| effect.body).collect::<Vec<_>>();
    assert_eq!(
        bodies(journal.pending(Time(-5), 10).await.unwrap()),
        ["\"a\"", "\"b\"", "\"c\""]
    );
    assert_eq!(
        bodies(journal.pending(Time(0), 2).await.unwrap()),
        ["\"a\"", "\"b\""]
    );
    let second = EffectId { seq: 1, index: 1 };
    journal.done(second, Time(77)).await.unwrap();
    journal.done(second, Time(99)).await.unwrap();
    assert_eq!(
        bodies(journal.pending(Time(0), 10).await.unwrap()),
        ["\"a\"", "\"c\""]
    );
    let effect = journal.effect(second).await.unwrap().unwrap();
    assert_eq!((effect.stream, effect.done_at), (stream("x"), Some(Time(77))));
}

async fn a_tried_effect_waits_for_its_time<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    one(&journal, ordering("x", 0, &["a", "b"])).await.unwrap();
    assert_eq!(journal.next_run().await.unwrap(), None);
    let first = EffectId { seq: 1, index: 0 };
    journal
        .tried(first, Time(500), Some("no room".to_owned()))
        .await
        .unwrap();
    let why = |effect: Option<store::Effect>| effect.unwrap().why;
    assert_eq!(
        why(journal.effect(first).await.unwrap()).as_deref(),
        Some("no room")
    );
    journal.tried(first, Time(400), None).await.unwrap();
    assert_eq!(why(journal.effect(first).await.unwrap()), None);
    assert_eq!(journal.next_run().await.unwrap(), Some(Time(400)));
    assert_eq!(journal.pending(Time(399), 10).await.unwrap().len(), 1);
    let pending = journal.pending(Time(400), 10).await.unwrap();
    assert_eq!(
        (pending.len(), pending[0].attempts, pending[1].attempts),
        (2, 2, 0)
    );
    journal.done(first, Time(450)).await.unwrap();
    assert_eq!(journal.next_run().await.unwrap(), None);
    let late = journal.tried(first, Time(900), None).await.unwrap_err();
    assert!(matches!(late, Error::AlreadyDone { .. }), "{late:?}");
}

async fn an_effect_is_done_with_the_facts_that_report_it<B: Backend>() {
    let (backend, journal) = B::fresh().await;
    let appended = one(&journal, ordering("x", 0, &["a"])).await.unwrap();
    let report = Append {
        completes: Some(appended.effects[0]),
        ..append("x", 1)
    };
    // Refused facts leave it to be done again, also after a restart.
    one(
        &journal,
        Append {
            expected: Version(9),
            ..report.clone()
        },
    )
    .await
    .unwrap_err();
    let journal = backend.reopen(journal).await;
    assert_eq!(journal.pending(Time(0), 10).await.unwrap().len(), 1);
    one(&journal, report).await.unwrap();
    assert_eq!(journal.pending(Time(0), 10).await.unwrap(), []);
    let effect = journal.effect(appended.effects[0]).await.unwrap().unwrap();
    assert_eq!(effect.done_at, Some(Time(1_000)));
}

async fn an_effect_is_reported_once<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let appended = one(&journal, ordering("x", 0, &["a"])).await.unwrap();
    let effect = appended.effects[0];
    one(
        &journal,
        Append {
            completes: Some(effect),
            ..append("x", 1)
        },
    )
    .await
    .unwrap();
    let twice = one(
        &journal,
        Append {
            completes: Some(effect),
            ..append("x", 2)
        },
    )
    .await
    .unwrap_err();
    assert_eq!(twice.to_string(), "effect 1.0 is done already");
}

async fn an_unknown_effect_is_not_found<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    one(&journal, ordering("x", 0, &["a"])).await.unwrap();
    let unknown = EffectId { seq: 1, index: 1 };
    assert_eq!(journal.effect(unknown).await.unwrap(), None);
    for refused in [
        journal.done(unknown, Time(1)).await.unwrap_err(),
        journal.tried(unknown, Time(1), None).await.unwrap_err(),
        one(
            &journal,
            Append {
                completes: Some(unknown),
                ..append("x", 1)
            },
        )
        .await
        .unwrap_err(),
    ] {
        assert_eq!(refused.to_string(), "no effect 1.1 in the journal");
    }
}

fn set(key: &str, due: i64) -> TimerChange {
    TimerChange::Set {
        key: key.to_owned(),
        due: Time(due),
    }
}

fn cancel(key: &str) -> TimerChange {
    TimerChange::Cancel { key: key.to_owned() }
}

fn timer(id: &str, key: &str, generation: u64) -> TimerRef {
    TimerRef {
        stream: stream(id),
        key: key.to_owned(),
        generation,
    }
}

fn stale(result: &Result<Appended, Error>) -> bool {
    matches!(result, Err(Error::StaleTimer { .. }))
}

async fn a_timer_set_again_makes_the_old_setting_stale<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    one(
        &journal,
        Append {
            timers: vec![set("wake", 100), set("stall", 300)],
            ..append("x", 0)
        },
    )
    .await
    .unwrap();
    assert_eq!(journal.next_due().await.unwrap(), Some(Time(100)));
    assert_eq!(journal.due(Time(99), 10).await.unwrap(), []);
    let due = journal.due(Time(100), 10).await.unwrap();
    assert_eq!(
        due.iter().map(|due| due.timer.clone()).collect::<Vec<_>>(),
        [timer("x", "wake", 1)]
    );

    one(
        &journal,
        Append {
            timers: vec![set("wake", 200)],
            ..append("x", 1)
        },
    )
    .await
    .unwrap();
    assert_eq!(journal.next_due().await.unwrap(), Some(Time(200)));
    let fired = one(
        &journal,
        Append {
            fires: Some(timer("x", "wake", 1)),
            ..append("x", 2)
        },
    )
    .await;
    assert!(stale(&fired), "{fired:?}");
    let fired = one(
        &journal,
        Append {
            fires: Some(timer("x", "wake", 3)),
            ..append("x", 2)
        },
    )
    .await;
    assert!(stale(&fired), "{fired:?}");
    one(
        &journal,
        Append {
            fires: Some(timer("x", "wake", 2)),
            ..append("x", 2)
        },
    )
    .await
    .unwrap();
    assert_eq!(journal.next_due().await.unwrap(), Some(Time(300)));
    assert_sound(&journal).await;
}

async fn a_cancelled_timer_never_fires<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    one(
        &journal,
        Append {
            timers: vec![set("wake", 100), cancel("never-set")],
            ..append("x", 0)
        },
    )
    .await
    .unwrap();
    one(
        &journal,
        Append {
            timers: vec![cancel("wake")],
            ..append("x", 1)
        },
    )
    .await
    .unwrap();
    assert_eq!(journal.due(Time(i64::MAX), 10).await.unwrap(), []);
    assert_eq!(journal.next_due().await.unwrap(), None);
    let fired = one(
        &journal,
        Append {
            fires: Some(timer("x", "wake", 1)),
            ..append("x", 2)
        },
    )
    .await;
    assert!(stale(&fired), "{fired:?}");
}

async fn a_timer_fires_once<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    one(
        &journal,
        Append {
            timers: vec![set("wake", 100)],
            ..append("x", 0)
        },
    )
    .await
    .unwrap();
    one(
        &journal,
        Append {
            fires: Some(timer("x", "wake", 1)),
            ..append("x", 1)
        },
    )
    .await
    .unwrap();
    assert_eq!(journal.due(Time(i64::MAX), 10).await.unwrap(), []);
    let fired = one(
        &journal,
        Append {
            fires: Some(timer("x", "wake", 1)),
            ..append("x", 2)
        },
    )
    .await;
    assert!(stale(&fired), "{fired:?}");
    let fired = one(
        &journal,
        Append {
            fires: Some(timer("y", "wake", 1)),
            ..append("x", 2)
        },
    )
    .await;
    assert!(stale(&fired), "{fired:?}");
}

async fn a_generation_never_comes_back<B: Backend>() {
    let (backend, journal) = B::fresh().await;
    one(
        &journal,
        Append {
            timers: vec![set("t", 1), cancel("t"), set("t", 2)],
            ..append("x", 0)
        },
    )
    .await
    .unwrap();
    // Fired and set again in one append: the firing comes first.
    let again = Append {
        fires: Some(timer("x", "t", 2)),
        timers: vec![set("t", 3)],
        ..append("x", 1)
    };
    one(&journal, again).await.unwrap();
    one(
        &journal,
        Append {
            fires: Some(timer("x", "t", 3)),
            ..append("x", 2)
        },
    )
    .await
    .unwrap();
    let journal = backend.reopen(journal).await;
    one(
        &journal,
        Append {
            timers: vec![set("t", 9), set("a", 20)],
            ..append("x", 3)
        },
    )
    .await
    .unwrap();
    one(
        &journal,
        Append {
            timers: vec![set("t", 7)],
            ..append("y", 0)
        },
    )
    .await
    .unwrap();
    let of_x = journal.timers_of(&stream("x")).await.unwrap();
    let of_x: Vec<_> = of_x.into_iter().map(|set| (set.timer, set.due.0)).collect();
    assert_eq!(of_x, [(timer("x", "a", 1), 20), (timer("x", "t", 4), 9)]);
    let due = journal.due(Time(10), 10).await.unwrap();
    assert_eq!(due.iter().map(|due| due.due.0).collect::<Vec<_>>(), [7, 9]);
}

async fn the_tail_goes_on_from_any_place<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    for n in 0..5 {
        one(&journal, append("x", n)).await.unwrap();
        one(&journal, append("y", n)).await.unwrap();
    }
    let mut after = Seq(0);
    let mut seen = Vec::new();
    loop {
        let page = journal.events(after, 3).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.seq;
        seen.extend(page.into_iter().map(|event| event.seq.0));
    }
    assert_eq!(seen, (1..=10).collect::<Vec<_>>());
    assert_eq!(journal.events(Seq(u64::MAX), 3).await.unwrap(), []);

    let versions = |events: Vec<store::Event>| {
        events
            .into_iter()
            .map(|event| event.version.0)
            .collect::<Vec<_>>()
    };
    let of = async |id: &str, after, limit| {
        let events = journal.events_of(&stream(id), Seq(after), limit).await;
        versions(events.unwrap())
    };
    assert_eq!(of("y", 0, 2).await, [1, 2]);
    assert_eq!(of("y", 4, 2).await, [3, 4]);
    assert_eq!(of("y", 4, 10).await, [3, 4, 5]);
    assert_eq!(of("y", 10, 10).await, [0; 0]);
    assert_eq!(of("y", 0, 0).await, [0; 0]);
    assert_eq!(of("z", 0, 10).await, [0; 0]);
}

async fn an_event_is_found_by_its_version<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    for n in 0..5 {
        one(&journal, append("x", n)).await.unwrap();
        let both = Append {
            events: vec![event("a", n), event("b", n)],
            ..append("y", 2 * n)
        };
        one(&journal, both).await.unwrap();
    }
    let at = async |id: &str, version| {
        let found = journal.event_of(&stream(id), Version(version)).await.unwrap();
        found.map(|event| (event.stream, event.version.0, event.seq.0))
    };
    for version in 1..=5 {
        let there = (stream("x"), version, 3 * version - 2);
        assert_eq!(at("x", version).await, Some(there));
    }
    assert_eq!(at("y", 9).await, Some((stream("y"), 9, 14)));
    for (id, version) in [("x", 0), ("x", 6), ("x", u64::MAX), ("z", 1)] {
        assert_eq!(at(id, version).await, None, "{id} {version}");
    }
}

async fn waiting_ends_with_the_next_fact<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    one(&journal, append("x", 0)).await.unwrap();
    assert_eq!(journal.wait(Seq(0)).await.unwrap(), Seq(1));
    let waiting = tokio::spawn({
        let journal = journal.clone();
        async move { journal.wait(Seq(2)).await }
    });
    one(&journal, append("x", 1)).await.unwrap();
    one(&journal, append("x", 2)).await.unwrap();
    let head = tokio::time::timeout(Duration::from_secs(60), waiting)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert_eq!(head, Seq(3));
}

async fn every_write_is_noticed<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let mut subscription = journal.subscribe();
    let noticed = async |subscription: &mut store::Subscription| {
        tokio::time::timeout(Duration::from_secs(60), subscription.noticed())
            .await
            .unwrap()
            .unwrap();
    };
    one(&journal, ordering("x", 0, &["a"])).await.unwrap();
    noticed(&mut subscription).await;
    journal.submit(command("c")).await.unwrap();
    noticed(&mut subscription).await;
    journal
        .done(EffectId { seq: 1, index: 0 }, Time(1))
        .await
        .unwrap();
    noticed(&mut subscription).await;
}

async fn the_stored_state_is_the_one_after_the_last_event<B: Backend>() {
    let (backend, journal) = B::fresh().await;
    for n in 0..4 {
        one(&journal, append("x", n)).await.unwrap();
        let both = Append {
            events: vec![event("a", 10 * n), event("b", 10 * n + 1)],
            ..append("y", 2 * n)
        };
        one(&journal, both).await.unwrap();
    }
    let journal = backend.reopen(journal).await;
    for id in ["x", "y"] {
        let stream = journal.load(&stream(id)).await.unwrap().unwrap();
        let events = journal.events_of(&stream.id, Seq(0), 100).await.unwrap();
        let last = events.last().unwrap();
        assert_eq!((stream.version, &stream.state), (last.version, &last.state_after));
        assert_eq!(stream.version.0, events.len() as u64);
    }
    assert_eq!(
        journal.load(&stream("y")).await.unwrap().unwrap().state,
        "{\"count\":31}"
    );
    assert_sound(&journal).await;
}

async fn a_command_is_asked_once<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let first = journal.submit(command("c1")).await.unwrap();
    assert_eq!((first.command.number, first.repeated), (Number(1), false));
    let other = store::NewCommand {
        by: "another".to_owned(),
        ..command("c1")
    };
    let again = journal.submit(other).await.unwrap();
    assert!(again.repeated);
    assert_eq!(again.command, first.command);
    assert_eq!(
        journal.submit(command("c2")).await.unwrap().command.number,
        Number(2)
    );
    let pending = journal.pending_commands(Number(0), 10).await.unwrap();
    assert_eq!(
        pending
            .iter()
            .map(|command| command.id.as_str())
            .collect::<Vec<_>>(),
        ["c1", "c2"]
    );
    assert_eq!(
        journal.pending_commands(Number(1), 10).await.unwrap()[0]
            .id
            .as_str(),
        "c2"
    );
    assert_eq!(journal.command(&"c3".into()).await.unwrap(), None);
}

async fn a_command_is_answered_by_facts<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    journal.submit(command("c")).await.unwrap();
    let answer = |command: &str, outcome: &str| {
        Some(Answer {
            command: command.into(),
            outcome: outcome.to_owned(),
        })
    };
    one(
        &journal,
        Append {
            answers: answer("c", "{\"ok\":true}"),
            ..append("x", 0)
        },
    )
    .await
    .unwrap();
    assert_eq!(journal.pending_commands(Number(0), 10).await.unwrap(), []);
    let answered = journal.command(&"c".into()).await.unwrap().unwrap();
    assert_eq!(
        (answered.outcome.as_deref(), answered.answered_at),
        (Some("{\"ok\":true}"), Some(Time(1_000)))
    );
    let again = one(
        &journal,
        Append {
            answers: answer("c", "2"),
            ..append("x", 1)
        },
    )
    .await
    .unwrap_err();
    assert_eq!(again.to_string(), "command `c` is answered already");
    let unknown = one(
        &journal,
        Append {
            answers: answer("d", "2"),
            ..append("x", 1)
        },
    )
    .await
    .unwrap_err();
    assert_eq!(unknown.to_string(), "no command `d` in the journal");
    // Asked again after its answer: the answer is there.
    let again = journal.submit(command("c")).await.unwrap();
    assert!(again.repeated);
    assert_eq!(again.command.outcome.as_deref(), Some("{\"ok\":true}"));
}

async fn a_command_is_answered_without_facts<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    journal.submit(command("c")).await.unwrap();
    journal
        .answer(&"c".into(), "1".to_owned(), Time(8))
        .await
        .unwrap();
    journal
        .answer(&"c".into(), "1".to_owned(), Time(9))
        .await
        .unwrap();
    let other = journal
        .answer(&"c".into(), "2".to_owned(), Time(9))
        .await
        .unwrap_err();
    assert!(matches!(other, Error::AlreadyAnswered { .. }), "{other:?}");
    let unknown = journal
        .answer(&"d".into(), "2".to_owned(), Time(9))
        .await
        .unwrap_err();
    assert!(matches!(unknown, Error::NotFound { .. }), "{unknown:?}");
    let command = journal.command(&"c".into()).await.unwrap().unwrap();
    assert_eq!(
        (command.outcome.as_deref(), command.answered_at),
        (Some("1"), Some(Time(8)))
    );
}

async fn an_archived_stream_stays_whole<B: Backend>() {
    let (backend, journal) = B::fresh().await;
    for id in ["a", "b", "c"] {
        one(&journal, append(id, 0)).await.unwrap();
    }
    journal.archive(&stream("b")).await.unwrap();
    journal.archive(&stream("b")).await.unwrap();
    let journal = backend.reopen(journal).await;
    let of = |ids: &[&str]| ids.iter().map(|id| stream(id)).collect::<Vec<_>>();
    let ids = async |which| {
        let streams = journal.streams(which, None, 10).await.unwrap();
        streams.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(Which::Live).await, of(&["a", "c"]));
    assert_eq!(ids(Which::Archived).await, of(&["b"]));
    assert_eq!(ids(Which::All).await, of(&["a", "b", "c"]));
    assert!(journal.load(&stream("b")).await.unwrap().unwrap().archived);
    assert_eq!(
        journal.events_of(&stream("b"), Seq(0), 10).await.unwrap().len(),
        1
    );
    one(&journal, append("b", 1)).await.unwrap();
    assert_eq!(ids(Which::Live).await, of(&["a", "b", "c"]));
    let unknown = journal.archive(&stream("z")).await.unwrap_err();
    assert_eq!(unknown.to_string(), "no stream `ticket/z` in the journal");
}

async fn a_saved_view_archives_the_streams_in_which_nothing_is_left_to_do<B: Backend>() {
    let (backend, journal) = B::fresh().await;
    for id in ["moved", "quiet", "z"] {
        one(&journal, append(id, 0)).await.unwrap();
    }
    one(&journal, ordering("busy", 0, &["{}"])).await.unwrap();
    one(&journal, append("moved", 1)).await.unwrap();
    let record = |id: &str| Record {
        stream: stream(id),
        version: Version(1),
        brief: "[1]".to_owned(),
        rest: "[2]".to_owned(),
    };
    let new_view = |seq: u64, pieces: &[&str]| NewView {
        shape: 7,
        seq: Seq(seq),
        pieces: Arc::new(pieces.iter().map(|piece| (*piece).to_owned()).collect::<Vec<_>>()),
    };
    let cached = |seq: u64, first: u64, pieces: u64| {
        Some(CachedView {
            shape: 7,
            seq: Seq(seq),
            first,
            pieces,
        })
    };
    assert_eq!(journal.cached_view().await.unwrap(), None);
    let records = ["busy", "moved", "quiet"].map(record).to_vec();
    let archived = journal
        .save_view(new_view(5, &["{}", "[3]"]), records.clone())
        .await
        .unwrap();
    assert_eq!(archived, Some(vec![stream("quiet")]));
    let journal = backend.reopen(journal).await;
    assert_eq!(journal.cached_view().await.unwrap(), cached(5, 0, 2));
    assert_eq!(journal.piece(0).await.unwrap().as_deref(), Some("{}"));
    assert_eq!(journal.piece(1).await.unwrap().as_deref(), Some("[3]"));
    assert_eq!(journal.piece(2).await.unwrap(), None);
    assert_eq!(journal.records(None, 10).await.unwrap(), records);
    assert_eq!(
        journal.records(Some(&stream("busy")), 1).await.unwrap(),
        [record("moved")]
    );
    let brief = journal.briefs(None, 10).await.unwrap();
    assert!(brief.iter().all(|one| one.brief == "[1]" && one.rest.is_empty()));
    assert_eq!(
        journal.record(&stream("moved")).await.unwrap(),
        Some(record("moved"))
    );
    assert_eq!(journal.record(&stream("z")).await.unwrap(), None);
    let known = journal.archived(&["z", "quiet", "no"].map(stream)).await.unwrap();
    assert_eq!(known.len(), 1);
    assert!(known[0].archived);
    // The next view replaces the last, and no piece of it has a number of the last's.
    journal
        .save_view(new_view(6, &["[4]"]), Vec::new())
        .await
        .unwrap();
    assert_eq!(journal.cached_view().await.unwrap(), cached(6, 2, 1));
    assert_eq!(journal.piece(1).await.unwrap(), None);
    assert_eq!(journal.piece(2).await.unwrap().as_deref(), Some("[4]"));
    // A view that goes less far replaces none, unless it has another shape.
    let less = journal.save_view(new_view(5, &["[6]"]), vec![record("z")]);
    assert_eq!(less.await.unwrap(), None);
    assert_eq!(journal.cached_view().await.unwrap(), cached(6, 2, 1));
    assert_eq!(journal.record(&stream("z")).await.unwrap(), None);
    // A view that cannot be written leaves the last as it is.
    let bad = journal
        .save_view(new_view(7, &["[5]", "{"]), Vec::new())
        .await
        .unwrap_err();
    assert!(matches!(bad, Error::Invalid { .. }), "{bad:?}");
    assert_eq!(journal.cached_view().await.unwrap(), cached(6, 2, 1));
    assert_eq!(journal.piece(2).await.unwrap().as_deref(), Some("[4]"));
    let other = NewView {
        shape: 6,
        ..new_view(5, &["[7]"])
    };
    assert_eq!(
        journal.save_view(other, Vec::new()).await.unwrap(),
        Some(Vec::new())
    );
    assert_eq!(journal.cached_view().await.unwrap().unwrap().seq, Seq(5));
}

async fn bad_input_is_refused_before_anything<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let before = shown(&journal).await;
    let mut bodies = vec![append("x", 0); 4];
    bodies[0].events[0].body = "{".to_owned();
    bodies[1].events[0].state_after = "nothing".to_owned();
    bodies[2].events[0].effects = vec!["{}".to_owned(), "{} {}".to_owned()];
    bodies[3].events[0].kind = String::new();
    let bad = [
        Append {
            events: Vec::new(),
            ..append("x", 0)
        },
        Append {
            new_fence: Some(Fence(u64::MAX)),
            ..append("x", 0)
        },
        Append {
            timers: vec![set("", 4)],
            ..append("x", 0)
        },
        Append {
            slots: vec![take("ada", "x", u64::MAX)],
            ..append("x", 0)
        },
        Append {
            key: Some(String::new()),
            ..append("x", 0)
        },
    ];
    for bad in bodies.into_iter().chain(bad) {
        let refused = one(&journal, bad.clone()).await;
        assert!(
            matches!(refused, Err(Error::Invalid { .. })),
            "{bad:?} {refused:?}"
        );
    }
    for bad in [
        command(""),
        store::NewCommand {
            body: "x".to_owned(),
            ..command("c")
        },
    ] {
        assert!(matches!(journal.submit(bad).await, Err(Error::Invalid { .. })));
    }
    assert_eq!(shown(&journal).await, before);
}

async fn notes_are_kept_and_the_journals_own_are_not_changed<B: Backend>() {
    let (backend, journal) = B::fresh().await;
    assert_eq!(journal.meta("id").await.unwrap().as_deref(), Some("journal-1"));
    assert_eq!(journal.meta("note").await.unwrap(), None);
    journal.set_meta("note", "one").await.unwrap();
    journal.set_meta("note", "two").await.unwrap();
    for own in ["id", "schema", ""] {
        assert!(matches!(
            journal.set_meta(own, "9").await,
            Err(Error::Invalid { .. })
        ));
    }
    let journal = backend.reopen(journal).await;
    assert_eq!(journal.meta("note").await.unwrap().as_deref(), Some("two"));
    assert_eq!(journal.meta("id").await.unwrap().as_deref(), Some("journal-1"));
}

async fn listings_are_paged<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    // Ordered by bytes, as every backend must.
    let ids = ["B", "a", "a-b", "a.b", "aa", "z"];
    for id in ids.iter().rev() {
        one(
            &journal,
            Append {
                timers: vec![set("t", 5)],
                ..append(id, 0)
            },
        )
        .await
        .unwrap();
        journal.submit(command(id)).await.unwrap();
    }
    let mut after = None;
    let mut seen = Vec::new();
    loop {
        let page = journal.streams(Which::Live, after.as_ref(), 4).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
        seen.extend(page.into_iter().map(|row| row.id));
    }
    assert_eq!(seen, ids.map(stream));
    let due = journal.due(Time(5), 2).await.unwrap();
    assert_eq!(
        due.iter().map(|due| due.timer.stream.clone()).collect::<Vec<_>>(),
        ["B", "a"].map(stream)
    );
    assert_eq!(journal.pending_commands(Number(2), 3).await.unwrap().len(), 3);
    assert_eq!(journal.events(Seq(0), 0).await.unwrap(), []);
}

async fn text_comes_back_as_it_went_in<B: Backend>() {
    let (backend, journal) = B::fresh().await;
    let odd = "'; DROP TABLE events; -- \"%s\" {}\n\t\u{1b}[31m ../é\u{202e}😀";
    let body = format!(
        "{{ \"b\" : 1.0,  \"a\":{} }}",
        serde_json::to_string(odd).unwrap()
    );
    let mut strange = append("odd", 0);
    strange.events[0].body.clone_from(&body);
    strange.events[0].cause = Some(odd.to_owned());
    strange.events[0].effects = vec![body.clone()];
    strange.timers = vec![set(odd, i64::MIN)];
    strange.key = Some(odd.to_owned());
    strange.at = Time(i64::MIN);
    one(&journal, strange).await.unwrap();
    let large = format!("\"{}\"", "x".repeat(3_000_000));
    let mut heavy = append("large", 0);
    heavy.events[0].body.clone_from(&large);
    one(&journal, heavy).await.unwrap();

    let journal = backend.reopen(journal).await;
    let events = journal.events(Seq(0), 10).await.unwrap();
    assert_eq!(
        (&events[0].stream, &events[0].body, events[0].at),
        (&stream("odd"), &body, Time(i64::MIN))
    );
    assert_eq!(events[0].cause.as_deref(), Some(odd));
    assert_eq!(events[1].body, large);
    assert_eq!(journal.pending(Time(0), 1).await.unwrap()[0].body, body);
    assert_eq!(journal.due(Time(0), 1).await.unwrap()[0].timer.key, odd);
    assert_eq!(journal.next_due().await.unwrap(), Some(Time(i64::MIN)));
    assert_sound(&journal).await;
}

async fn what_was_written_is_there_after_reopening<B: Backend>() {
    let (backend, journal) = B::fresh().await;
    one(
        &journal,
        Append {
            timers: vec![set("t", 5)],
            ..claim("x", 0, "ada", "x")
        },
    )
    .await
    .unwrap();
    one(
        &journal,
        Append {
            key: Some("k".to_owned()),
            ..ordering("x", 1, &["a", "b"])
        },
    )
    .await
    .unwrap();
    journal
        .tried(
            EffectId { seq: 2, index: 0 },
            Time(40),
            Some("no room".to_owned()),
        )
        .await
        .unwrap();
    journal
        .done(EffectId { seq: 2, index: 1 }, Time(40))
        .await
        .unwrap();
    journal.submit(command("c")).await.unwrap();
    let before = shown(&journal).await;
    let journal = backend.reopen(journal).await;
    assert_eq!(shown(&journal).await, before);
    let again = one(
        &journal,
        Append {
            key: Some("k".to_owned()),
            ..ordering("x", 1, &["a", "b"])
        },
    )
    .await
    .unwrap();
    assert!(again.repeated);
    assert_eq!(again.effects.len(), 2);
    assert_sound(&journal).await;
}

async fn a_race_for_a_version_has_one_winner<B: Backend>() {
    let (_backend, journal) = B::fresh().await;
    let racers: Vec<_> = (0..16)
        .map(|n| {
            let journal = journal.clone();
            tokio::spawn(async move { one(&journal, claim("x", 0, &format!("agent-{n}"), "x")).await })
        })
        .collect();
    let mut won = 0;
    for racer in racers {
        match racer.await.unwrap() {
            Ok(_) => won += 1,
            Err(Error::VersionConflict {
                found: Version(1), ..
            }) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(won, 1);
    assert_eq!(journal.slots().await.unwrap().len(), 1);
    assert_sound(&journal).await;
}
