//! Chance: sites that can go wrong, each with its own stream of numbers.
//!
//! A fault is named by its site and by how often the site was passed before. Leaving one out leaves the
//! numbers of every other site as they were: therefore a failing run can shrink.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use crate::Case;
use crate::rng::{Rng, mix};

macro_rules! sites {
    ($($(#[doc = $doc:literal])* $site:ident $name:literal)*) => {
        /// A place where something can go wrong, or where a person or the machine acts without an order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Site {
            $($(#[doc = $doc])* $site,)*
        }

        impl Site {
            /// All sites.
            pub const ALL: &[Site] = &[$(Self::$site,)*];

            /// Its name, in traces and regression files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$site => $name,)*
                }
            }
        }
    };
}

sites! {
    /// A person does something.
    Person "person"
    /// The engine is killed between two inputs, at times with an effect performed whose report never comes.
    Kill "kill"
    /// The engine is killed while it starts: after its first write, or with the outstanding work half done.
    /// Several times in a row, if chance has it so.
    KillAtStart "kill_at_start"
    /// The journal cannot be written: the decision is lost.
    AppendLost "append_lost"
    /// The journal reports that it could not be written, and it was.
    AppendUntold "append_untold"
    /// The engine is killed when an effect is half performed.
    KillHalfWay "kill_half_way"
    /// The engine is killed when an effect is performed, before its report comes.
    KillUntold "kill_untold"
    /// The engine is killed after a write, before it does anything about it.
    KillAfterWrite "kill_after_write"
    /// The engine is killed while it notes a result that needs no write of its own.
    KillWhileNoting "kill_while_noting"
    /// An effect fails outside anyone's reach.
    Sick "sick"
    /// The disk is full for a while: effects fail, and so does the journal.
    DiskFull "disk_full"
    /// A step goes wrong.
    Clumsy "clumsy"
    /// An agent meddles: it moves the target, or edits ticket files.
    Meddle "meddle"
    /// A process of an agent outlives it, and goes on writing until it is swept away.
    Straggler "straggler"
    /// An agent prints more than anyone reads.
    Flood "flood"
    /// The engine is up for one command only.
    Errand "errand"
    /// An input waits for the next one before anything is written.
    Batch "batch"
    /// An engine that was thought dead writes once more.
    Zombie "zombie"
    /// The executor of a dead engine report to the next one.
    Late "late"
    /// An executor is slow: its report comes minutes later.
    SlowExecutor "slow_executor"
    /// The core gets the same input twice.
    Twice "twice"
    /// A tick that nobody waited for.
    EarlyTick "early_tick"
    /// A timer fires before its time.
    EarlyTimer "early_timer"
    /// The engine is suspended for a while, and goes on.
    Suspended "suspended"
    /// The machine's clock is set, forwards or back.
    ClockSet "clock_set"
    /// The clock is another one when the engine starts.
    ClockAtStart "clock_at_start"
    /// Someone takes commits back from the target.
    Rewrite "rewrite"
    /// Someone deletes the target's branch, for a while.
    Unborn "unborn"
    /// Another process keeps the journal locked for a while: nothing is decided, and no input is handled.
    Busy "busy"
    /// An executor's thread dies when it has performed its effect: nobody gets the result, only the report
    /// that it failed.
    Dropped "dropped"
    /// A ticket's file is moved away, and comes back as it was.
    Away "away"
    /// A shim is frozen for a while: suspended by a signal, or stuck in the kernel.
    Frozen "frozen"
    /// A check is killed or frozen, or cannot be run.
    CheckStruck "check_struck"
    /// An agent calls tools in its step, and at times in the name of an earlier one.
    Tools "tools"
    /// An agent delegates parts of its task, asks how they stand, or takes one back.
    Delegates "delegates"
    /// An agent plans, breaks its work up into tickets, and says that it is done.
    Parts "parts"
    /// A step shows no sign of life for a while.
    Silence "silence"
    /// The engine is killed when a hook got a notice, before that is noted.
    KillUnnoted "kill_unnoted"
    /// An agent leaves what crew refuses: an unfinished merge, or a file that is too large.
    Refused "refused"
    /// Somebody deletes a workspace, with what is in it.
    Deleted "deleted"
    /// A person commits in a workspace.
    InFolder "in_folder"
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One thing that went wrong: its site, and how often the site was passed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The site.
    pub site: Site,
    /// The passage, from 0.
    pub hit: u32,
}

impl Fault {
    /// Reads what `Display` writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (name, hit) = text.split_once('#')?;
        Some(Self {
            site: Site::ALL.iter().copied().find(|site| site.name() == name)?,
            hit: hit.parse().ok()?,
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.site, self.hit)
    }
}

/// The rate at which each site strikes, in a thousand passages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rates([u16; Site::ALL.len()]);

impl Rates {
    /// Nothing goes wrong.
    pub(crate) fn none() -> Self {
        Self([0; Site::ALL.len()])
    }

    pub(crate) fn of(&self, site: Site) -> u16 {
        self.0[site as usize]
    }

    pub(crate) fn set(&mut self, site: Site, per_mille: u64) {
        self.0[site as usize] = u16::try_from(per_mille).unwrap_or(u16::MAX);
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = Site::ALL.iter().filter(|site| self.of(**site) > 0);
        let on: Vec<String> = on.map(|site| format!("{site} {}‰", self.of(*site))).collect();
        f.write_str(if on.is_empty() { "none" } else { "" })?;
        f.write_str(&on.join(", "))
    }
}

/// Everything that chance decides in one run.
#[derive(Debug)]
pub(crate) struct Chance {
    seed: u64,
    rates: Rates,
    /// The number of times that each site was passed.
    hits: [u32; Site::ALL.len()],
    /// Faults that strike in this run whatever the numbers are, and those that do not.
    with: BTreeSet<Fault>,
    without: BTreeSet<Fault>,
    /// The sites that strike after one of those has: the next passage of the first of these, and then of the
    /// next.
    then: VecDeque<Site>,
    /// One of [`Chance::with`] has struck.
    begun: bool,
    /// Nothing goes wrong any more.
    pub(crate) calm: bool,
    /// Faults that struck, in order.
    pub(crate) struck: Vec<Fault>,
    /// In which order things happen that could happen in any.
    pub(crate) order: Rng,
}

impl Chance {
    pub(crate) fn new(case: &Case, rates: Rates) -> Self {
        Self {
            seed: case.seed,
            rates,
            hits: [0; Site::ALL.len()],
            with: case.with.clone(),
            without: case.without.clone(),
            then: case.then.iter().copied().collect(),
            begun: false,
            calm: false,
            struck: Vec::new(),
            order: Rng::new(mix(case.seed) ^ 0x0d_e4),
        }
    }

    /// Passes a site: gives, if it strikes now, the numbers that decide how.
    pub(crate) fn strikes(&mut self, site: Site) -> Option<Rng> {
        if self.calm {
            return None;
        }
        let hit = self.hits[site as usize];
        self.hits[site as usize] += 1;
        let rate = u64::from(self.rates.of(site));
        if rate == 0 && self.with.is_empty() {
            return None;
        }
        let name = (site as u64 + 1) << 32 | u64::from(hit);
        let mut rng = Rng::new(self.seed ^ mix(name));
        let fault = Fault { site, hit };
        let drawn = rng.below(1000) < rate && !self.without.contains(&fault);
        let next = self.begun && self.then.front() == Some(&site);
        if next {
            self.then.pop_front();
        }
        let ordered = next || self.with.contains(&fault);
        if !drawn && !ordered {
            return None;
        }
        self.begun |= ordered;
        self.struck.push(fault);
        Some(rng)
    }

    /// The number of times that each site was passed.
    pub(crate) fn hits(&self) -> [u32; Site::ALL.len()] {
        self.hits
    }

    /// The numbers of something that has a name of its own, whatever happened before.
    pub(crate) fn of(&self, name: &str) -> Rng {
        let digest = name.bytes().fold(0xcbf2_9ce4_8422_2325, |state: u64, byte| {
            (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Rng::new(self.seed ^ mix(digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_read_as_it_is_written() {
        for site in Site::ALL {
            let fault = Fault { site: *site, hit: 7 };
            assert_eq!(Fault::parse(&fault.to_string()), Some(fault));
        }
        assert_eq!(Fault::parse("kill"), None);
        assert_eq!(Fault::parse("nowhere#1"), None);
    }

    #[test]
    fn leaving_a_fault_out_leaves_the_others() {
        let mut rates = Rates::none();
        rates.set(Site::Kill, 500);
        let passed = |without: BTreeSet<Fault>| {
            let mut chance = Chance::new(
                &Case {
                    without,
                    ..Case::of(3)
                },
                rates,
            );
            for _ in 0..50 {
                chance.strikes(Site::Kill);
            }
            chance.struck
        };
        let mut all = passed(BTreeSet::new());
        let one = all.remove(4);
        assert_eq!(passed(BTreeSet::from([one])), all);
    }
}
