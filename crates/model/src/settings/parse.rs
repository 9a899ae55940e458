//! From the text of a settings file to settings, or to all that is wrong with it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::de::DeTable;

use crate::ids::{self, AgentName};

use super::diagnostic::Diagnostic;
use super::reader::{Reader, Table, Value, Zero, shown};
use super::{
    Agents, Budget, FILE_NAME, Harness, HarnessKind, Land, MAX_AGENTS, OnStop, Price, Project, QuietChildren,
    Run, Settings, keys, names,
};

/// The most that a count of tries may be.
const MAX_TRIES: u32 = 1_000_000;
/// A thousand disks: more is a slip.
const MAX_MIB: u32 = 1_000_000_000;
/// As much as one branch may bring in altogether.
const MAX_FILE_MIB: u32 = 1024;

pub(super) fn bytes(bytes: &[u8], file: &str) -> Result<Settings, Vec<Diagnostic>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => settings(text, file),
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let end = valid.len();
            let hint = Some("save the file as UTF-8 text".to_owned());
            Err(vec![Diagnostic::new(
                file,
                &valid,
                end..end,
                "the file is not UTF-8 text".to_owned(),
                hint,
            )])
        }
    }
}

pub(super) fn settings(text: &str, file: &str) -> Result<Settings, Vec<Diagnostic>> {
    let mut reader = Reader::new(file, text);
    let (document, broken) = DeTable::parse_recoverable(text);
    for error in broken {
        let span = error.span().unwrap_or(text.len()..text.len());
        let (message, hint) = match (error.message(), text.get(span.clone())) {
            ("duplicate key", Some(key)) => (
                format!("`{}` stands here for the second time", shown(key)),
                "keep one of them",
            ),
            (message, Some(part)) if part.starts_with("<<<<<<<") => (
                message.to_owned(),
                "this is the mark of a merge conflict: resolve it first",
            ),
            (message, _) => (message.to_owned(), "the file must be TOML"),
        };
        reader.report(span, message, Some(hint.to_owned()));
    }
    if !reader.is_clean() {
        return Err(one_a_line(reader.into_found()));
    }
    let mut top = Table::new(String::new(), 0..text.len(), document.into_inner());
    let mut settings = Settings::default();
    top.set(
        &mut reader,
        "workspace_dir",
        &mut settings.workspace_dir,
        |r, v| workspace_dir(r, &v).map(Some),
    );
    top.set(&mut reader, "prompts_dir", &mut settings.prompts_dir, |r, v| {
        inner_path(r, &v).map(Some)
    });
    if let Some(table) = section(&mut reader, &mut top, "project") {
        settings.project = project(&mut reader, table);
    }
    if let Some(table) = section(&mut reader, &mut top, "run") {
        settings.run = run(&mut reader, table);
    }
    let mut wanted = None;
    if let Some(table) = section(&mut reader, &mut top, "agents") {
        (settings.agents, wanted) = agents(&mut reader, table);
    }
    let mut reviews_on = None;
    if let Some(table) = section(&mut reader, &mut top, "review") {
        (settings.review, reviews_on) = super::review::read(&mut reader, table);
    }
    let mut declared = BTreeSet::new();
    if let Some(mut table) = section(&mut reader, &mut top, "harness") {
        for (name, value) in table.take_all() {
            declared.insert(name.clone());
            if let Some(harness) = harness(&mut reader, &name, value) {
                settings.harness.insert(name, harness);
            }
        }
    }
    for (key, named) in [("agents.harness", wanted), ("review.harness", reviews_on)] {
        if let Some((name, span)) = named
            && !declared.contains(&name)
        {
            undeclared(&mut reader, key, &name, span, &declared);
        }
    }
    if let Some(table) = section(&mut reader, &mut top, "workspace") {
        settings.workspace = super::workspace::read(&mut reader, table);
    }
    if let Some(table) = section(&mut reader, &mut top, "checks") {
        settings.checks = super::checks::read(&mut reader, table);
    }
    if let Some(value) = top.take("check") {
        settings.check = super::check::read(&mut reader, value);
    }
    if let Some(table) = section(&mut reader, &mut top, "delegate") {
        settings.delegate = super::delegate::read(&mut reader, table);
    }
    if let Some(table) = section(&mut reader, &mut top, "train") {
        settings.train = super::train::read(&mut reader, table);
    }
    if let Some(table) = section(&mut reader, &mut top, "land") {
        settings.land = land(&mut reader, table);
    }
    if let Some(table) = section(&mut reader, &mut top, "budget") {
        settings.budget = budget(&mut reader, table);
    }
    if let Some(table) = section(&mut reader, &mut top, "hooks") {
        settings.hooks = super::hooks::read(&mut reader, table);
    }
    reader.finish("", top);
    if reader.is_clean() {
        Ok(settings)
    } else {
        Err(reader.into_found())
    }
}

