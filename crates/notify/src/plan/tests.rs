use model::view::{Kind, Snapshot};
use model::{Look, TicketId};

use super::*;
use crate::secrets::Secrets;

/// Minutes since midnight at the beginning of each test.
const MORNING: u16 = 8 * 60;

/// A way of telling, the items that wait, and a clock.
struct Rig {
    settings: Settings,
    kept: Kept,
    items: Vec<(Item, Time)>,
    now: Time,
    minute: u16,
}

impl Rig {
    fn new(keys: &str) -> Self {
        let text = format!("[[to]]\ncommand = [\"tell\"]\nafter = \"5s\"\n{keys}");
        Self {
            settings: Settings::parse(&text, "notify.toml").unwrap(),
            kept: Kept::default(),
            items: Vec::new(),
            now: Time(1_000_000_000),
            minute: MORNING,
        }
    }

    fn comes(&mut self, id: &str, ticket: &str, urgency: Urgency) {
        let item = Item {
            id: id.to_owned(),
            kind: Kind::Question,
            urgency,
            ticket: Some(TicketId::new(ticket).unwrap()),
            agent: None,
            title: "title".to_owned(),
            since: Some(self.now),
            why: "why".to_owned(),
            printed: None,
            secrets: Vec::new(),
            until: None,
            acts: Vec::new(),
        };
        self.items.push((item, self.now));
    }

    fn goes(&mut self, id: &str) {
        self.items.retain(|(item, _)| item.id != id);
    }

    fn passes(&mut self, seconds: u64) {
        self.now = self.now + Duration::from_secs(seconds);
    }

    /// The next time of interest, in seconds from now.
    fn looks(&mut self) -> Option<u64> {
        let facts = Facts {
            repository: "project",
            url: "http://x",
            crew: &Snapshot::default(),
            look: Look {
                now: self.now,
                engine: true,
            },
            secrets: &Secrets::default(),
        };
        let items: Vec<Waiting<'_>> = self
            .items
            .iter()
            .map(|(item, since)| Waiting { item, since: *since })
            .collect();
        let at = self.at();
        let next = plan(&mut self.kept, &self.settings, &items, &facts, at);
        next.map(|next| next.since(self.now).as_secs())
    }

    fn at(&self) -> Moment {
        Moment {
            now: self.now,
            minute: self.minute,
        }
    }

    /// Looks, and has everything taken that is due: the messages' ids and whether they tell that it waits.
    fn takes(&mut self) -> Vec<(String, bool)> {
        self.looks();
        let to = self.settings.to[0].clone();
        let mut took = Vec::new();
        while let Some(message) = self.kept.begin(&to, self.at(), false, &mut None) {
            self.kept.delivered(&to, &message);
            took.push((message.id, message.waits));
        }
        took
    }

    fn fails(&mut self) -> Option<bool> {
        self.looks();
        let to = self.settings.to[0].clone();
        let message = self.kept.begin(&to, self.at(), false, &mut None)?;
        Some(self.kept.failed(&to, &message, "why".to_owned(), self.now))
    }
}

fn waits(id: &str) -> (String, bool) {
    (id.to_owned(), true)
}

#[test]
fn an_item_is_told_once_after_it_has_waited() {
    let mut rig = Rig::new("");
    rig.comes("a", "t-1", Urgency::Word);
    rig.comes("p", "t-2", Urgency::Parked);
    rig.passes(2);
    assert_eq!(rig.looks(), Some(3), "it is told after 5 s");
    assert_eq!(rig.takes(), []);
    rig.passes(3);
    assert_eq!(rig.takes(), [waits("a")]);
    rig.passes(3600);
    assert_eq!(rig.takes(), []);
    rig.goes("a");
    assert_eq!(rig.takes(), [], "it is not wanted that it is settled");
    // The next one of the same id is another one.
    rig.comes("a", "t-1", Urgency::Word);
    rig.passes(5);
    assert_eq!(rig.takes(), [waits("a")]);
}

#[test]
fn what_goes_before_it_is_told_is_never_told() {
    let mut rig = Rig::new("settled = true\n");
    rig.comes("a", "t-1", Urgency::Word);
    rig.passes(4);
    rig.looks();
    rig.goes("a");
    rig.passes(10);
    assert_eq!(rig.takes(), []);
}

#[test]
fn messages_about_one_ticket_are_a_minute_apart_and_joined() {
    let mut rig = Rig::new("settled = true\n");
    rig.comes("a", "t-1", Urgency::Word);
    rig.passes(5);
    assert_eq!(rig.takes(), [waits("a")]);
    rig.comes("b", "t-1", Urgency::Word);
    rig.comes("c", "t-1", Urgency::Everyone);
    rig.comes("d", "t-2", Urgency::Word);
    rig.passes(10);
    assert_eq!(rig.takes(), [waits("d")], "another ticket does not wait");
    assert_eq!(rig.looks(), Some(50));
    rig.passes(50);
    let joined = rig.takes();
    assert_eq!(joined, [waits(&format!("joined:t-1:{}", rig.now.0))]);
    // It is settled once all of it is.
    rig.goes("b");
    assert_eq!(rig.takes(), []);
    rig.goes("c");
    assert_eq!(rig.takes(), [(joined[0].0.clone(), false)]);
}

