//! Errors, at the edge: what happened, to which thing, what to do next.

use std::io::{self, Write as _};
use std::path::Path;

use model::settings::Diagnostic;

use crate::error::Error;
use crate::ui::out::{Style, Terminal};
use crate::ui::wrap_line;

/// Prints an error to standard error.
pub(crate) fn show(error: &Error) {
    if let Error::Closed = error {
        return;
    }
    say(|terminal| render(error, terminal));
}

/// Prints what the engine warned of to standard error.
pub(crate) fn warn(notice: &str) {
    say(|terminal| {
        let mut out = String::new();
        let mut lines = notice.lines();
        let first = lines.next().unwrap_or_default();
        push(&mut out, "", ("warning:", Style::Yellow), first, terminal);
        for line in lines {
            push(&mut out, "  ", ("", Style::Plain), line, terminal);
        }
        out
    });
}

fn say(text: impl FnOnce(&Terminal) -> String) {
    let stderr = io::stderr();
    let env = std::env::vars_os()
        .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
        .collect();
    let text = text(&Terminal::of(&stderr, &env));
    // Nobody can be told that standard error is gone.
    let _ = stderr.lock().write_all(text.as_bytes());
}

fn render(error: &Error, terminal: &Terminal) -> String {
    let mut out = String::new();
    let message = error.to_string();
    let mut lines = message.lines();
    let first = lines.next().unwrap_or_default();
    push(&mut out, "", ("error:", Style::Red), first, terminal);
    for line in lines {
        push(&mut out, "  ", ("", Style::Plain), line, terminal);
    }
    if let Error::Client(client::Error::Settings { file, diagnostics }) = error {
        let text = std::fs::read(file)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default();
        for diagnostic in diagnostics {
            out.push_str(&settings(diagnostic, file, &text, terminal));
        }
    }
    for cause in text::causes(error) {
        push(&mut out, "  ", ("because:", Style::Plain), &cause, terminal);
    }
    if let Some(hint) = error.hint() {
        for line in hint.lines() {
            push(&mut out, "  ", ("hint:", Style::Green), line, terminal);
        }
    }
    out
}

/// A line with its label, broken where the terminal ends; it goes on below, a little further in.
fn push(out: &mut String, indent: &str, (label, style): (&str, Style), text: &str, terminal: &Terminal) {
    let gap = if label.is_empty() { "" } else { " " };
    let whole = format!("{indent}{label}{gap}{}", text::sanitise::line(text));
    for (nth, line) in wrap_line(&whole, terminal.columns, indent.len() + 2)
        .iter()
        .enumerate()
    {
        let painted = line
            .strip_prefix(indent)
            .and_then(|line| line.strip_prefix(label));
        match painted.filter(|_| nth == 0) {
            Some(rest) => out.push_str(&format!("{indent}{}{rest}\n", terminal.paint(label, style))),
            None => out.push_str(&format!("{line}\n")),
        }
    }
}

/// A diagnostic with the line it is about.
fn settings(diagnostic: &Diagnostic, file: &Path, text: &str, terminal: &Terminal) -> String {
    let clean = |text: &str| text::sanitise::line(text);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let mut out = String::new();
    let place = format!("{name}:{}:{}:", diagnostic.line, diagnostic.column);
    push(
        &mut out,
        "  ",
        (&place, Style::Plain),
        &diagnostic.message,
        terminal,
    );
    // A line that the sanitiser changes is not shown: the mark below it would point at something else.
    let line = text
        .lines()
        .nth(diagnostic.line.saturating_sub(1))
        .filter(|line| *line == clean(line));
    if let Some(line) = line.filter(|line| line.len() < 200) {
        let before: String = line.chars().take(diagnostic.column.saturating_sub(1)).collect();
        let about = text
            .get(diagnostic.span.clone())
            .unwrap_or_default()
            .lines()
            .next()
            .unwrap_or_default();
        let mark = "^".repeat(crate::ui::table::columns(about).max(1));
        let number = diagnostic.line.to_string();
        let margin = " ".repeat(number.len());
        out.push_str(&format!("    {number} | {line}\n"));
        let pad = " ".repeat(crate::ui::table::columns(&before));
        out.push_str(&format!(
            "    {margin} | {pad}{}\n",
            terminal.paint(&mark, Style::Red)
        ));
    }
    if let Some(hint) = &diagnostic.hint {
        push(&mut out, "    ", ("hint:", Style::Green), hint, terminal);
    }
    out
}