/// A parser that goes on after an error trips over the same line again: the first word on each line is
/// enough.
fn one_a_line(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.dedup_by_key(|diagnostic| diagnostic.line);
    found
}

pub(super) fn section<'t>(reader: &mut Reader<'t>, table: &mut Table<'t>, key: &str) -> Option<Table<'t>> {
    let value = table.take(key)?;
    reader.table(value)
}

fn project(reader: &mut Reader<'_>, mut table: Table<'_>) -> Project {
    let mut project = Project::default();
    table.set(reader, "target", &mut project.target, |r, v| {
        let name = r.string(&v)?;
        match names::branch_name(&name) {
            Ok(()) => Some(name),
            Err(why) => {
                let hint = "name the branch that work lands on, such as \"main\"".to_owned();
                r.refuse(&v, &name, why, Some(hint));
                None
            }
        }
    });
    reader.finish("project", table);
    project
}

fn run(reader: &mut Reader<'_>, mut table: Table<'_>) -> Run {
    let mut run = Run::default();
    let t = &mut table;
    t.set(reader, "max_workers", &mut run.max_workers, |r, v| {
        r.whole(&v, 1..=MAX_AGENTS)
    });
    t.set(reader, "max_steps", &mut run.max_steps, |r, v| {
        r.whole(&v, 1..=MAX_TRIES)
    });
    t.set(reader, "attempts", &mut run.attempts, |r, v| {
        r.whole(&v, 1..=MAX_TRIES)
    });
    t.set(reader, "step_timeout", &mut run.step_timeout, |r, v| {
        r.duration(&v, Zero::Refused)
    });
    t.set(reader, "stall_after", &mut run.stall_after, |r, v| {
        r.duration(&v, Zero::Refused)
    });
    t.set(reader, "exit_within", &mut run.exit_within, |r, v| {
        r.duration(&v, Zero::Refused)
    });
    t.set(reader, "debounce", &mut run.debounce, |r, v| {
        r.duration(&v, Zero::Taken)
    });
    t.set(reader, "on_stop", &mut run.on_stop, |r, v| {
        let on_stop = r.string(&v)?;
        match on_stop.as_str() {
            "finish" => Some(OnStop::Finish),
            "leave" => Some(OnStop::Leave),
            "kill" => Some(OnStop::Kill),
            _ => {
                r.refuse(
                    &v,
                    &on_stop,
                    "is none of \"finish\", \"leave\" and \"kill\"",
                    None,
                );
                None
            }
        }
    });
    t.set(
        reader,
        "conflict_resolutions",
        &mut run.conflict_resolutions,
        |r, v| r.whole(&v, 0..=MAX_TRIES),
    );
    t.set(reader, "recoveries", &mut run.recoveries, |r, v| {
        r.whole(&v, 0..=MAX_TRIES)
    });
    t.set(reader, "answer_within", &mut run.answer_within, |r, v| {
        r.duration(&v, Zero::Refused).map(Some)
    });
    t.set(reader, "outputs_mib", &mut run.outputs_mib, |r, v| {
        r.whole(&v, 1..=MAX_MIB)
    });
    t.set(reader, "quiet_children", &mut run.quiet_children, |r, v| {
        let word = r.string(&v)?;
        match word.as_str() {
            "stop" => Some(QuietChildren::Stop),
            "wait" => Some(QuietChildren::Wait),
            _ => {
                r.refuse(&v, &word, "is neither \"stop\" nor \"wait\"", None);
                None
            }
        }
    });
    reader.finish("run", table);
    run
}

