//! Where a case happens: a repository and a home in a folder of its own, and commands run in it.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::corpus::written::Written;

/// Far longer than any answer takes on a slow and busy machine, in seconds: passing it is a hang.
const PATIENCE: &str = "600";

/// An agent that does what its ticket asks for.
const AGENT: &str = "#!/bin/sh
set -eu
cat > /dev/null
echo work > \"work-$CREW_TICKET_ID.txt\"
git add .
git commit --quiet --message=work
echo DONE
";

/// A repository with a crew, made once and copied for each case.
pub(crate) struct Base {
    folder: TempDir,
}

/// A case's own folder. Gone when dropped.
pub(crate) struct Place {
    folder: TempDir,
    /// What stood there after the last command.
    seen: Cell<Option<Written>>,
}

/// What a command came to.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    /// What is not as it was before, one line each.
    pub(crate) written: Vec<String>,
    /// The events that the journal has got, if there was one before.
    rows: Option<i64>,
    is_text: bool,
    /// Of `crew ticket`, which answers in the words of tk.
    is_tk: bool,
}

impl Base {
    pub(crate) fn new() -> Self {
        let base = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let root = base.folder.path();
        for folder in ["repo", "home", "bin"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_crew"), root.join("bin/crew")).unwrap();
        fs::write(root.join("repo/agent.sh"), AGENT).unwrap();
        fs::write(root.join("repo/README"), "hello\n").unwrap();
        let make = "git init --quiet --initial-branch=main && chmod +x agent.sh && git add . && \
                    git commit --quiet --message=first && crew init --yes --agent ./agent.sh && \
                    sed -i 's/^# debounce = .*/debounce = \"0s\"/; s/^# count = .*/count = 1/' crew.toml && \
                    git add . && git commit --quiet --message=crew";
        let output = shell(root, make);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        base
    }
}

impl Place {
    /// A copy of the base with the case's files, made what its `make.sh` makes of it.
    ///
    /// # Errors
    ///
    /// What `make.sh` says when it fails.
    pub(crate) fn new(base: &Base, case: &Path, words: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("repo")).unwrap();
        let copied = shell(
            root,
            &format!("cp -a {}/. {}", base.folder.path().display(), root.display()),
        );
        assert!(copied.status.success());
        let place = Self {
            folder,
            seen: Cell::new(None),
        };
        let repo = place.repo();
        for entry in fs::read_dir(case).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            let to = match name.as_str() {
                "commands" | "expected.txt" | "make.sh" => continue,
                _ if name.ends_with(".md") => repo.join(".tickets").join(&name),
                _ => repo.join(&name),
            };
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(entry.path(), &to).unwrap();
            if name.ends_with(".sh") {
                fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        let area = case.parent().unwrap().join("make.sh");
        for make in [area, case.join("make.sh")] {
            if !make.exists() {
                continue;
            }
            let line = format!("set -eu; . {}; . {}", words.display(), make.display());
            let output = shell(place.folder.path(), &line);
            if !output.status.success() {
                let why = String::from_utf8_lossy(&output.stderr);
                return Err(format!("{} of {}: {why}", make.display(), case.display()));
            }
        }
        Ok(place)
    }

    fn rows(&self) -> Option<i64> {
        crate::corpus::rows::count(&self.repo().join(".crew/journal.db"))
    }

