//! The pager: `CREW_PAGER`, else as git would choose it for a change, and `PAGER` for a table.

use std::io::Write as _;
use std::process::{Command, Stdio};

use tokio::signal::unix::SignalKind;

use crate::context::Context;
use crate::error::Result;

/// Shows text in the user's pager where a person sits in front of a terminal, else prints it. The text is
/// harmless already. `named`: the pager that git's settings name.
pub(crate) fn page(context: &mut Context, named: impl FnOnce() -> Option<String>, text: &str) -> Result<()> {
    let set = |name: &str| context.env.get(name).cloned();
    let of_git = || set("GIT_PAGER").or_else(named);
    let pager = set("CREW_PAGER").or_else(of_git).or_else(|| set("PAGER"));
    show(context, pager, text)
}

/// Shows a table that is longer than the terminal in the user's pager, and prints any other. The text is
/// harmless already.
pub(crate) fn page_table(context: &mut Context, text: &str) -> Result<()> {
    // A line is left for the prompt.
    if text.lines().count() < context.out.terminal.lines {
        return context.out.write(text);
    }
    let set = |name: &str| context.env.get(name).cloned();
    let pager = set("CREW_PAGER").or_else(|| set("PAGER"));
    crate::wait::wait(async { show(context, pager, text) })
}

/// Shows a page of the manual, which is roff, with the machine's `man` where a person sits in front of a
/// terminal; false where it is not shown so.
pub(crate) fn show_with_man(context: &mut Context, roff: &str) -> Result<bool> {
    if !context.out.terminal.is || context.var("TERM") == Some("dumb") {
        return Ok(false);
    }
    context.out.flush()?;
    crate::wait::wait(async { Ok(is_shown_by_man(roff)) })
}

/// Runs `man` until it ends; false where it cannot be run, or cannot read a page so.
fn is_shown_by_man(roff: &str) -> bool {
    let _interrupts = tokio::signal::unix::signal(SignalKind::interrupt());
    #[expect(
        clippy::disallowed_methods,
        reason = "the manual's reader belongs to the terminal of the person who called, like this process"
    )]
    let mut command = Command::new("man");
    // One that cannot read a page so says why, and the plain text is there all the same.
    command
        .args(["-l", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    if let Some(mut input) = child.stdin.take() {
        input.write_all(roff.as_bytes()).ok();
    }
    child.wait().is_ok_and(|status| status.success())
}

/// `pager`: the one that somebody has set; an empty one is none.
fn show(context: &mut Context, pager: Option<String>, text: &str) -> Result<()> {
    let is_wanted = context.out.terminal.is && context.var("TERM") != Some("dumb");
    let pager = pager.unwrap_or_else(|| "less".to_owned());
    let pager = Some(pager).filter(|pager| is_wanted && !pager.trim().is_empty() && pager != "cat");
    context.out.flush()?;
    match pager {
        Some(pager) if is_shown(context, &pager, text) => Ok(()),
        Some(_) | None => context.out.write(text),
    }
}

/// Runs the pager until it ends; false where it cannot be run.
fn is_shown(context: &Context, pager: &str, text: &str) -> bool {
    // An interrupt is the pager's while it shows something: were crew to end, the pager would be left without
    // a terminal of its own.
    let _interrupts = tokio::signal::unix::signal(SignalKind::interrupt());
    #[expect(
        clippy::disallowed_methods,
        reason = "a pager belongs to the terminal of the person who called, like this process"
    )]
    let mut command = Command::new("sh");
    command
        .args(["-c", pager])
        .current_dir(&context.dir)
        .stdin(Stdio::piped());
    for (name, usual) in [("LESS", "FRX"), ("LV", "-c")] {
        if context.var(name).is_none() {
            command.env(name, usual);
        }
    }
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    if let Some(mut input) = child.stdin.take() {
        // Whoever has seen enough ends the pager before the end of the text.
        input.write_all(text.as_bytes()).ok();
    }
    // The shell says 127 where there is no such program.
    child.wait().is_ok_and(|status| status.code() != Some(127))
}
