//! Random events, keys and sizes: the dashboard can always be drawn.

use proptest::prelude::*;
use tui::{Key, Msg};

use crate::scene::{Scene, id};

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        8 => proptest::char::range(' ', '~').prop_map(Key::Char),
        1 => any::<char>().prop_map(Key::Char),
        1 => proptest::char::range('a', 'z').prop_map(Key::Ctrl),
        6 => proptest::sample::select(vec![
            Key::Enter, Key::Escape, Key::Tab, Key::BackTab, Key::Backspace, Key::Delete, Key::Up, Key::Down,
            Key::Left, Key::Right, Key::PageUp, Key::PageDown, Key::Home, Key::End,
        ]),
    ]
}

#[derive(Clone, Debug)]
enum Step {
    Press(Key),
    Paste(String),
    Resize(u16, u16),
    /// The n-th event that fits the n-th ticket.
    Happen(usize, usize),
    Print(Vec<u8>),
    Pass(u64),
    Forget,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => key().prop_map(Step::Press),
        1 => ".{0,20}".prop_map(Step::Paste),
        2 => (1_u16..220, 1_u16..60).prop_map(|(columns, lines)| Step::Resize(columns, lines)),
        8 => (0_usize..6, 0_usize..200).prop_map(|(ticket, event)| Step::Happen(ticket, event)),
        2 => proptest::collection::vec(any::<u8>(), 0..200).prop_map(Step::Print),
        1 => (0_u64..100_000).prop_map(Step::Pass),
        1 => Just(Step::Forget),
    ]
}

const NAMES: [&str; 6] = ["t-ask", "t-hold", "t-check", "t-line", "t-work", "t-new"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn it_is_always_drawn(steps in proptest::collection::vec(step(), 1..80)) {
        let mut scene = Scene::busy(80, 24);
        let (mut columns, mut lines) = (80, 24);
        for step in steps {
            match step {
                Step::Press(key) => drop(scene.press(key)),
                Step::Paste(text) => scene.tell(Msg::Pasted(text)),
                Step::Resize(c, l) => {
                    (columns, lines) = (c, l);
                    scene.tell(Msg::Resized(c, l));
                }
                Step::Happen(ticket, event) => {
                    let name = NAMES[ticket];
                    let events = model::samples::ticket::alphabet(&scene.now(name));
                    if let Some(sample) = events.into_iter().cycle().nth(event) {
                        scene.try_ticket(name, sample.event);
                    }
                }
                Step::Print(bytes) => {
                    if scene.now("t-work").attempt().is_some() {
                        scene.print("t-work", &bytes);
                    }
                }
                Step::Pass(seconds) => scene.pass(seconds),
                Step::Forget => scene.tell(Msg::History { ticket: id("t-work"), rows: Vec::new() }),
            }
            let seen = scene.screen(columns, lines);
            prop_assert!(seen.chars().all(|c| c == '\n' || !c.is_control()), "{seen:?}");
        }
    }

    #[test]
    fn every_size_from_one_by_one_on_is_drawn(columns in 1_u16..260, lines in 1_u16..80, keys in proptest::collection::vec(key(), 0..6)) {
        let mut scene = Scene::busy(columns, lines);
        for key in keys {
            scene.press(key);
        }
        scene.screen(columns, lines);
    }
}

#[test]
fn the_smallest_sizes_are_drawn_in_every_state() {
    for (columns, lines) in [
        (1, 1),
        (2, 1),
        (1, 2),
        (3, 3),
        (5, 4),
        (10, 2),
        (70, 16),
        (140, 16),
        (300, 5),
    ] {
        for opening in ["", "?", "/", "4a", "K", "D", "S", "s", "n", "6z", "7", "3d"] {
            let mut scene = Scene::busy(columns, lines);
            scene.type_in(opening);
            scene.screen(columns, lines);
        }
    }
}
