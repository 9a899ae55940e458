//! Any history gives the same answers on every backend.

use model::journal::{EffectId, TimerRef};
use model::{AgentName, Fence, TicketId, Time};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use store::{Answer, Append, Journal, NewCommand, SlotChange, TimerChange, Version};

use crate::support::{Backend, InFile, InMemory, assert_sound, event, shown, stream};

/// Something done to a journal. Names are few, so that they meet.
#[derive(Clone, Debug)]
enum Act {
    Append(Vec<Wish>),
    Tried(EffectId, i64, Option<String>),
    Done(EffectId),
    Submit(String),
    Answer(String, u8),
    Archive(String),
    Reopen,
}

/// An append whose version and fence are given against what is true when it is made.
#[derive(Clone, Debug)]
struct Wish {
    stream: String,
    off: i64,
    fence: Option<i64>,
    new_fence: Option<i64>,
    effects: Vec<u8>,
    timers: Vec<TimerChange>,
    slots: Vec<SlotChange>,
    completes: Option<EffectId>,
    fires: Option<TimerRef>,
    answers: Option<(String, u8)>,
    key: Option<u8>,
}

fn one_of(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(names).prop_map(str::to_owned)
}

fn one_stream() -> impl Strategy<Value = String> {
    one_of(&["a", "b", "c"])
}

fn effect() -> impl Strategy<Value = EffectId> {
    (1..12_u64, 0..2_u32).prop_map(|(seq, index)| EffectId { seq, index })
}

fn rarely<T: Clone + std::fmt::Debug>(
    strategy: impl Strategy<Value = T>,
) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.2, strategy)
}

fn wish() -> impl Strategy<Value = Wish> {
    let timer = || one_of(&["t", "u"]);
    let timers = prop_oneof![
        3 => (timer(), 0..50_i64).prop_map(|(key, due)| TimerChange::Set { key, due: Time(due) }),
        1 => timer().prop_map(|key| TimerChange::Cancel { key }),
    ];
    let agent = || one_of(&["p", "q"]).prop_map(|name| AgentName::new(name).unwrap());
    let slots = prop_oneof![
        2 => (agent(), one_of(&["m", "n"]), 0..2_u64).prop_map(|(agent, ticket, fence)| SlotChange::Take {
            agent,
            ticket: TicketId::new(ticket).unwrap(),
            fence: Fence(fence),
        }),
        1 => agent().prop_map(|agent| SlotChange::Free { agent }),
    ];
    let fires = (one_stream(), timer(), 1..4_u64).prop_map(|(id, key, generation)| TimerRef {
        stream: stream(&id),
        key,
        generation,
    });
    (
        (
            one_stream(),
            prop_oneof![8 => Just(0_i64), 1 => Just(1), 1 => Just(-1)],
        ),
        (rarely(0..2_i64), rarely(0..3_i64)),
        prop::collection::vec(0..3_u8, 1..3),
        (
            prop::collection::vec(timers, 0..3),
            prop::collection::vec(slots, 0..2),
        ),
        (
            rarely(effect()),
            rarely(fires),
            rarely((one_of(&["x", "y"]), 0..2_u8)),
            rarely(0..4_u8),
        ),
    )
        .prop_map(
            |((stream, off), (fence, new_fence), effects, (timers, slots), rest)| {
                let (completes, fires, answers, key) = rest;
                Wish {
                    stream,
                    off,
                    fence,
                    new_fence,
                    effects,
                    timers,
                    slots,
                    completes,
                    fires,
                    answers,
                    key,
                }
            },
        )
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => prop::collection::vec(wish(), 1..3).prop_map(Act::Append),
        1 => (effect(), 0..50_i64, prop::option::of("[a-z]{1,3}")).prop_map(|(effect, run_at, why)| Act::Tried(effect, run_at, why)),
        1 => effect().prop_map(Act::Done),
        1 => one_of(&["x", "y", "z"]).prop_map(Act::Submit),
        1 => (one_of(&["x", "y"]), 0..2_u8).prop_map(|(id, outcome)| Act::Answer(id, outcome)),
        1 => one_stream().prop_map(Act::Archive),
        1 => Just(Act::Reopen),
    ]
}

