//! The picture of the README: the demonstration, run for real in a terminal of its own, as an SVG.
//!
//! It is a real run, so two pictures are never the same; `cargo xtask test` only looks whether the committed
//! one is there and whole.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::{Outcome, program};

/// Where it stands.
const PICTURE: &str = "docs/picture.svg";
const COLUMNS: u16 = 100;
const ROWS: u16 = 34;
/// A character's width and height, in pixels.
const CELL: (f32, f32) = (8.0, 17.0);
/// Around it all, in pixels.
const MARGIN: f32 = 14.0;
/// What is worth being seen in it, besides agents at work.
const WANTED: [&str; 7] = [
    "asks a person",
    "crashed",
    "does not merge",
    "rejects it in review",
    "tests together",
    "● ",
    "landed on main",
];

/// Runs the demonstration and draws it.
pub(crate) fn write(root: &Path) -> Outcome {
    program::output(
        root,
        "cargo",
        &["build", "--quiet", "--locked", "--package", "crew"].map(str::to_owned),
    )?;
    let screen = run(&root.join("target/debug/crew"))?;
    let text = svg(&screen);
    fs::write(root.join(PICTURE), &text).map_err(|error| format!("{PICTURE}: {error}"))?;
    check(root)?;
    println!("wrote {PICTURE}");
    Ok(())
}

/// Fails when the committed picture is not there, or not whole.
pub(crate) fn check(root: &Path) -> Outcome {
    let text = fs::read_to_string(root.join(PICTURE))
        .map_err(|error| format!("{PICTURE}: {error}; `cargo xtask picture` makes it"))?;
    whole(&text)
        .map_err(|why| format!("{PICTURE} is no picture of crew: {why}; `cargo xtask picture` makes it anew"))
}

fn whole(text: &str) -> Result<(), String> {
    let mut open = Vec::new();
    for piece in text.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').ok_or("a tag is not closed")?;
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}> closes nothing"));
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    if !open.is_empty() {
        return Err(format!("<{}> is not closed", open.join("> <")));
    }
    for wanted in ["<svg ", "crew demo", "landed"] {
        if !text.contains(wanted) {
            return Err(format!("it does not have {wanted:?}"));
        }
    }
    Ok(())
}

/// The demonstration's screen in its best moment: the last one in which most of what is wanted can be seen.
fn run(crew: &Path) -> Result<vt100::Parser, String> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).map_err(no_terminal)?;
    grantpt(&ours).map_err(no_terminal)?;
    unlockpt(&ours).map_err(no_terminal)?;
    let name = ptsname(&ours, Vec::new()).map_err(no_terminal)?;
    let theirs: OwnedFd = rustix::fs::open(
        name,
        OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .map_err(no_terminal)?;
    let size = Winsize {
        ws_row: ROWS,
        ws_col: COLUMNS,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&theirs, size).map_err(no_terminal)?;
    let mut child = program::command(Path::new("/"), &crew.to_string_lossy(), &["demo"])
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .stdout(theirs)
        .spawn()
        .map_err(|error| format!("{}: {error}", crew.display()))?;
    let mut reader = File::from(ours);
    let mut parser = vt100::Parser::new(ROWS, COLUMNS, 0);
    let mut best: Option<(vt100::Parser, usize)> = None;
    let mut piece = [0; 8192];
    // The other end's close is told as an error.
    while let Ok(length @ 1..) = reader.read(&mut piece) {
        parser.process(&piece[..length]);
        let text = parser.screen().contents();
        // A screen that is being drawn is none: its last line is the bar.
        let is_drawn = text
            .trim_end()
            .lines()
            .last()
            .is_some_and(|line| line.contains('█'));
        let seen =
            WANTED.iter().filter(|wanted| text.contains(**wanted)).count() + text.matches("● ").count();
        if is_drawn && best.as_ref().is_none_or(|(_, before)| *before <= seen) {
            let mut copy = vt100::Parser::new(ROWS, COLUMNS, 0);
            copy.process(&parser.screen().contents_formatted());
            best = Some((copy, seen));
        }
    }
    let ended = child.wait().map_err(|error| error.to_string())?;
    if !ended.success() {
        return Err(format!(
            "`crew demo` failed ({ended}):\n{}",
            parser.screen().contents()
        ));
    }
    best.map(|(screen, _)| screen)
        .ok_or_else(|| "`crew demo` drew nothing".to_owned())
}

