//! `[land]`: where work lands, and the limits of the work that lands by itself.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::FILE_NAME;
use super::check::is_in;
use super::reader::{Reader, Table, Value};

/// `[land]`: where work lands, and the limits of the work that lands by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Land {
    /// Where work lands.
    pub mode: LandMode,
    /// The name of the remote to which `mode = "push"` and `mode = "pr"` push, as `git remote` lists it.
    pub remote: String,
    /// The pull requests of `mode = "pr"`.
    pub pr: Pr,
    /// Which finished work waits for a person before it lands: that which changes held paths, or all of it.
    pub hold: Hold,
    /// What becomes of work that would land what looks like secrets.
    pub secrets: Secrets,
    /// Files, and folders with all that is in them, relative to the repository's root: work that changes one
    /// of them waits for a person. `crew.toml` and `.lfsconfig` are always among them, listed or not.
    pub hold_paths: Vec<String>,
    /// The size of the largest file, in MiB, that the work may bring in. Hosts such as GitHub refuse a push
    /// with a larger one. Files that the target has in that size, and content that Git LFS keeps, do not
    /// count.
    #[schemars(range(min = 1, max = 1024))]
    pub max_file_mib: u32,
    /// The author of the merges that land, as `Name <address>`; by default the agent that did the work. The
    /// commits of agents keep theirs.
    #[schemars(with = "Option<String>")]
    pub author: Option<Author>,
    /// Lines that the messages of the merges end with, beside crew's own: `Key: value` each.
    #[schemars(with = "Vec<String>")]
    pub trailers: Vec<Trailer>,
}

/// A name and an address, as git writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The name: neither empty nor with a character that git leaves out.
    pub name: String,
    /// The address, likewise.
    pub email: String,
}

impl Serialize for Author {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{} <{}>", self.name, self.email))
    }
}

/// A line at the end of a commit's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// Letters, digits and hyphens; none of crew's own.
    pub key: String,
    /// One line, not empty.
    pub value: String,
}

impl Serialize for Trailer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{}: {}", self.key, self.value))
    }
}

/// The trailers that crew writes itself, and reads again.
const OWN_TRAILERS: [&str; 6] = ["Ticket", "Agent", "Attempt", "Train", "Commitments", "Part"];

/// Where work lands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LandMode {
    /// On the target branch of this repository.
    #[default]
    Local,
    /// On the target branch of the remote, which the branch of this repository follows.
    Push,
    /// On the target branch of the remote, by a pull request for each ticket.
    Pr,
}

/// Which finished work waits for a person before it lands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// Work that changes one of the held paths.
    #[default]
    Paths,
    /// All work, once it has passed its checks, and what changes a held path before that.
    All,
}

/// What becomes of work that would land what looks like secrets: keys, tokens, `.env`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Secrets {
    /// It waits for a person.
    #[default]
    Hold,
    /// Nobody looks for them.
    Off,
}

/// `[land.pr]`: the pull requests of `mode = "pr"`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Pr {
    /// Whether they are made as drafts.
    pub draft: bool,
    /// The labels that they get when they are made; each must exist at the host.
    pub labels: BTreeSet<String>,
    /// Who merges: people, or crew once a person has approved.
    pub after: PrAfter,
}

/// When a pull request lands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrAfter {
    /// Once somebody has merged it.
    #[default]
    Merged,
    /// Once somebody has approved of it: then crew merges it.
    Approved,
}

impl Default for Land {
    fn default() -> Self {
        Self {
            mode: LandMode::Local,
            remote: "origin".to_owned(),
            pr: Pr::default(),
            hold: Hold::default(),
            secrets: Secrets::default(),
            hold_paths: vec![FILE_NAME.to_owned()],
            max_file_mib: 100,
            author: None,
            trailers: Vec::new(),
        }
    }
}

impl Land {
    /// The held paths in which no file is, `crew.toml` left out.
    #[must_use]
    pub fn paths_without<'p>(&self, files: &(impl Iterator<Item = &'p str> + Clone)) -> Vec<&str> {
        let listed = self.hold_paths.iter().map(String::as_str);
        let is_idle = |of: &&str| *of != FILE_NAME && !files.clone().any(|path| is_in(path, of));
        listed.filter(is_idle).collect()
    }

    /// True if a person looks at all work before it lands.
    #[must_use]
    pub fn holds_all(&self) -> bool {
        self.hold == Hold::All
    }

    /// The remote whose branch is the target; none where work lands in this repository alone.
    #[must_use]
    pub fn pushes_to(&self) -> Option<&str> {
        match self.mode {
            LandMode::Local => None,
            LandMode::Push | LandMode::Pr => Some(&self.remote),
        }
    }
}

impl Land {
    /// The pull requests by which work lands; none where it lands without.
    #[must_use]
    pub fn proposes(&self) -> Option<&Pr> {
        match self.mode {
            LandMode::Local | LandMode::Push => None,
            LandMode::Pr => Some(&self.pr),
        }
    }
}

/// Takes `mode`, `remote`, `pr`, `hold`, `secrets`, `author` and `trailers` out of the table.
pub(super) fn place<'t>(reader: &mut Reader<'t>, table: &mut Table<'t>, land: &mut Land) {
    table.set(reader, "mode", &mut land.mode, |r, v| mode(r, &v));
    table.set(reader, "remote", &mut land.remote, |r, v| remote(r, &v));
    table.set(reader, "hold", &mut land.hold, |r, v| hold(r, &v));
    table.set(reader, "secrets", &mut land.secrets, |r, v| secrets(r, &v));
    table.set(reader, "author", &mut land.author, |r, v| author(r, &v).map(Some));
    let trailers = table.take("trailers");
    let trailers = trailers.and_then(|value| reader.each(value, |r, v| trailer(r, &v)));
    land.trailers.extend(trailers.into_iter().flatten());
    if let Some(table) = table.take("pr").and_then(|value| reader.table(value)) {
        land.pr = pr(reader, table);
    }
}