/// Makes the append that is wished, against the journal as it is.
async fn made(wish: &Wish, journal: &impl Journal) -> Append {
    let row = journal.load(&stream(&wish.stream)).await.unwrap();
    let (version, fence) = row.map_or((Version(0), Fence(0)), |stream| (stream.version, stream.fence));
    let expected = version.0.saturating_add_signed(wish.off);
    let near = |off: i64| Fence(fence.0.saturating_add_signed(off));
    let events = (1..).zip(&wish.effects).map(|(n, effects)| {
        let mut event = event("happened", expected + n);
        event.effects = (0..*effects).map(|effect| effect.to_string()).collect();
        event
    });
    Append {
        fence: wish.fence.map(near),
        new_fence: wish.new_fence.map(near),
        events: events.collect(),
        timers: wish.timers.clone(),
        slots: wish.slots.clone(),
        completes: wish.completes,
        fires: wish.fires.clone(),
        answers: wish.answers.as_ref().map(|(command, outcome)| Answer {
            command: command.as_str().into(),
            outcome: outcome.to_string(),
        }),
        key: wish.key.map(|key| format!("key-{key}")),
        ..Append::new(stream(&wish.stream), Version(expected), Time(7))
    }
}

/// Does the act, and describes its result.
async fn done(act: &Act, journal: &impl Journal) -> String {
    match act {
        Act::Append(wishes) => {
            let mut batch = Vec::new();
            for wish in wishes {
                batch.push(made(wish, journal).await);
            }
            format!("{:?}", journal.append(batch).await)
        }
        Act::Tried(effect, run_at, why) => {
            format!("{:?}", journal.tried(*effect, Time(*run_at), why.clone()).await)
        }
        Act::Done(effect) => format!("{:?}", journal.done(*effect, Time(9)).await),
        Act::Submit(id) => {
            let command = NewCommand {
                id: id.as_str().into(),
                by: "me".to_owned(),
                at: Time(3),
                body: "{}".to_owned(),
            };
            format!("{:?}", journal.submit(command).await)
        }
        Act::Answer(id, outcome) => {
            format!(
                "{:?}",
                journal
                    .answer(&id.as_str().into(), outcome.to_string(), Time(4))
                    .await
            )
        }
        Act::Archive(id) => format!("{:?}", journal.archive(&stream(id)).await),
        Act::Reopen => String::new(),
    }
}

async fn same_answers(acts: Vec<Act>) -> TestCaseResult {
    let (in_memory, mut memory) = InMemory::fresh().await;
    let (in_file, mut file) = InFile::fresh().await;
    for act in &acts {
        prop_assert_eq!(done(act, &memory).await, done(act, &file).await, "{:?}", act);
        if matches!(act, Act::Reopen) {
            memory = in_memory.reopen(memory).await;
            file = in_file.reopen(file).await;
        }
    }
    prop_assert_eq!(shown(&memory).await, shown(&file).await);
    for seq in 1..12 {
        for index in 0..2 {
            let id = EffectId { seq, index };
            prop_assert_eq!(memory.effect(id).await.unwrap(), file.effect(id).await.unwrap());
        }
    }
    for id in ["x", "y", "z"] {
        let id = id.into();
        prop_assert_eq!(
            memory.command(&id).await.unwrap(),
            file.command(&id).await.unwrap()
        );
    }
    assert_sound(&memory).await;
    assert_sound(&file).await;
    Ok(())
}

/// Appends that come at once share a transaction, and their answers must not show it.
async fn same_answers_at_once(before: Vec<Act>, crowd: Vec<Vec<Wish>>) -> TestCaseResult {
    let (_in_memory, memory) = InMemory::fresh().await;
    let (_in_file, file) = InFile::fresh().await;
    for act in &before {
        prop_assert_eq!(done(act, &memory).await, done(act, &file).await, "{:?}", act);
    }
    let mut one_by_one = Vec::new();
    let mut at_once = Vec::new();
    for wishes in &crowd {
        // Each is made against what the ones before it leave, as it is in memory.
        let mut batch = Vec::new();
        for wish in wishes {
            batch.push(made(wish, &memory).await);
        }
        one_by_one.push(format!("{:?}", memory.append(batch.clone()).await));
        let file = file.clone();
        at_once.push(tokio::spawn(
            async move { format!("{:?}", file.append(batch).await) },
        ));
    }
    for (one, spawned) in one_by_one.into_iter().zip(at_once) {
        prop_assert_eq!(one, spawned.await.unwrap());
    }
    prop_assert_eq!(shown(&memory).await, shown(&file).await);
    assert_sound(&file).await;
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_history_gives_the_same_answers(acts in prop::collection::vec(act(), 1..30)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(same_answers(acts))?;
    }

    #[test]
    fn a_crowd_gets_the_answers_that_each_would_get(
        before in prop::collection::vec(act(), 0..8),
        crowd in prop::collection::vec(prop::collection::vec(wish(), 1..3), 2..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(same_answers_at_once(before, crowd))?;
    }
}