/// The table, and the harness it names, which may stand further down.
fn agents<'t>(reader: &mut Reader<'t>, mut table: Table<'t>) -> (Agents, Option<(String, Range<usize>)>) {
    let mut agents = Agents::default();
    let count = table.take("count").and_then(|value| {
        let number = reader.whole(&value, 1..=MAX_AGENTS)?;
        Some((number, value.key_span))
    });
    if let Some((number, _)) = count {
        agents.count = number;
    }
    if let Some(listed) = table.take("names") {
        let (name, span) = (listed.name.clone(), listed.span.clone());
        if let Some(items) = reader.list(listed) {
            let number = u32::try_from(items.len()).unwrap_or(u32::MAX);
            if number == 0 {
                let hint = "name at least one, or write `count` instead".to_owned();
                reader.report(span, format!("`{name}` names nobody"), Some(hint));
            } else if number > MAX_AGENTS {
                reader.report(
                    span,
                    format!("`{name}` names more than {MAX_AGENTS} agents"),
                    None,
                );
            } else {
                // The same number is no contradiction: settings as crew prints them have both.
                if let Some((count, span)) = count.filter(|(count, _)| *count != number) {
                    let message = format!("`agents.count` = {count}, and `agents.names` names {number}");
                    let hint = "remove `count`: with names, it is their number".to_owned();
                    reader.report(span, message, Some(hint));
                }
                agents.names = agent_names(reader, items);
                agents.count = number;
            }
        }
    }
    let wanted = table.take("harness").and_then(|value| {
        let name = reader.filled(&value)?;
        Some((name, value.span))
    });
    agents.harness = wanted.as_ref().map(|(name, _)| name.clone());
    if let Some(items) = table.take("leaders").and_then(|listed| reader.list(listed)) {
        agents.leaders = agent_names(reader, items);
    }
    reader.finish("agents", table);
    (agents, wanted)
}

fn agent_names(reader: &mut Reader<'_>, items: Vec<Value<'_>>) -> Vec<AgentName> {
    let mut taken = BTreeMap::new();
    let mut listed = Vec::new();
    for item in items {
        let Some(text) = reader.string(&item) else {
            continue;
        };
        let name = match AgentName::new(text.as_str()) {
            Ok(name) => name,
            Err(error) => {
                let why = match error {
                    ids::Error::Empty { .. } => "is empty".to_owned(),
                    ids::Error::TooLong { limit, .. } => format!("is longer than {limit} characters"),
                    ids::Error::Grammar { why, .. } => format!("is no agent's name: {why}"),
                };
                let hint = "it becomes a part of branch and folder names: write it like \"ada\"".to_owned();
                reader.refuse(&item, &text, &why, Some(hint));
                continue;
            }
        };
        if crate::policy::review::is_gatekeeper(&name) {
            let hint = "gatekeepers of reviews are called so".to_owned();
            reader.refuse(&item, &text, "is the name of a gatekeeper", Some(hint));
            continue;
        }
        // Workspaces are folders, and there are file systems that hold `Ada` and `ada` for one.
        if let Some(first) = taken.insert(name.as_str().to_ascii_lowercase(), item.name.clone()) {
            reader.refuse(
                &item,
                name.as_str(),
                &format!("is the same name as `{first}`"),
                None,
            );
            continue;
        }
        listed.push(name);
    }
    listed
}

