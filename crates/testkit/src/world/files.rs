//! The files of a world: its tickets, its scripts, its repository.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::{World, until};

/// A ticket to be written.
pub struct Writing<'w> {
    world: &'w World,
    id: String,
    lines: Vec<String>,
    title: String,
    body: String,
    script: String,
    priority: u8,
    status: &'static str,
    kind: &'static str,
}

impl World {
    /// A place in the test's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A place in the user's checkout.
    pub fn project(&self, name: &str) -> PathBuf {
        self.path("project").join(name)
    }

    /// Writes a file in the user's checkout.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.project(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A file of the user's checkout.
    pub fn read(&self, name: &str) -> String {
        let path = self.project(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// A ticket, written once it is told everything: see [`Writing::write`].
    pub fn ticket(&self, id: &str) -> Writing<'_> {
        Writing {
            world: self,
            id: id.to_owned(),
            lines: Vec::new(),
            title: format!("Do {id}"),
            body: String::new(),
            script: String::new(),
            priority: 2,
            status: "open",
            kind: "task",
        }
    }

    /// A ticket's file.
    pub fn ticket_file(&self, id: &str) -> PathBuf {
        self.project(".tickets").join(format!("{id}.md"))
    }

    /// The front matter's value of a key in a ticket's file.
    pub fn front(&self, id: &str, key: &str) -> String {
        let text = fs::read_to_string(self.ticket_file(id)).unwrap();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{key}: ")));
        line.unwrap_or_else(|| panic!("no {key} in {text}")).to_owned()
    }

    /// Changes a ticket's file as an editor does: the whole of it, under another name, renamed.
    pub fn edit(&self, id: &str, change: impl FnOnce(String) -> String) {
        let path = self.ticket_file(id);
        let text = change(fs::read_to_string(&path).unwrap());
        let beside = self.path("edited");
        fs::write(&beside, text).unwrap();
        fs::rename(&beside, &path).unwrap();
    }

    /// Changes what the ticket's agent does from now on.
    pub fn script(&self, id: &str, script: &str) {
        fs::write(self.path("scripts").join(id), script).unwrap();
    }

    /// Opens a gate that a script waits for with `until_there "$GATES/<name>"`.
    pub fn open(&self, gate: &str) {
        fs::write(self.path("gates").join(gate), "").unwrap();
    }

    /// What the n-th run of a ticket was told.
    pub fn prompt(&self, id: &str, n: u32) -> String {
        let path = self.path("logs").join(format!("{id}.{n}.prompt"));
        fs::read_to_string(&path).unwrap_or_else(|_| panic!("{id} had no run {n}"))
    }

    /// A variable of the n-th run's environment.
    pub fn variable(&self, id: &str, n: u32, name: &str) -> Option<String> {
        let env = fs::read_to_string(self.path("logs").join(format!("{id}.{n}.env"))).unwrap();
        env.lines()
            .find_map(|line| line.strip_prefix(&format!("{name}=")))
            .map(str::to_owned)
    }

    /// Runs git as the person does; must succeed.
    pub fn git(&self, args: &[&str]) -> String {
        self.git_at(&self.path("project"), args)
    }

    /// Adds lines to the settings of the project's repository.
    pub(super) fn add_to_config(&self, lines: &str) {
        let config = self.project(".git/config");
        let mut file = fs::File::options().append(true).open(config).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
    }

    /// Runs git as the person does in another folder; must succeed. A checkout that is just being followed is
    /// locked for a moment, and a person tries again.
    pub fn git_at(&self, folder: &Path, args: &[&str]) -> String {
        let mut said = None;
        until(&mut || {
            let output = self
                .program("git")
                .current_dir(folder)
                // A process more for each commit, and never anything to do in a repository this small.
                .args(["-c", "maintenance.auto=false"])
                .args(args)
                .output()
                .unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (out, err) = (text(&output.stdout), text(&output.stderr));
            let again = !output.status.success() && err.contains(".lock': File exists");
            said = Some((output.status.success(), out, err));
            !again
        });
        let (well, out, err) = said.unwrap();
        assert!(well, "git {args:?}: {out}{err}");
        out.trim_end().to_owned()
    }

    /// A commit of the person's own on the branch that is checked out.
    pub fn commit(&self, name: &str, text: &str) {
        self.write(name, text);
        self.git(&["add", "--", name]);
        self.git(&["commit", "-q", "-m", &format!("by hand: {name}"), "--", name]);
    }

    /// A person changes `crew.toml` where it says `old`.
    pub fn change_settings(&self, old: &str, new: &str) {
        let text = self.read("crew.toml");
        assert!(text.contains(old), "{text}");
        self.write("crew.toml", &text.replace(old, new));
    }

    /// A file as it is on the target branch.
    pub fn on_main(&self, path: &str) -> Option<String> {
        let output = self
            .program("git")
            .current_dir(self.path("project"))
            .args(["show", &format!("main:{path}")])
            .output();
        let output = output.unwrap();
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The folder that the workspaces stand in.
    pub fn workspaces(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for repository in fs::read_dir(self.path("home/.local/state/crew"))
            .into_iter()
            .flatten()
            .flatten()
            // The slots of checks stay.
            .filter(|folder| !folder.file_name().to_string_lossy().ends_with(".checks"))
        {
            found.extend(
                fs::read_dir(repository.path())
                    .into_iter()
                    .flatten()
                    .flatten()
                    .map(|entry| entry.path()),
            );
        }
        // What crew keeps beside a workspace begins with a dot.
        found.retain(|path| path.is_dir() && !path.file_name().unwrap().to_string_lossy().starts_with('.'));
        found
    }
}

impl Writing<'_> {
    /// Its title.
    pub fn title(mut self, title: &str) -> Self {
        title.clone_into(&mut self.title);
        self
    }

    /// The text below its title.
    pub fn body(mut self, body: &str) -> Self {
        body.clone_into(&mut self.body);
        self
    }

    /// Its priority.
    pub fn priority(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// Its status, as the file has it.
    pub fn status(mut self, status: &'static str) -> Self {
        self.status = status;
        self
    }

    /// Its type, as the file has it.
    pub fn kind(mut self, kind: &'static str) -> Self {
        self.kind = kind;
        self
    }

    /// A further line of the front matter.
    pub fn line(mut self, line: &str) -> Self {
        self.lines.push(line.to_owned());
        self
    }

    /// The tickets that it waits for.
    pub fn deps(self, ids: &[&str]) -> Self {
        let line = format!("deps: [{}]", ids.join(", "));
        self.line(&line)
    }

    /// What its agent does at each of its steps, in sh.
    pub fn agent(mut self, script: &str) -> Self {
        script.clone_into(&mut self.script);
        self
    }

    /// Writes file and script.
    pub fn write(self) {
        let n = self.world.written.get();
        self.world.written.set(n + 1);
        self.world.script(&self.id, &self.script);
        let mut text = format!("---\nid: {}\nstatus: {}\n", self.id, self.status);
        if !self.lines.iter().any(|line| line.starts_with("deps:")) {
            text.push_str("deps: []\n");
        }
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&format!(
            "links: []\ncreated: 2026-01-01T00:{:02}:{:02}Z\ntype: {}\npriority: {}\n---\n# {}\n\n{}\n",
            n / 60,
            n % 60,
            self.kind,
            self.priority,
            self.title,
            self.body
        ));
        let beside = self.world.path("written");
        fs::write(&beside, text).unwrap();
        fs::rename(&beside, self.world.ticket_file(&self.id)).unwrap();
    }
}
