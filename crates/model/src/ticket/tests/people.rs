//! Rows of what people, and the programs of their hooks, do with a ticket.

use super::rows::{Story, boss, oid, session};
use crate::Actor;
use crate::attempt::{Event as Of, MOST_MESSAGES, Signal};
use crate::ticket::Event;

fn said() -> Of {
    Of::Said {
        by: boss(),
        text: "mind the tests".to_owned(),
    }
}

#[test]
fn what_the_running_step_was_told_does_not_keep_more_from_being_said() {
    let mut story = Story::running();
    for _ in 0..MOST_MESSAGES {
        story.of(said());
    }
    assert!(story.refuses(Event::Attempt(said())).contains("no more is taken"));
    story.finish(Signal::None, 9);
    story.start();
    story.of(said());
    story.finish(Signal::None, 8);
    let attempt = story.ticket.attempt().unwrap();
    assert_eq!(attempt.messages.len(), 1, "the step has shown all others");
}

fn hook() -> Actor {
    Actor::named("the hook held")
}

fn retried(story: &Story, by: Actor) -> Event {
    Event::Retried {
        by,
        slot_free: false,
        fresh: session(story.ticket.fence, 9),
    }
}

/// Its agent has given it back.
fn blocked() -> Story {
    let mut story = Story::running();
    block(&mut story);
    story
}

fn block(story: &mut Story) {
    let why = "no key".to_owned();
    story.finish(Signal::Blocked { why }, 9);
}

#[test]
fn a_hook_has_a_ticket_tried_again_once_until_a_person_does() {
    let mut story = blocked();
    let by_hook = retried(&story, hook());
    story.then(by_hook.clone());
    story.claim();
    story.of(Of::WorkspaceReady {
        base: oid('a'),
        earlier_work: false,
    });
    story.start();
    block(&mut story);
    assert!(story.refuses(by_hook.clone()).contains("only a person"));
    let rewound = |by| Event::Rewound {
        by,
        commit: oid('a'),
        at: 1,
    };
    assert!(story.refuses(rewound(hook())).contains("only a person"));
    let by_person = retried(&story, boss());
    story.then(by_person);
    assert!(!story.ticket.retried_by_hook && story.ticket.held.is_none());
}

#[test]
fn a_command_in_the_name_of_a_hook_is_the_hooks() {
    assert_eq!(hook().to_string(), "the hook held");
    assert_eq!(
        hook(),
        Actor::Hook {
            key: "held".to_owned()
        }
    );
    assert_eq!(Actor::named("pat"), Actor::person("pat"));
}