#[test]
fn many_at_once_are_one_message() {
    let mut rig = Rig::new("");
    for n in 1..=6 {
        rig.comes(&format!("i-{n}"), &format!("t-{n}"), Urgency::Word);
    }
    rig.passes(5);
    assert_eq!(rig.takes(), [waits(&format!("several:{}", rig.now.0))]);
    let told = &rig.kept.to.values().next().unwrap().told;
    assert_eq!(told.len(), 6);
    assert!(
        told.values()
            .all(|told| told.title == "6 things wait for you (project)")
    );
}

#[test]
fn parked_items_are_told_together_at_most_so_often() {
    let mut rig = Rig::new("kinds = [\"word\", \"parked\"]\nsettled = true\ndigest = \"30m\"\n");
    rig.comes("p-1", "t-1", Urgency::Parked);
    rig.passes(10 * 60);
    rig.comes("p-2", "t-2", Urgency::Parked);
    rig.comes("w", "t-3", Urgency::Word);
    rig.passes(5);
    assert_eq!(rig.takes(), [waits("w")], "only parked ones wait");
    assert_eq!(rig.looks(), Some(20 * 60 - 5));
    rig.passes(20 * 60);
    assert_eq!(rig.takes(), [waits(&format!("digest:{}", rig.now.0))]);
    rig.comes("p-3", "t-4", Urgency::Parked);
    rig.passes(29 * 60);
    assert_eq!(rig.takes(), []);
    rig.passes(60);
    assert_eq!(rig.takes(), [waits("p-3")]);
    rig.items.clear();
    assert_eq!(
        rig.takes(),
        [("w".to_owned(), false)],
        "of a digest nothing is told as settled"
    );
}

#[test]
fn at_quiet_hours_only_what_holds_everyone_up_is_told_and_the_rest_afterwards() {
    let mut rig = Rig::new("quiet = \"07:00-09:00\"\nsettled = true\n");
    rig.comes("w", "t-1", Urgency::Word);
    rig.comes("gone", "t-2", Urgency::Word);
    rig.comes("e", "t-3", Urgency::Everyone);
    rig.passes(5);
    assert_eq!(rig.takes(), [waits("e")]);
    assert_eq!(rig.looks(), Some(60), "it is looked again whether it is quiet");
    rig.goes("gone");
    rig.goes("e");
    assert_eq!(rig.takes(), [("e".to_owned(), false)]);
    rig.minute = 9 * 60;
    assert_eq!(rig.takes(), [waits("w")]);
    // What was told before is told as settled after.
    rig.minute = MORNING;
    rig.goes("w");
    assert_eq!(rig.takes(), []);
    rig.minute = 9 * 60;
    assert_eq!(rig.takes(), [("w".to_owned(), false)]);
}

#[test]
fn a_program_that_fails_is_tried_after_growing_pauses_and_given_up_after_a_day() {
    let mut rig = Rig::new("settled = true\n");
    rig.comes("a", "t-1", Urgency::Word);
    rig.passes(5);
    let mut pauses = Vec::new();
    let mut waited = 0;
    loop {
        let given_up = rig.fails().unwrap();
        if given_up {
            break;
        }
        assert_eq!(rig.fails(), None, "not before its time");
        let to = rig.settings.to[0].clone();
        let failed = rig.kept.failure(&to).unwrap().clone();
        let pause = Time(failed.next).since(rig.now).as_secs();
        pauses.push(pause);
        waited += pause;
        rig.passes(pause);
    }
    assert_eq!(pauses[..8], [5, 10, 20, 40, 80, 160, 300, 300]);
    assert!((24 * 3600..24 * 3600 + 300).contains(&waited), "{waited}");
    rig.passes(301);
    assert_eq!(rig.takes(), [], "it is given up");
    rig.goes("a");
    assert_eq!(
        rig.takes(),
        [],
        "nobody has got it, so nobody is told that it is settled"
    );
}

#[test]
fn one_that_fails_is_given_up_when_it_is_settled() {
    let mut rig = Rig::new("settled = true\n");
    rig.comes("a", "t-1", Urgency::Word);
    rig.comes("b", "t-2", Urgency::Word);
    rig.passes(5);
    assert_eq!(rig.fails(), Some(false));
    rig.goes("a");
    rig.passes(5);
    assert_eq!(rig.takes(), [waits("b")]);
}

#[test]
fn an_item_that_goes_while_a_program_has_it_is_settled_once_it_is_known_how_that_ended() {
    for has_failed in [false, true] {
        let mut rig = Rig::new("settled = true\n");
        rig.comes("a", "t-1", Urgency::Word);
        rig.passes(5);
        rig.looks();
        let to = rig.settings.to[0].clone();
        let message = rig.kept.begin(&to, rig.at(), false, &mut None).unwrap();
        rig.goes("a");
        rig.looks();
        if has_failed {
            rig.kept.failed(&to, &message, String::new(), rig.now);
        } else {
            rig.kept.delivered(&to, &message);
        }
        rig.passes(5);
        let expected = if has_failed {
            vec![]
        } else {
            vec![("a".to_owned(), false)]
        };
        assert_eq!(rig.takes(), expected);
    }
}

#[test]
fn a_way_that_is_changed_is_a_new_one_that_is_told_what_waits() {
    let mut rig = Rig::new("");
    rig.comes("a", "t-1", Urgency::Word);
    rig.passes(5);
    assert_eq!(rig.takes(), [waits("a")]);
    rig.settings = Settings::parse("[[to]]\ncommand = [\"call\"]\n", "notify.toml").unwrap();
    assert_eq!(rig.takes(), [waits("a")]);
    assert_eq!(rig.kept.to.len(), 1, "what the old one was told is forgotten");
}
