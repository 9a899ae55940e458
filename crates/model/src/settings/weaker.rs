//! Weaker settings: what an edit takes away of that which guards the target and the budget.

use super::{Check, FILE_NAME, Settings};
use crate::ticket::TestCount;

impl Settings {
    /// The guards of `old` that these settings do not have, each in a sentence for people.
    #[must_use]
    pub fn weaker_than(&self, old: &Settings) -> Vec<String> {
        let mut weaker = Vec::new();
        let kept = &self.checks.commands;
        if !self.has_checks() && old.has_checks() {
            weaker
                .push("crew.toml names no checks any more: from now on nothing guards the target".to_owned());
        } else {
            let gone = old
                .checks
                .commands
                .iter()
                .filter(|command| !kept.contains(command));
            weaker.extend(gone.map(|command| {
                format!("crew.toml does not name the check `{command}` any more: work lands without it")
            }));
            let is_kept = |old: &&Check| self.check.iter().any(|check| check.name == old.name);
            let gone = old.check.iter().filter(|old| !is_kept(old));
            weaker.extend(gone.map(|Check { name, .. }| {
                format!("crew.toml has no [[check]] `{name}` any more: work lands without it")
            }));
        }
        let counted = |old: &&Check| {
            let is_uncounted = |new: &&Check| new.name == old.name && new.tests == TestCount::None;
            old.tests != TestCount::None && self.check.iter().any(|new| is_uncounted(&new))
        };
        let uncounted = old.check.iter().filter(counted);
        weaker.extend(uncounted.map(|Check { name, .. }| {
            format!(
                "crew.toml does not count the tests of [[check]] `{name}` any more: it passes without any"
            )
        }));
        let held = &self.land.hold_paths;
        // The settings file is held whether it is listed or not.
        let listed = old.land.hold_paths.iter().filter(|path| *path != FILE_NAME);
        let free = listed.filter(|path| !held.contains(path));
        weaker.extend(free.map(|path| {
            format!("crew.toml does not hold {path} any more: work that changes it waits for nobody")
        }));
        let limits = [
            ("ticket_usd", old.budget.ticket_usd, self.budget.ticket_usd),
            ("day_usd", old.budget.day_usd, self.budget.day_usd),
        ];
        let lifted = limits
            .into_iter()
            .filter(|(_, old, new)| old.is_some() && new.is_none());
        weaker.extend(
            lifted
                .map(|(key, ..)| format!("crew.toml has no budget.{key} any more: nothing limits the cost")),
        );
        weaker
    }
}

#[cfg(test)]
mod tests {
    use crate::money::Usd;
    use crate::samples;

    #[test]
    fn a_guard_that_an_edit_takes_away_is_named() {
        let mut old = samples::settings();
        old.checks.commands = ["make check", "make lint"].map(str::to_owned).to_vec();
        old.land.hold_paths = vec!["keys".to_owned()];
        old.budget.day_usd = Some(Usd(5));
        assert!(old.weaker_than(&old).is_empty());
        let mut new = old.clone();
        new.checks.commands.remove(1);
        new.budget.day_usd = Some(Usd(9));
        assert_eq!(
            new.weaker_than(&old),
            ["crew.toml does not name the check `make lint` any more: work lands without it"]
        );
        let bare = samples::settings();
        let said = bare.weaker_than(&old).join("\n");
        for word in ["no checks", "hold keys", "budget.day_usd"] {
            assert!(said.contains(word), "{said}");
        }
        assert_eq!(bare.weaker_than(&old).len(), 3);
        assert!(old.weaker_than(&bare).is_empty());
    }
}
