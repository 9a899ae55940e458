//! Plugins: a program `tk-<command>` or `ticket-<command>` on the `PATH`, which goes before the command of
//! that name, as in tk. One runs only in a person's own process: on the `PATH` of an agent, a check or a hook
//! may stand what no person has put there.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Access, access};

use super::{Call, Whose};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui;

/// Where two have a name, the first prefix wins.
const PREFIXES: [&str; 2] = ["tk-", "ticket-"];

/// What a program says of itself, in one of its first lines.
const DESCRIPTION: &str = "# tk-plugin:";
const FIRST_LINES: usize = 10;
const MOST_BYTES: u64 = 8 * 1024;

/// The plugin of a command; none where no person calls, and for what is a path or an option.
pub(super) fn find(context: &Context, command: &str) -> Option<PathBuf> {
    let is_name = !command.is_empty() && !command.contains('/') && !command.starts_with('-');
    if !is_name || !is_persons(context) {
        return None;
    }
    PREFIXES
        .iter()
        .find_map(|prefix| on_path(context, OsStr::new(&format!("{prefix}{command}"))))
}

/// Whether a person calls, and no program of crew's.
pub(super) fn is_persons(context: &Context) -> bool {
    context.program().is_none() && context.hook().is_none()
}

/// The folders of the `PATH`. A relative one would be another one in each folder that crew is called in, such
/// as the work of an agent.
fn folders(context: &Context) -> Vec<PathBuf> {
    let path = context.whole_env.get(OsStr::new("PATH"));
    let all = path.map(|path| std::env::split_paths(path).collect::<Vec<_>>());
    all.unwrap_or_default()
        .into_iter()
        .filter(|folder| folder.is_absolute())
        .collect()
}

fn on_path(context: &Context, name: &OsStr) -> Option<PathBuf> {
    folders(context)
        .into_iter()
        .map(|folder| folder.join(name))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

/// Each plugin, by the name of its command, with what it says of itself. It is read and never run: whoever
/// asks for help starts nothing.
pub(super) fn list(context: &Context) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    if !is_persons(context) {
        return found;
    }
    for prefix in PREFIXES {
        for folder in folders(context) {
            let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
            for file in files {
                let name = file.file_name();
                let Some(command) = name.to_str().and_then(|name| name.strip_prefix(prefix)) else {
                    continue;
                };
                let is_known = found.iter().any(|(known, _)| known == command);
                if !command.is_empty() && !is_known && is_program(&file.path()) {
                    let about = description(&file.path()).unwrap_or_else(|| "(no description)".to_owned());
                    found.push((command.to_owned(), about));
                }
            }
        }
    }
    found.sort();
    found
}

fn description(file: &Path) -> Option<String> {
    let start = BufReader::new(File::open(file).ok()?.take(MOST_BYTES));
    // A program that is not text ends the row.
    let mut lines = start.lines().take(FIRST_LINES).map_while(std::result::Result::ok);
    lines.find_map(|line| Some(line.strip_prefix(DESCRIPTION)?.trim().to_owned()))
}

impl Call<'_> {
    /// Becomes the plugin, as tk does.
    pub(super) fn become_plugin(&mut self, file: &Path) -> Result<Exit> {
        let mut command = self.program(file.as_os_str());
        command.args(&self.words);
        match (&self.given, self.folder()) {
            (_, Ok(folder)) => {
                command.env("TICKETS_DIR", folder.path());
            }
            (Some(_), Err(error)) => return Err(error),
            // A plugin may do without tickets, or make the first one.
            (None, Err(_)) => {}
        }
        if let Some(script) = self.script() {
            command.env("TK_SCRIPT", script);
        }
        self.context.out.flush()?;
        Err(cannot_start(
            file.as_os_str(),
            &command.exec(),
            "take it away, or mend it",
        ))
    }

    /// The program that does what tk does when it is called with `super` and a command.
    fn script(&self) -> Option<PathBuf> {
        match self.whose {
            Whose::Repository => std::env::current_exe().ok(),
            Whose::Tk => {
                let called = std::env::args_os().next()?;
                match Path::new(&called).components().count() {
                    1 => on_path(self.context, &called),
                    _ => Some(self.context.dir.join(called)),
                }
            }
        }
    }

    /// A program that takes the place of this one, called from where this one was.
    pub(super) fn program(&self, program: &OsStr) -> Command {
        #[expect(
            clippy::disallowed_methods,
            reason = "an editor and a plugin are the person's own, and take the place of this process"
        )]
        let mut command = Command::new(program);
        command.current_dir(&self.context.dir);
        command
    }
}

/// A program that could not take the place of this one.
pub(super) fn cannot_start(program: &OsStr, why: &std::io::Error, hint: &str) -> Error {
    let program = ui::clean(&program.to_string_lossy());
    Error::refused(format!("cannot start {program}: {why}"), hint)
}
