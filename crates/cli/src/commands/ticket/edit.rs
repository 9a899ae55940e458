//! `edit`: the ticket in the person's editor.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;

use super::Call;
use super::plugin::{cannot_start, is_persons};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui;

impl Call<'_> {
    /// Opens the ticket in the person's editor, at a terminal; else says which file it is, as tk does.
    pub(super) fn edit(&mut self) -> Result<Exit> {
        let folder = self.folder()?;
        let [id] = self.exactly("edit <id>")?;
        let file = folder.file_of(id)?;
        let is_at_terminal =
            self.context.out.terminal.is && std::io::IsTerminal::is_terminal(&std::io::stdin());
        if !is_at_terminal || !is_persons(self.context) {
            let line = format!("Edit ticket file: {}", file.display());
            self.context.out.line(&line)?;
            return Ok(Exit::Done);
        }
        let set = self.context.var("VISUAL").or_else(|| self.context.var("EDITOR"));
        let set = set.unwrap_or("vi").to_owned();
        let hint = "let VISUAL or EDITOR name an editor, such as `nano` or `code --wait`";
        let words = shlex::split(&set).filter(|words| !words.is_empty());
        let Some((editor, options)) = words.as_deref().and_then(|words| words.split_first()) else {
            let what = format!("the editor `{}` is no command", ui::clean(&set));
            return Err(Error::refused(what, hint));
        };
        let mut command = self.program(OsStr::new(editor));
        command.args(options).arg(&file);
        self.context.out.flush()?;
        Err(cannot_start(OsStr::new(editor), &command.exec(), hint))
    }
}