fn harness<'t>(reader: &mut Reader<'t>, name: &str, value: Value<'t>) -> Option<Harness> {
    let key_span = value.key_span.clone();
    let mut table = reader.table(value)?;
    if let Err(why) = names::harness_name(name) {
        let message = format!("the harness's name \"{}\" {why}", shown(name));
        reader.report(
            key_span.clone(),
            message,
            Some("name it like [harness.scripted]".to_owned()),
        );
    }
    let kind = match table.take("kind") {
        Some(value) => {
            let kind = reader.string(&value)?;
            harness_kind(
                reader,
                &kind,
                value.span,
                format!("unknown harness kind \"{}\"", shown(&kind)),
            )
        }
        None => {
            let message = format!("[harness.{0}] has no `kind`, and {0} is none", shown(name));
            harness_kind(reader, name, key_span.clone(), message)
        }
    };
    // The keys that a client of another kind may have in its table cannot be known here.
    let kind = kind?;
    let mut harness = Harness::new(kind);
    match table.take("command") {
        Some(value) => {
            let (shown, span) = (value.name.clone(), value.span.clone());
            if let Some(items) = reader.list(value) {
                if items.is_empty() {
                    let hint = "name the program first: [\"./agent.sh\"]".to_owned();
                    reader.report(span, format!("`{shown}` has no program"), Some(hint));
                }
                harness.command = items.iter().filter_map(|item| reader.filled(item)).collect();
            }
        }
        None if kind == HarnessKind::Command => {
            let message = format!("[harness.{}] has no `command`", shown(name));
            let hint = "add the program that is the agent: command = [\"./agent.sh\"]".to_owned();
            reader.report(key_span, message, Some(hint));
        }
        None => {}
    }
    if let Some(args) = table
        .take("args")
        .and_then(|value| reader.each(value, |r, v| r.string(&v)))
    {
        harness.args = args;
    }
    if let Some(env) = section(reader, &mut table, "env") {
        harness.env = variables(reader, env);
    }
    if let Some(names) = table
        .take("pass_env")
        .and_then(|value| reader.each(value, |r, v| variable(r, &v)))
    {
        harness.pass_env = names;
    }
    match kind {
        HarnessKind::Claude => {
            harness.model = table.take("model").and_then(|value| reader.filled(&value));
            harness.price = section(reader, &mut table, "price").and_then(|table| price(reader, table));
            if let Some(value) = table.take("session") {
                let message = format!("`{}` means nothing to the kind `claude`", value.name);
                let hint = "Claude Code always remembers its session".to_owned();
                reader.report(value.key_span, message, Some(hint));
            }
        }
        HarnessKind::Command => {
            table.set(reader, "session", &mut harness.session, |r, v| r.boolean(&v));
            for (key, hint) in [
                ("model", "give it to the program by `args` or `env`"),
                ("price", "the program reports its own cost, in its line of usage"),
            ] {
                if let Some(value) = table.take(key) {
                    let message = format!("`{}` means nothing to the kind `command`", value.name);
                    reader.report(value.key_span, message, Some(hint.to_owned()));
                }
            }
        }
    }
    reader.finish("harness.*", table);
    Some(harness)
}

/// The price of tokens: reading and writing must be given, the cache has the usual share.
fn price(reader: &mut Reader<'_>, mut table: Table<'_>) -> Option<Price> {
    let place = table.name().to_owned();
    let mut take = |reader: &mut Reader<'_>, key| {
        let value = table.take(key)?;
        Some((reader.price(&value), value.key_span))
    };
    let (input, output) = (take(reader, "input"), take(reader, "output"));
    let (cache_read, cache_write) = (take(reader, "cache_read"), take(reader, "cache_write"));
    let missing = [("input", &input), ("output", &output)]
        .into_iter()
        .find(|(_, taken)| taken.is_none());
    if let Some((key, _)) = missing {
        let message = format!("`{}` has no `{key}`", shown(&place));
        let hint = "write it like { input = 3.0, output = 15.0 }: US dollars per million tokens".to_owned();
        reader.report(table.span(), message, Some(hint));
    }
    reader.finish("price", table);
    let mut price = Price::new(input?.0?, output?.0?);
    if let Some((read, _)) = cache_read {
        price.cache_read = read?;
    }
    if let Some((write, _)) = cache_write {
        price.cache_write = write?;
    }
    Some(price)
}

/// `unknown` is the message for a kind that is not even one of a later build.
fn harness_kind(
    reader: &mut Reader<'_>,
    kind: &str,
    span: Range<usize>,
    unknown: String,
) -> Option<HarnessKind> {
    if let Some(kind) = HarnessKind::named(kind) {
        return Some(kind);
    }
    if keys::LATER_KINDS.contains(&kind) {
        let message = format!(
            "the harness kind `{kind}` comes later; this build has: {}",
            kinds()
        );
        let hint = "kind = \"command\" runs any program as the agent".to_owned();
        reader.report(span, message, Some(hint));
        return None;
    }
    let hint =
        "write kind = \"claude\" for Claude Code, kind = \"command\" for any program that is the agent";
    reader.report(span, unknown, Some(hint.to_owned()));
    None
}

