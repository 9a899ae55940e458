//! One queue, worked off while crew dies where it is told to, with a person who does what they are needed
//! for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use crate::kill::actions::Seen;
use crate::kill::oracle;
use crate::kill::rig::Rig;
use crate::kill::world::World;
use testkit::wait;

/// A point, and which of its hits, from 1.
pub(crate) type Hit = (String, u64);

/// Something that the person does once, when its time has come.
pub(crate) type Action = (&'static str, fn(&Life, &Seen) -> bool, fn(&mut Life, &Seen));

/// One queue, worked off.
pub(crate) struct Life {
    pub(crate) rig: Rig,
    /// Where to die.
    points: Vec<Hit>,
    /// The actions that are done.
    pub(crate) done: BTreeSet<&'static str>,
}

impl Life {
    pub(crate) fn new(world: World, points: Vec<Hit>) -> Self {
        let mut rig = Rig::new(world);
        rig.is_anyway = true;
        if !points.is_empty() {
            let each: Vec<String> = points
                .iter()
                .map(|(point, hit)| format!("{point}:{hit}"))
                .collect();
            rig.arm([Some(each.join(","))]);
        }
        Self {
            rig,
            points,
            done: BTreeSet::new(),
        }
    }

    pub(crate) fn touch(&self, name: &str) {
        fs::write(self.rig.world.outside(name), "").unwrap();
    }

    pub(crate) fn is_there(&self, name: &str) -> bool {
        self.rig.world.outside(name).exists()
    }

    /// Works the queue off. `each`: done at every look. Panics if it cannot be worked off, or anybody lives
    /// who was to die.
    pub(crate) fn play(&mut self, actions: &[Action], each: fn(&Self, &Seen)) {
        self.rig.begin();
        let ended = wait::within(|| {
            let ended = self.rig.ended();
            if ended.is_none() {
                self.act(actions, each);
            }
            ended
        });
        let log = || oracle::log(&self.rig.world);
        let status = ended.unwrap_or_else(|| {
            let done = &self.done;
            panic!("the queue is not worked off; the person did {done:?}\n{}", log())
        });
        assert!(status.success(), "{status}\n{}", log());
        assert_eq!(
            self.rig.deaths,
            self.points.len() - self.missed().len(),
            "everybody died who was to"
        );
    }

    /// Does what its time has come for.
    fn act(&mut self, actions: &[Action], each: fn(&Self, &Seen)) {
        // The journal is read from its beginning.
        wait::pause(Duration::from_millis(100));
        let Some(seen) = Seen::of(&self.rig.world) else {
            return;
        };
        each(self, &seen);
        let now = actions
            .iter()
            .find(|(name, is_time, _)| !self.done.contains(name) && is_time(self, &seen));
        if let Some((name, _, act)) = now {
            act(self, &seen);
            self.done.insert(*name);
        }
    }

    /// The points that nobody came by. Of facts that become durable together, whoever dies after the first
    /// does not come by the others.
    pub(crate) fn missed(&self) -> Vec<&Hit> {
        let passed = self.rig.hits(0);
        let is_missed = |(point, hit): &&Hit| passed.get(point).is_none_or(|passed| passed < hit);
        self.points.iter().filter(is_missed).collect()
    }

    /// Panics unless so many points, at most, of a hundred were missed. `counts`: whether one does.
    pub(crate) fn assert_missed(&self, at_most: usize, counts: impl Fn(&Hit) -> bool) {
        let mut missed = self.missed();
        println!("{} deaths; nobody came by {missed:?}", self.rig.deaths);
        missed.retain(|hit| counts(hit));
        assert!(
            missed.len() * 100 <= self.points.len() * at_most,
            "nobody came by {missed:?}"
        );
    }
}

/// Works a queue off once for each of these, side by side: what the target then holds, and how often the
/// points were passed.
pub(crate) fn play(
    deaths: Vec<Vec<Hit>>,
    life: impl Fn(Vec<Hit>) -> Life + Sync,
) -> Vec<(String, BTreeMap<String, u64>)> {
    std::thread::scope(|scope| {
        let play = |points| {
            let life = &life;
            scope.spawn(move || {
                let life = life(points);
                (life.rig.content(), life.rig.hits(0))
            })
        };
        let lives: Vec<_> = deaths.into_iter().map(play).collect();
        lives.into_iter().map(|life| life.join().unwrap()).collect()
    })
}

/// Points, at their first hit each.
pub(crate) fn first(points: Vec<String>) -> Vec<Hit> {
    points.into_iter().map(|point| (point, 1)).collect()
}

/// Panics unless each of these points was passed.
pub(crate) fn assert_passed(points: &[String], passed: &BTreeMap<String, u64>) {
    let missing: Vec<_> = points
        .iter()
        .filter(|point| !passed.contains_key(*point))
        .collect();
    assert!(missing.is_empty(), "nobody came by {missing:?}");
}
