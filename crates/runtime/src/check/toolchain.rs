//! The toolchain of checks, by the answers of the programs that the settings name: part of what a verdict
//! depends on.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use harness::environment::Environment;
use process::{Answer, Exchange};
use serde::{Deserialize, Serialize};

use super::write;
use crate::executor::private_dir;
use crate::{Error, Place, Result};

/// The time that one program has to answer.
const LIMIT: Duration = Duration::from_secs(20);
/// The file with the last answers, beside the checks.
const FILE: &str = "toolchain.json";

/// A program of `[checks] toolchain`, and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// All that it printed.
    pub answer: String,
}

/// The toolchain of an executor's checks. Its programs are asked once, when somebody needs their answers.
#[derive(Debug)]
pub(crate) struct Toolchain {
    programs: Vec<Vec<String>>,
    environment: Environment,
    checks_dir: PathBuf,
    answers: OnceLock<Result<Vec<Tool>, String>>,
}

impl Toolchain {
    /// Asks nobody yet. `environment`: that of the checks.
    pub(crate) fn of(programs: &[Vec<String>], environment: &Environment, place: &Place) -> Self {
        Self {
            programs: programs.to_vec(),
            environment: environment.clone(),
            checks_dir: place.checks_dir.clone(),
            answers: OnceLock::new(),
        }
    }

    /// The answers, as bytes that differ where an answer does.
    ///
    /// # Errors
    /// [`Error::Toolchain`].
    pub(crate) fn key(&self) -> Result<Vec<u8>> {
        let answers = self.answers.get_or_init(|| self.ask());
        match answers {
            Ok(tools) => Ok(serde_json::to_vec(tools).unwrap_or_default()),
            Err(why) => Err(Error::Toolchain { why: why.clone() }),
        }
    }

    fn ask(&self) -> Result<Vec<Tool>, String> {
        let asked = |command: &Vec<String>| -> Result<Tool, String> {
            let answer = self.ask_one(command).map_err(|why| {
                let command = command.join(" ");
                format!("`{command}` {why}")
            })?;
            let command = command.clone();
            Ok(Tool { command, answer })
        };
        let tools: Vec<Tool> = self.programs.iter().map(asked).collect::<Result<_, String>>()?;
        if tools.is_empty() {
            return Ok(tools);
        }
        let path = self.checks_dir.join(FILE);
        let noted = private_dir(&self.checks_dir)
            .and_then(|()| write(&path, serde_json::to_vec(&tools).unwrap_or_default()));
        if let Err(error) = noted {
            // It is only shown.
            tracing::warn!("{}", text::with_causes(&error));
        }
        Ok(tools)
    }

    /// The answer of one program. It works at the root of the file system: no project has settings there.
    fn ask_one(&self, command: &[String]) -> Result<String, String> {
        let mut words = command.iter();
        let program = words.next().map(String::as_str).unwrap_or_default();
        let path = self.environment.get(OsStr::new("PATH"));
        let root = Path::new("/");
        let found = process::find_program(Path::new(program), path.map(OsString::as_os_str), root);
        let exchange = Exchange {
            program: found.map_err(|_| "is not found on the PATH of checks".to_owned())?,
            args: words.map(OsString::from).collect(),
            env: self.environment.clone(),
            cwd: root.to_owned(),
            input: Vec::new(),
            limit: LIMIT,
        };
        let Answer { code, stdout, stderr } = exchange.ask().map_err(|error| format!("fails: {error}"))?;
        let printed = [stdout, stderr].concat();
        let printed = text::sanitise::text(&String::from_utf8_lossy(&printed));
        let printed = printed.trim();
        match code {
            Some(0) if printed.is_empty() => Err("prints nothing".to_owned()),
            Some(0) => Ok(printed.to_owned()),
            Some(code) if printed.is_empty() => Err(format!("ends with exit code {code}")),
            Some(code) => Err(format!(
                "ends with exit code {code}: {}",
                text::sanitise::line(printed)
            )),
            None => Err("was ended by a signal".to_owned()),
        }
    }
}

/// The answers of the toolchain's programs, as they were when an engine asked last; empty where it asks none.
#[must_use]
pub fn toolchain(place: &Place) -> Vec<Tool> {
    let bytes = std::fs::read(place.checks_dir.join(FILE)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}