    fn repo(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// Runs a line of shell in the repository.
    pub(crate) fn run(&self, line: &str) -> Said {
        let before = Written::look(self.folder.path(), self.seen.take().as_ref());
        let rows = self.rows();
        let (run, width) = without_cut(line);
        let output = shell(self.folder.path(), &run);
        let after = Written::look(self.folder.path(), Some(&before));
        let dir = self.folder.path().to_string_lossy().into_owned();
        let text = |bytes: &[u8]| {
            let text = replaced(bytes, dir.as_bytes(), b"[dir]");
            let lines = text.split_inclusive(|byte| *byte == b'\n');
            let cut: Vec<u8> = lines.flat_map(|line| cut(line, width)).collect();
            String::from_utf8_lossy(&cut).into_owned()
        };
        let written = before.until(&after);
        self.seen.set(Some(after));
        Said {
            code: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
            written,
            rows: rows.and_then(|before| Some(self.rows()? - before)),
            is_tk: line.starts_with("crew ticket "),
            is_text: line.contains("| cut ")
                || std::str::from_utf8(&output.stdout).is_ok() && std::str::from_utf8(&output.stderr).is_ok(),
        }
    }

    /// What did not end with its command, in words.
    pub(crate) fn left_running(&self) -> Vec<String> {
        let running = self.running().into_iter();
        running
            .map(|(_, command)| format!("still runs: {command}"))
            .collect()
    }

    /// The ids and command lines of the processes that have this place's home.
    fn running(&self) -> Vec<(String, String)> {
        let home = format!("HOME={}/home", self.folder.path().display());
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let ours = processes.filter(|process| {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable == home.as_bytes())
        });
        ours.map(|process| {
            let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            (process.file_name().to_string_lossy().into_owned(), command)
        })
        .collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What hangs must not outlive its case; and a case may have taken the right to write from its own
        // folders.
        let left: Vec<String> = self.running().into_iter().map(|(pid, _)| pid).collect();
        let line = format!("kill -KILL {} 2> /dev/null; chmod -R u+rwX ..", left.join(" "));
        let _ = shell(self.folder.path(), &line);
    }
}

impl Said {
    /// What no answer to whatever input may be, each in words.
    pub(crate) fn ugly(&self) -> impl Iterator<Item = String> {
        let both = format!("{}{}", self.out, self.err);
        let odd = both.chars().find(|c| {
            (c.is_control() && *c != '\n')
                || matches!(*c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        });
        let is_refusal = matches!(self.code, 1 | 2) && !self.err.is_empty();
        let says_what_to_do = [
            "hint: ",
            "For more information",
            "must be",
            "choose another",
            "is refused",
            "crew.toml:",
        ];
        let is_told = self.is_tk || says_what_to_do.iter().any(|words| self.err.contains(words));
        [
            odd.map(|c| format!("{c:?} came through")),
            (!self.is_text).then(|| "printed something that is not UTF-8".to_owned()),
            both.contains("panicked").then(|| "panicked".to_owned()),
            (!matches!(self.code, 0..=3)).then(|| format!("exit code {}", self.code)),
            (is_refusal && !is_told).then(|| "a refusal does not say what to do".to_owned()),
            (is_refusal && self.rows.is_some_and(|more| more != 0))
                .then(|| "a refusal, and the journal has other rows".to_owned()),
        ]
        .into_iter()
        .flatten()
    }
}

/// A line without the `cut` at its end, with the bytes of each line that this keeps. The cut is made once the
/// folder's name is out of the text: how long that is depends on the machine.
fn without_cut(line: &str) -> (String, Option<usize>) {
    let cut = line.rsplit_once(" | cut -c 1-");
    match cut.and_then(|(before, width)| Some((before, width.parse().ok()?))) {
        Some((before, width)) => (format!("{before} | cat"), Some(width)),
        None => (line.to_owned(), None),
    }
}

/// The beginning of a line, with its end of line.
fn cut(line: &[u8], width: Option<usize>) -> Vec<u8> {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let kept = width.map_or(text.len(), |width| width.min(text.len()));
    [&text[..kept], &line[text.len()..]].concat()
}

fn replaced(text: &[u8], word: &[u8], by: &[u8]) -> Vec<u8> {
    let mut rest = text;
    let mut out = Vec::new();
    while let Some(at) = rest.windows(word.len()).position(|window| window == word) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(by);
        rest = &rest[at + word.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Runs a line of shell in a place's repository, with nothing of the caller's environment but PATH.
#[expect(
    clippy::disallowed_methods,
    reason = "tests start the programs they are about"
)]
fn shell(root: &Path, line: &str) -> Output {
    let path = std::env::var("PATH").unwrap();
    // What `crew doctor` finds must not depend on what the developer has installed.
    let path: Vec<&str> = path
        .split(':')
        .filter(|folder| !Path::new(folder).join("claude").exists())
        .collect();
    Command::new("timeout")
        .args(["--kill-after=5", PATIENCE, "sh", "-c", line])
        .current_dir(root.join("repo"))
        .env_clear()
        .env("PATH", format!("{}/bin:{}", root.display(), path.join(":")))
        .env("HOME", root.join("home"))
        .env("USER", "grace")
        .env("TZ", "UTC")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        // Else git's words for no repository are others where the temporary folder is a file system of its
        // own.
        .env("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Grace")
        .env("GIT_AUTHOR_EMAIL", "grace@example.org")
        .env("GIT_COMMITTER_NAME", "Grace")
        .env("GIT_COMMITTER_EMAIL", "grace@example.org")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}
