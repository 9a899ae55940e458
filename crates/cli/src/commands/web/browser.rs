//! Opening the page in a browser.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::context::Context;
use crate::error::Result;
use crate::ui::Style;
use client::error::Doing as _;

/// A file that leads a browser to the page; it is removed when this is dropped.
pub(super) struct Way(PathBuf);

impl Drop for Way {
    fn drop(&mut self) {
        // Nothing is lost by it: the code in it works once.
        let _ = fs::remove_file(&self.0);
    }
}

/// Opens a link, through a file that only the person can read: everybody on the machine sees the arguments of
/// a program, and the link has a pairing code.
///
/// # Errors
/// The file cannot be written.
pub(super) fn open(context: &mut Context, state_dir: &Path, link: &str) -> Result<Option<Way>> {
    let path = state_dir.join("open.html");
    let _ = fs::remove_file(&path);
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(&path);
    let mut file = file.doing("make", &path)?;
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url={link}\">\
         <title>crew</title><a href=\"{link}\">crew</a>\n"
    );
    file.write_all(page.as_bytes()).doing("write", &path)?;
    let way = Way(path);
    #[expect(
        clippy::disallowed_methods,
        reason = "a browser belongs to the person who called, and lives on without this process"
    )]
    let mut browser = Command::new("xdg-open");
    browser.arg(&way.0);
    for stream in [Command::stdin, Command::stdout, Command::stderr] {
        stream(&mut browser, Stdio::null());
    }
    match browser.spawn() {
        Ok(mut browser) => {
            // It is waited for so that it leaves no dead process behind.
            std::thread::spawn(move || browser.wait());
            Ok(Some(way))
        }
        Err(error) => {
            let why = text::os_message(&error);
            let says =
                format!("no browser was opened: xdg-open cannot be run: {why}; open the link yourself");
            if !context.json {
                context.out.wrapped(&says, 2, Style::Yellow)?;
            }
            Ok(None)
        }
    }
}
