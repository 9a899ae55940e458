//! Weaker settings: what an edit takes away of that which guards the target and the budget.

use super::check::is_in;
use super::{Check, FILE_NAME, Review, ReviewWhen, Secrets, Settings};
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
        if old.land.holds_all() && !self.land.holds_all() {
            weaker.push(
                "crew.toml does not hold all work any more: it lands without a person's look".to_owned(),
            );
        }
        if old.land.secrets == Secrets::Hold && self.land.secrets == Secrets::Off {
            weaker.push(
                "crew.toml does not look for secrets any more: work with keys and tokens lands".to_owned(),
            );
        }
        weaker.extend(weaker_review(&self.review, &old.review));
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

/// The work that gatekeepers looked at by the settings before and do not look at any more.
fn weaker_review(new: &Review, old: &Review) -> Vec<String> {
    let mut weaker = Vec::new();
    match (&new.when, &old.when) {
        (ReviewWhen::Always, _) | (_, ReviewWhen::Never) => {}
        (ReviewWhen::Never, ReviewWhen::Always | ReviewWhen::Some(_)) => {
            weaker.push("crew.toml has no work reviewed any more: it lands without a gatekeeper".to_owned());
            return weaker;
        }
        (ReviewWhen::Some(_), ReviewWhen::Always) => weaker.push(
            "crew.toml has only some work reviewed, and all of it before: the rest lands without a gatekeeper"
                .to_owned(),
        ),
        (ReviewWhen::Some(new), ReviewWhen::Some(old)) => {
            let labels = old.labels.difference(&new.labels);
            weaker.extend(labels.map(|tag| {
                format!("crew.toml does not have work with the tag {tag} reviewed any more")
            }));
            let is_free = |path: &&String| !new.paths.iter().any(|of| is_in(path, of));
            let paths = old.paths.iter().filter(is_free);
            weaker.extend(paths.map(|path| {
                format!("crew.toml does not have work that changes {path} reviewed any more")
            }));
            let is_larger = |old: &u32| new.lines.is_none_or(|new| new > *old);
            weaker.extend(old.lines.filter(is_larger).map(|old| match new.lines {
                Some(new) => format!("crew.toml has work reviewed from {new} lines on, and from {old} before"),
                None => format!("crew.toml does not have work of {old} lines or more reviewed any more"),
            }));
        }
    }
    if new.agree < old.agree && old.when != ReviewWhen::Never {
        weaker.push(format!(
            "crew.toml has work approved by {} of the gatekeepers, and by {} before",
            new.agree, old.agree
        ));
    }
    weaker
}

#[cfg(test)]
mod tests {
    use crate::money::Usd;
    use crate::samples;
    use crate::settings::{Hold, ReviewOf, ReviewWhen, Secrets};

    #[test]
    fn a_guard_that_an_edit_takes_away_is_named() {
        let mut old = samples::settings();
        old.checks.commands = ["make check", "make lint"].map(str::to_owned).to_vec();
        old.land.hold_paths = vec!["keys".to_owned()];
        old.land.hold = Hold::All;
        old.budget.day_usd = Some(Usd(5));
        assert!(old.weaker_than(&old).is_empty());
        let mut new = old.clone();
        new.checks.commands.remove(1);
        new.budget.day_usd = Some(Usd(9));
        assert_eq!(
            new.weaker_than(&old),
            ["crew.toml does not name the check `make lint` any more: work lands without it"]
        );
        let mut bare = samples::settings();
        bare.land.secrets = Secrets::Off;
        let said = bare.weaker_than(&old).join("\n");
        for word in [
            "no checks",
            "hold keys",
            "hold all work",
            "budget.day_usd",
            "look for secrets",
        ] {
            assert!(said.contains(word), "{said}");
        }
        assert_eq!(bare.weaker_than(&old).len(), 5);
        assert!(old.weaker_than(&bare).is_empty());
    }

    #[test]
    fn a_review_that_an_edit_takes_away_is_named() {
        let of = |labels: &[&str], paths: &[&str], lines| {
            let mut settings = samples::settings();
            settings.review.when = ReviewWhen::Some(ReviewOf {
                labels: labels.iter().map(|&label| label.to_owned()).collect(),
                paths: paths.iter().map(|&path| path.to_owned()).collect(),
                lines,
            });
            settings
        };
        let when = |when: ReviewWhen| {
            let mut settings = samples::settings();
            settings.review.when = when;
            settings
        };
        let old = of(&["risky"], &["src/auth"], Some(200));
        let same = of(&["risky", "new"], &["src"], Some(100));
        assert!(same.weaker_than(&old).is_empty() && old.weaker_than(&old).is_empty());
        assert!(when(ReviewWhen::Always).weaker_than(&old).is_empty());
        assert_eq!(
            of(&["other"], &["src/auth/keys"], Some(400)).weaker_than(&old),
            [
                "crew.toml does not have work with the tag risky reviewed any more",
                "crew.toml does not have work that changes src/auth reviewed any more",
                "crew.toml has work reviewed from 400 lines on, and from 200 before",
            ]
        );
        let none = when(ReviewWhen::Never).weaker_than(&old);
        assert_eq!(
            none,
            ["crew.toml has no work reviewed any more: it lands without a gatekeeper"]
        );
        let mut all = when(ReviewWhen::Always);
        (all.review.count, all.review.agree) = (2, 2);
        let said = old.weaker_than(&all).join("\n");
        assert!(
            said.contains("only some work") && said.contains("by 1 of the"),
            "{said}"
        );
    }
}
