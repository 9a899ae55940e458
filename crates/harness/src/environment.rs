//! The environment of a client, and the toolchain variables of checks.

pub mod toolchains;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use crate::error::{Error, Result};

/// Variables and their values, which need not be UTF-8.
pub type Environment = BTreeMap<OsString, OsString>;

/// The variables that every client inherits. All others are passed only when `pass_env` names them, because
/// crew's own environment often holds secrets.
pub(crate) const INHERITED: [&str; 7] = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL"];

/// Assembles the base environment of a client: those variables of `ours` that every client inherits or that
/// `pass` names, overridden by `set`. The variables of a step are added later
/// ([`StepRequest::variables`](crate::StepRequest::variables)).
///
/// Errors: [`Error::Reserved`] when `set` or `pass` has a variable that is crew's own (`CREW_…`,
/// `TICKETS_DIR`);
/// [`Error::BadVariable`] for a name that is empty or has `=` or NUL, or a value with NUL.
pub fn assemble(ours: &Environment, set: &BTreeMap<String, String>, pass: &[String]) -> Result<Environment> {
    for variable in set.keys().chain(pass) {
        // An engine that runs inside of another crew has the other's.
        if variable.starts_with("CREW_") || variable == "TICKETS_DIR" {
            return Err(Error::Reserved {
                variable: variable.clone(),
            });
        }
    }
    for (variable, value) in set {
        if value.contains('\0') {
            return Err(Error::BadVariable {
                variable: variable.clone(),
            });
        }
    }
    for variable in set.keys().chain(pass) {
        if variable.is_empty() || variable.contains(['=', '\0']) {
            return Err(Error::BadVariable {
                variable: variable.clone(),
            });
        }
    }
    let wanted = INHERITED
        .into_iter()
        .chain(pass.iter().map(String::as_str))
        .map(OsStr::new);
    let mut all: Environment = wanted
        .filter_map(|name| Some((name.to_owned(), ours.get(name)?.clone())))
        .collect();
    all.extend(set.iter().map(|(name, value)| (name.into(), value.into())));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn only_what_is_allowed_passes() {
        let ours = environment(&[
            ("PATH", "/bin"),
            ("HOME", "/home/ada"),
            ("LANG", "C.UTF-8"),
            ("TERM", "xterm"),
            ("USER", "ada"),
            ("SHELL", "/bin/sh"),
            ("ANTHROPIC_API_KEY", "canary"),
            ("OTHER_TOKEN", "canary"),
            ("SSH_AUTH_SOCK", "canary"),
            ("LD_PRELOAD", "canary"),
            ("GIT_DIR", "canary"),
            ("path", "canary"),
            ("PATHS", "canary"),
            ("CREW_RUN_ID", "outer"),
        ]);
        let all = assemble(&ours, &settings(&[]), &[]).unwrap();
        let names: Vec<_> = all.keys().map(|name| name.to_str().unwrap()).collect();
        assert_eq!(names, ["HOME", "LANG", "PATH", "SHELL", "TERM", "USER"]);

        let pass = ["OTHER_TOKEN".to_owned(), "NOT_SET".to_owned()];
        let all = assemble(&ours, &settings(&[("HOME", "/elsewhere"), ("LEVEL", "3")]), &pass).unwrap();
        assert_eq!(all[OsStr::new("OTHER_TOKEN")], "canary");
        assert_eq!(all[OsStr::new("HOME")], "/elsewhere");
        assert_eq!(all[OsStr::new("LEVEL")], "3");
        assert!(!all.contains_key(OsStr::new("NOT_SET")));
        assert_eq!(all.len(), 8);
    }

    #[test]
    fn what_is_crews_own_or_no_variable_is_refused() {
        let ours = environment(&[]);
        for name in ["CREW_RUN_ID", "CREW_ANYTHING", "TICKETS_DIR"] {
            let error = assemble(&ours, &settings(&[(name, "x")]), &[]).unwrap_err();
            assert!(matches!(&error, Error::Reserved { variable } if variable == name));
            assert!(error.hint().is_some());
            let error = assemble(&ours, &settings(&[]), &[name.into()]).unwrap_err();
            assert!(matches!(&error, Error::Reserved { variable } if variable == name));
        }
        for name in ["", "A=B", "A\0"] {
            assert!(matches!(
                assemble(&ours, &settings(&[(name, "x")]), &[]),
                Err(Error::BadVariable { .. })
            ));
            assert!(matches!(
                assemble(&ours, &settings(&[]), &[name.into()]),
                Err(Error::BadVariable { .. })
            ));
        }
        assert!(matches!(
            assemble(&ours, &settings(&[("A", "\0")]), &[]),
            Err(Error::BadVariable { .. })
        ));
    }

    #[test]
    fn values_that_are_not_text_pass() {
        use std::os::unix::ffi::OsStringExt as _;
        let odd = OsString::from_vec(b"/bin:\xff".to_vec());
        let ours = Environment::from([("PATH".into(), odd.clone())]);
        assert_eq!(
            assemble(&ours, &settings(&[]), &[]).unwrap()[OsStr::new("PATH")],
            odd
        );
    }
}
