//! A check: a command that must pass, its name and its limits; and the plan of all of them.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::settings::Settings;

/// A command of a plan, with the limits that hold for it alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its name; none for a command that is known by its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The command.
    pub command: CheckCommand,
    /// The longest time, in milliseconds, that it may take.
    pub timeout_ms: u64,
    /// The way in which the tests that it ran are counted.
    #[serde(default, skip_serializing_if = "TestCount::is_auto")]
    pub tests: TestCount,
    /// How often a failure is repeated before it counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retry: u32,
}

/// The command of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckCommand {
    /// A line for the shell: a person wrote it.
    Shell(String),
    /// A program and its arguments, which no shell reads: an agent may have written them.
    Argv(Vec<String>),
}

/// The way in which the tests that a check ran are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestCount {
    /// From the output of the test runners that crew knows.
    #[default]
    Auto,
    /// They are not counted.
    None,
    /// By a regular expression whose first group is the number.
    Pattern(String),
}

/// The commands of the checks, fixed when the checks begin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckPlan {
    /// Commands that set up a fresh checkout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<Check>,
    /// Checks that must pass, in their order.
    pub commands: Vec<Check>,
    /// Checks that are skipped, since the work changes none of their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Check>,
    /// The longest time, in milliseconds, that the command of a commitment may take.
    #[serde(default)]
    pub commitment_timeout_ms: u64,
    /// Whether the commitments are verified before the checks run, which is where the checks are the merge
    /// train's: then only work that meets its commitments has a place in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub commitments_first: bool,
}

impl Check {
    /// A shell command without a name.
    #[must_use]
    pub fn shell(command: impl Into<String>, limit: Duration) -> Self {
        Self {
            name: None,
            command: CheckCommand::Shell(command.into()),
            timeout_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
            tests: TestCount::Auto,
            retry: 0,
        }
    }
}

impl fmt::Display for Check {
    /// Its name, or else its command.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => self.command.fmt(f),
        }
    }
}

impl fmt::Display for CheckCommand {
    /// As a person would type it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let argv = match self {
            Self::Shell(command) => return f.write_str(command),
            Self::Argv(argv) => argv,
        };
        let is_plain =
            |character: char| character.is_ascii_alphanumeric() || "_-+./=:,@%".contains(character);
        for (n, word) in argv.iter().enumerate() {
            if n > 0 {
                f.write_str(" ")?;
            }
            match !word.is_empty() && word.chars().all(is_plain) {
                true => f.write_str(word)?,
                false => write!(f, "'{}'", word.replace('\'', "'\\''"))?,
            }
        }
        Ok(())
    }
}

impl TestCount {
    /// Whether it is the way in which tests are counted where nothing else is set.
    #[must_use]
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

impl CheckPlan {
    /// The plan that the settings ask for, for all work.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        let checks = &settings.checks;
        let list = |commands: &[String]| {
            let each = commands.iter();
            each.map(|command| Check::shell(command, checks.timeout))
                .collect()
        };
        let named = settings.check.iter().map(|check| Check {
            name: Some(check.name.clone()),
            tests: check.tests.clone(),
            retry: check.retry,
            ..Check::shell(&check.command, check.timeout.unwrap_or(checks.timeout))
        });
        Self {
            setup: list(&checks.setup),
            commands: list(&checks.commands).into_iter().chain(named).collect(),
            skipped: Vec::new(),
            commitment_timeout_ms: u64::try_from(checks.timeout.as_millis()).unwrap_or(u64::MAX),
            commitments_first: false,
        }
    }

    /// The same plan without the checks of these names.
    #[must_use]
    pub fn without(mut self, untouched: &[String]) -> Self {
        let is_skipped = |check: &Check| check.name.as_ref().is_some_and(|name| untouched.contains(name));
        (self.skipped, self.commands) = self.commands.into_iter().partition(is_skipped);
        self
    }

    /// Whether a tree that passes it passes the other one too, where the tree before passed what is skipped.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let mut all = self.commands.iter().chain(&self.skipped);
        let is_there = |check: &Check| all.clone().any(|each| each == check);
        other.commands.iter().all(is_there) && all.all(|check| other.commands.contains(check))
    }

    /// The names of the checks, in their order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.commands.iter().map(Check::to_string).collect()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_shown_by_its_name_or_as_it_would_be_typed() {
        let mut check = Check::shell("make test && true", Duration::from_secs(1));
        assert_eq!(check.to_string(), "make test && true");
        check.command = CheckCommand::Argv(["grep", "a b", "it's", ""].map(str::to_owned).to_vec());
        assert_eq!(check.to_string(), "grep 'a b' 'it'\\''s' ''");
        check.name = Some("docs".to_owned());
        assert_eq!(check.to_string(), "docs");
    }
}