fn pr<'t>(reader: &mut Reader<'t>, mut table: Table<'t>) -> Pr {
    let mut pr = Pr::default();
    table.set(reader, "draft", &mut pr.draft, |r, v| r.boolean(&v));
    let labels = table.take("labels");
    let labels = labels.and_then(|value| reader.each(value, |r, v| label(r, &v)));
    pr.labels.extend(labels.into_iter().flatten());
    table.set(reader, "after", &mut pr.after, |r, v| after(r, &v));
    reader.finish("land.pr", table);
    pr
}

/// A label is an argument of `gh`, which takes a comma for the end of one.
fn label(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let label = reader.filled(value)?;
    if label.contains(',') || label.chars().any(char::is_control) {
        let hint = "write each label as a text of its own, without a comma".to_owned();
        reader.refuse(value, &label, "is no label of a pull request", Some(hint));
        return None;
    }
    Some(label)
}

fn after(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<PrAfter> {
    let after = reader.string(value)?;
    match after.as_str() {
        "merged" => Some(PrAfter::Merged),
        "approved" => Some(PrAfter::Approved),
        _ => {
            let hint = "\"merged\" (by people) or \"approved\" (then crew merges)".to_owned();
            reader.refuse(
                value,
                &after,
                "is nothing that a pull request can wait for",
                Some(hint),
            );
            None
        }
    }
}

/// What git would leave out of it is refused, so that commits say what the file says.
fn author(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Author> {
    let text = reader.filled(value)?;
    let sound = |part: &str| {
        let odd = |c: char| c.is_control() || "<>\"\\".contains(c);
        let at_ends = |c: char| c.is_whitespace() || ".,:;'".contains(c);
        !part.is_empty()
            && part.chars().count() <= 200
            && !part.chars().any(odd)
            && part.trim_matches(at_ends) == part
    };
    let parts = text.strip_suffix('>').and_then(|text| text.split_once(" <"));
    match parts {
        Some((name, email)) if sound(name) && sound(email) && !email.contains(char::is_whitespace) => {
            Some(Author {
                name: name.to_owned(),
                email: email.to_owned(),
            })
        }
        Some(_) | None => {
            let hint = "write it as git does: \"Ada Lovelace <ada@example.com>\"".to_owned();
            reader.refuse(value, &text, "is no author of a commit", Some(hint));
            None
        }
    }
}

fn trailer(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Trailer> {
    let text = reader.filled(value)?;
    let is_key = |key: &str| {
        key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let (key, value_of) = match text.split_once(':') {
        Some((key, value_of)) => (key, value_of.trim()),
        None => ("", ""),
    };
    if !is_key(key) || value_of.is_empty() || text.len() > 500 || text.chars().any(char::is_control) {
        let hint = "write a key and its value on one line: \"Reviewed-by: Ada Lovelace <ada@example.com>\"";
        reader.refuse(value, &text, "is no trailer of a commit", Some(hint.to_owned()));
        return None;
    }
    if OWN_TRAILERS.iter().any(|own| own.eq_ignore_ascii_case(key)) {
        let hint = "take another key: crew writes this one itself, and reads it again".to_owned();
        reader.refuse(value, &text, "is a trailer of crew's", Some(hint));
        return None;
    }
    Some(Trailer {
        key: key.to_owned(),
        value: value_of.to_owned(),
    })
}

fn hold(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Hold> {
    let hold = reader.string(value)?;
    match hold.as_str() {
        "paths" => Some(Hold::Paths),
        "all" => Some(Hold::All),
        _ => {
            let hint = "\"paths\" (work that changes a path of hold_paths) or \"all\"".to_owned();
            reader.refuse(value, &hold, "is no work that can be held", Some(hint));
            None
        }
    }
}

fn secrets(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Secrets> {
    let secrets = reader.string(value)?;
    match secrets.as_str() {
        "hold" => Some(Secrets::Hold),
        "off" => Some(Secrets::Off),
        _ => {
            let hint =
                "\"hold\" (work with what looks like secrets waits for a person) or \"off\"".to_owned();
            reader.refuse(value, &secrets, "is no way to treat secrets", Some(hint));
            None
        }
    }
}

fn mode(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<LandMode> {
    let mode = reader.string(value)?;
    match mode.as_str() {
        "local" => Some(LandMode::Local),
        "push" => Some(LandMode::Push),
        "pr" => Some(LandMode::Pr),
        _ => {
            let hint = Some("\"local\", \"push\" or \"pr\"".to_owned());
            reader.refuse(value, &mode, "is no way to land", hint);
            None
        }
    }
}

/// The name becomes a part of refs and an argument of git; an address is none.
fn remote(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let name = reader.filled(value)?;
    let sound = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let is_part = |part: &str| {
        !part.is_empty() && !part.starts_with(['.', '-']) && !part.ends_with('.') && !part.ends_with(".lock")
    };
    if name.len() <= 100 && name.chars().all(sound) && !name.contains("..") && name.split('/').all(is_part) {
        return Some(name);
    }
    let hint = "name a remote as `git remote` lists it, such as \"origin\"; not its address".to_owned();
    reader.refuse(value, &name, "is no name of a remote", Some(hint));
    None
}