/// The kinds that there are.
fn kinds() -> String {
    HarnessKind::ALL.map(HarnessKind::name).join(", ")
}

/// The harness that a key names has no table.
fn undeclared(
    reader: &mut Reader<'_>,
    key: &str,
    name: &str,
    span: Range<usize>,
    declared: &BTreeSet<String>,
) {
    let name_shown = shown(name);
    let message = format!("`{key}` = \"{name_shown}\" has no table [harness.{name_shown}]");
    let hint = if name == HarnessKind::Claude.name() {
        format!("add a line [harness.{name}]: it may be empty")
    } else if let Some(nearest) = keys::nearest(name, declared.iter().map(String::as_str)) {
        format!("did you mean \"{}\"?", shown(nearest))
    } else if keys::LATER_KINDS.contains(&name) {
        format!(
            "the harness kind `{name}` comes later; this build has: {}. Add [harness.{name}] with \
             kind = \"command\" and a command",
            kinds()
        )
    } else {
        format!("add [harness.{name_shown}] with kind = \"command\" and command = [\"./agent.sh\"]")
    };
    reader.report(span, message, Some(hint));
}

/// The variables of an `env` table.
pub(super) fn variables(reader: &mut Reader<'_>, mut table: Table<'_>) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    for (name, value) in table.take_all() {
        if let Err(why) = names::variable(&name) {
            let message = format!("the variable \"{}\" {why}", shown(&name));
            reader.report(value.key_span.clone(), message, None);
        }
        if let Some(text) = reader.string(&value) {
            variables.insert(name, text);
        }
    }
    variables
}

pub(super) fn variable(reader: &mut Reader<'_>, item: &Value<'_>) -> Option<String> {
    let name = reader.string(item)?;
    match names::variable(&name) {
        Ok(()) => Some(name),
        Err(why) => {
            reader.refuse(item, &name, why, None);
            None
        }
    }
}

fn land<'t>(reader: &mut Reader<'t>, mut table: Table<'t>) -> Land {
    let mut land = Land::default();
    super::land::place(reader, &mut table, &mut land);
    let listed = table
        .take("hold_paths")
        .and_then(|value| reader.each(value, |r, v| hold_path(r, &v)));
    for path in listed.unwrap_or_default() {
        if path != FILE_NAME && !land.hold_paths.contains(&path) {
            land.hold_paths.push(path);
        }
    }
    table.set(reader, "max_file_mib", &mut land.max_file_mib, |r, v| {
        r.whole(&v, 1..=MAX_FILE_MIB)
    });
    reader.finish("land", table);
    land
}

fn budget(reader: &mut Reader<'_>, mut table: Table<'_>) -> Budget {
    let mut budget = Budget::default();
    for (key, place) in [
        ("ticket_usd", &mut budget.ticket_usd),
        ("day_usd", &mut budget.day_usd),
    ] {
        table.set(reader, key, place, |r, v| r.dollars(&v).map(Some));
    }
    reader.finish("budget", table);
    budget
}

fn hold_path(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let path = inner_path(reader, value)?;
    if path.contains(['*', '?', '[']) {
        let hint = "name a file, or a folder for all that is in it".to_owned();
        reader.refuse(
            value,
            &path,
            "is a pattern, and held paths are taken literally",
            Some(hint),
        );
        return None;
    }
    Some(path)
}

pub(super) fn inner_path(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let path = reader.string(value)?;
    match names::inner_path(&path) {
        Ok(path) => Some(path),
        Err(why) => {
            reader.refuse(value, &path, why, None);
            None
        }
    }
}

/// A folder that crew fills by itself must not be one that it, git or the queue already lives in.
fn workspace_dir(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let path = inner_path(reader, value)?;
    let first = path.split('/').next().unwrap_or_default();
    if [".crew", ".tickets"]
        .iter()
        .any(|own| first.eq_ignore_ascii_case(own))
    {
        let hint = "name a folder of its own, such as \"agents\"".to_owned();
        reader.refuse(value, &path, "is where crew keeps something else", Some(hint));
        return None;
    }
    Some(path)
}
