//! Events of the machine under the engine: its clock is set, it is suspended, its disk fills, its repository
//! is tampered with.

use std::time::Duration;

use model::ticket::Origin;
use model::{TicketId, Time};

use super::Simulation;
use crate::Who;
use crate::chance::Site;
use crate::folders::Strike;
use crate::rng::Rng;

impl Simulation {
    /// The machine's own faults of a turn.
    pub(super) fn world_turns(&mut self) {
        if let Some(rng) = self.chance.strikes(Site::ClockSet) {
            self.set_clock(rng);
        }
        if let Some(mut rng) = self.chance.strikes(Site::Suspended) {
            let to = Time(self.world.now.0 + rng.ms(1_000, 600_000));
            self.note(Who::World, || "the engine is suspended for a while".to_owned());
            self.world.advance(to);
        }
        if let Some(mut rng) = self.chance.strikes(Site::DiskFull)
            && self.world.full_until.is_none()
        {
            self.world.full_until = Some(Time(self.world.now.0 + rng.ms(1_000, 120_000)));
            self.note(Who::World, || "the disk is full".to_owned());
        }
        if let Some(mut rng) = self.chance.strikes(Site::Busy)
            && self.world.busy_until.is_none()
        {
            self.world.busy_until = Some(Time(self.world.now.0 + rng.ms(1_000, 60_000)));
            self.note(Who::World, || "another has the journal locked".to_owned());
        }
        if let Some(mut rng) = self.chance.strikes(Site::Unborn)
            && self.world.unborn_until.is_none()
        {
            self.world.unborn_until = Some(Time(self.world.now.0 + rng.ms(1_000, 120_000)));
            self.note(Who::World, || {
                "someone deletes the target's branch, for a while".to_owned()
            });
        }
        if let Some(mut rng) = self.chance.strikes(Site::Away) {
            self.move_a_file_away(&mut rng);
        }
        for (site, what) in [(Site::Deleted, Strike::Delete), (Site::InFolder, Strike::Work)] {
            if let Some(mut rng) = self.chance.strikes(site)
                && let Some(done) = self.world.strike_workspace(what, &mut rng)
            {
                self.note(Who::World, || done);
            }
        }
        if let Some(mut rng) = self.chance.strikes(Site::Rewrite) {
            let commits = usize::try_from(rng.from(1, 2)).unwrap_or(1);
            self.world.restore(commits);
            self.note(Who::World, || {
                format!("someone takes {commits} commits back from the target")
            });
        }
    }

    /// For a moment, as a person does who moves things about, or for longer, as with another branch checked
    /// out.
    fn move_a_file_away(&mut self, rng: &mut Rng) {
        let ids: Vec<TicketId> = self.world.files.files.keys().cloned().collect();
        let Some(id) = rng.pick(&ids) else { return };
        let ms = if rng.percent(60) {
            rng.ms(20, 500)
        } else {
            rng.ms(500, 30_000)
        };
        let (now, debounce) = (self.world.now, self.options.settings.run.debounce);
        let origin = match ms % 2 {
            0 => Origin::Git,
            _ => Origin::Person,
        };
        let until = Time(now.0 + ms);
        self.world.files.take_away(id, now, until, debounce, origin);
        self.note(Who::World, || {
            format!("the file of {id} is away for {ms} ms, taken by {origin:?}")
        });
    }

    /// The clock is set: an hour off, as by a wrong time zone, or a little, as by a time server. Waits by the
    /// clock go on; processes of the world, and spans that a driver measures by a clock that only runs on,
    /// are not touched.
    pub(super) fn set_clock(&mut self, mut rng: Rng) {
        let by = match rng.below(4) {
            0 => 3_600_000,
            1 => -3_600_000,
            2 => rng.ms(0, 20_000) - 10_000,
            _ => rng.ms(0, 7_200_000) - 3_600_000,
        };
        if by < 0 {
            self.set_back += Duration::from_millis(by.unsigned_abs());
        }
        self.world.set_clock(by);
        for at in [&mut self.boot_at]
            .into_iter()
            .chain(self.late.iter_mut().map(|delivery| &mut delivery.at))
        {
            at.0 += by;
        }
        if let Some((_, _, at)) = &mut self.zombie {
            at.0 += by;
        }
        if let Some((_, patience)) = &mut self.errand {
            patience.0 += by;
        }
        if let Some(shell) = &mut self.shell {
            shell.set_clock(by);
        }
        self.note(Who::World, || format!("the clock is set by {by} ms"));
    }
}