fn no_terminal(error: rustix::io::Errno) -> String {
    format!("cannot make a terminal: {error}")
}

/// The screen, a text element for each run of characters that look alike.
fn svg(parser: &vt100::Parser) -> String {
    let screen = parser.screen();
    let width = f32::from(COLUMNS) * CELL.0 + 2.0 * MARGIN;
    let first = first_whole(&screen.contents());
    let height = f32::from(ROWS - first) * CELL.1 + 2.0 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"crew demo in a terminal\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n\
         <g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"13\" fill=\"#d5d8de\">\n"
    );
    for row in first..ROWS {
        let mut column = 0;
        while column < COLUMNS {
            let Some(look) = screen.cell(row, column).map(Look::of) else {
                break;
            };
            let begins = column;
            let mut text = String::new();
            while let Some(cell) = screen.cell(row, column).filter(|cell| Look::of(cell) == look) {
                text.push_str(if cell.has_contents() { cell.contents() } else { " " });
                column += 1;
            }
            let trailing = u16::try_from(text.len() - text.trim_end().len()).unwrap_or_default();
            let blanks = u16::try_from(text.len() - text.trim_start().len()).unwrap_or_default();
            let text = text.trim();
            if !text.is_empty() {
                let cells = column - begins - blanks - trailing;
                let x = MARGIN + f32::from(begins + blanks) * CELL.0;
                let y = MARGIN + f32::from(row - first) * CELL.1 + 13.0;
                let length = f32::from(cells) * CELL.0;
                let shown = text
                    .replace('&', "&amp;")
                    .replace('<', "&lt;")
                    .replace('>', "&gt;");
                // Every run is as long as its cells, whatever the font.
                let _ = writeln!(
                    out,
                    "<text style=\"white-space:pre\" x=\"{x}\" y=\"{y}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\"{}>{shown}</text>",
                    look.attributes()
                );
            }
        }
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// The first row below what is left of a paragraph that has scrolled off the top.
fn first_whole(text: &str) -> u16 {
    let blank = text.lines().take(4).position(|line| line.trim().is_empty());
    blank.and_then(|at| u16::try_from(at + 1).ok()).unwrap_or(0)
}

/// How a character looks.
#[derive(Clone, Copy, PartialEq)]
struct Look {
    colour: vt100::Color,
    bold: bool,
    dim: bool,
}

impl Look {
    fn of(cell: &vt100::Cell) -> Self {
        Self {
            colour: cell.fgcolor(),
            bold: cell.bold(),
            dim: cell.dim(),
        }
    }

    fn attributes(self) -> String {
        let colour = match self.colour {
            vt100::Color::Idx(1) => " fill=\"#e06c75\"",
            vt100::Color::Idx(2) => " fill=\"#98c379\"",
            vt100::Color::Idx(3) => " fill=\"#e5c07b\"",
            vt100::Color::Idx(6) => " fill=\"#56b6c2\"",
            _ => "",
        };
        let bold = if self.bold { " font-weight=\"bold\"" } else { "" };
        let dim = if self.dim { " opacity=\"0.6\"" } else { "" };
        format!("{colour}{bold}{dim}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_becomes_a_whole_picture() {
        let mut parser = vt100::Parser::new(ROWS, COLUMNS, 0);
        parser.process(b"\x1b[1mcrew demo\x1b[0m\r\n\x1b[32m1 < 2 & landed\x1b[0m plain");
        let text = svg(&parser);
        assert!(text.contains("font-weight=\"bold\">crew demo</text>"), "{text}");
        assert!(
            text.contains("fill=\"#98c379\">1 &lt; 2 &amp; landed</text>"),
            "{text}"
        );
        whole(&text).unwrap();
        assert!(whole(&text.replace("</g>", "")).is_err());
        assert!(whole("<svg ></svg>").is_err());
    }
}
