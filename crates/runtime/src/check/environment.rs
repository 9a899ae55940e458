//! The environment of checks: what toolchains need, and nothing that leads into the user's checkout.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use harness::environment::{Environment, assemble, toolchains};
use model::settings::Checks;

use crate::users_folders::UsersFolders;
use crate::{Place, Result};

/// The variable by which `crew` knows that a check, or the set-up of one, calls it: code that an agent
/// wrote, and no person.
pub const CHECK_MARK: &str = "CREW_CHECK";

/// The variable with the commit of the target that a verdict is about.
pub(super) const CHECK_BASE: &str = "CREW_BASE";

/// Variables of the moment, on which no set-up depends: they differ between two terminals.
const OF_THE_MOMENT: [&str; 4] = ["TERM", "TMPDIR", "XDG_RUNTIME_DIR", "LOGNAME"];

/// What set-up and checks get of the caller's environment.
#[derive(Clone, Debug)]
pub(crate) struct CheckEnvironment {
    pub(crate) variables: Environment,
    /// The parts that were left out since they lead into the checkout, in words; none if there are none.
    left_out: Option<String>,
}

impl CheckEnvironment {
    /// Assembles it from the caller's variables and the settings.
    pub(crate) fn of(place: &Place, ours: &Environment, checks: &Checks) -> Result<Self> {
        let users = place.users_folders()?;
        Self::without(&users, ours, checks)
    }

    fn without(users: &UsersFolders, ours: &Environment, checks: &Checks) -> Result<Self> {
        let mut left_out = Vec::new();
        let mut variables = assemble(ours, &BTreeMap::new(), &[])?;
        let needed = toolchains::of(ours).map(|(name, value)| (name.clone(), value.clone()));
        variables.extend(needed);
        // HOME stays: most toolchains live in it.
        let stays = |name: &OsStr| name == "PATH" || name == "HOME";
        variables.retain(|name, value| {
            let is_left = stays(name) || !users.are_in(value);
            if !is_left {
                left_out.push(name.to_string_lossy().into_owned());
            }
            is_left
        });
        if let Some(path) = variables.get_mut(OsStr::new("PATH")) {
            let (left, out) = users.take_out_of(path);
            *path = left;
            let entries = out
                .iter()
                .map(|(entry, why)| format!("{} of PATH: {why}", entry.display()));
            left_out.extend(entries);
        }
        // What the settings name is passed as it is.
        let named = assemble(ours, &checks.env, &checks.pass_env)?;
        let is_named = |name: &OsStr| {
            let name = name.to_str().unwrap_or_default();
            checks.env.contains_key(name) || checks.pass_env.iter().any(|pass| pass == name)
        };
        variables.extend(named.into_iter().filter(|(name, _)| is_named(name)));
        let left_out = (!left_out.is_empty()).then(|| {
            format!(
                "checks do not get what leads into your checkout, and crew left out {}; `[checks] setup` can make an \
                 environment of their own",
                left_out.join(", ")
            )
        });
        Ok(Self { variables, left_out })
    }

    /// What was left out of the caller's environment, and why, in words.
    pub(crate) fn left_out(&self) -> Option<&str> {
        self.left_out.as_deref()
    }

    /// The variables that a set-up may depend on.
    pub(super) fn lasting(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        let is_lasting = |name: &OsStr| !OF_THE_MOMENT.iter().any(|of_it| name == *of_it);
        self.variables.iter().filter(move |(name, _)| is_lasting(name))
    }
}
