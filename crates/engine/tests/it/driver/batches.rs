//! Batches: what is made durable together, and to whom it is an answer.

use engine::driver::Event;
use model::command::{Command, OnStop};

use super::shell::{Shell, ended};
use crate::scene::{failed, id, name};
use crate::states;

#[test]
fn a_stop_that_the_driver_asked_for_answers_nobody() {
    for running in [OnStop::Finish, OnStop::Kill, OnStop::Leave] {
        let (mut shell, _) = Shell::up(states::working());
        for _ in 0..2 {
            let batch = shell.stop(running).batch;
            assert!(batch.answers.is_empty());
            assert!(batch.writes.iter().all(|write| write.answers.is_none()));
        }
    }
}

#[test]
fn a_stop_in_the_inbox_is_answered() {
    let (mut shell, _) = Shell::up(states::working());
    let batch = shell
        .ask([Command::Stop {
            running: OnStop::Finish,
        }])
        .batch;
    let answered = batch.writes.iter().filter_map(|write| write.answers.as_ref());
    assert_eq!(answered.count(), 1);
}

#[test]
fn the_events_of_one_batch_are_decided_on_in_order() {
    let (mut shell, _) = Shell::up(states::working());
    let end = ended(shell.run(), failed(model::attempt::Class::Transient));
    let turned = shell.handle([end, Event::StopAsked(OnStop::Kill), Event::InboxRead(Vec::new())]);
    assert_eq!(turned.facts(), ["t-1 stop_ordered", "t-1 step_failed"]);
}

#[test]
fn the_inbox_is_read_from_the_last_command_on() {
    let (mut shell, _) = Shell::up(states::working());
    shell.ask([
        Command::Kill { agent: name("bob") },
        Command::Kill { agent: name("cat") },
    ]);
    assert_eq!(shell.driver.inbox(), 2);
    shell.ask([]);
    assert_eq!(shell.driver.inbox(), 2);
}

#[test]
fn archived_tickets_that_events_are_about_are_named() {
    let (mut shell, _) = Shell::up(crate::scene::Scene::new());
    shell
        .scene
        .edit("t-1", |file| drop(file.spec.deps.replace(id("t-2"))));
    let observed = shell.observed(shell.driver.look());
    let unknown = shell
        .driver
        .unknown(&[observed, Event::StopAsked(OnStop::Finish)]);
    assert_eq!(unknown, [id("t-1"), id("t-2")].into());
    let command = states::drop_it();
    let (number, at) = (1, shell.scene.now);
    let (id_of_it, by) = ("asked-1".to_owned(), "someone".to_owned());
    let asked = model::command::Asked {
        number,
        id: id_of_it,
        by,
        at,
        command,
    };
    assert_eq!(
        shell.driver.unknown(&[Event::InboxRead(vec![asked])]),
        [id("t-1")].into()
    );
}
