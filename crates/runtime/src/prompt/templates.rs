//! The templates of prompts: those that are built in, the team's own in place of them, and what is wrong with
//! one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use minijinja::{Environment, UndefinedBehavior, context};
use model::settings::nearest;

use super::facts::{Answered, ChildWords, Facts, PartWords, Saying, Unverified};
use crate::{Error, Result};

/// A template as it is built in. A file of its name in `prompts_dir` wins.
pub(super) struct BuiltIn {
    pub(super) name: &'static str,
    text: &'static str,
    /// Its variables beside [`COMMON`].
    pub(super) own: &'static [&'static str],
}

pub(super) const BUILT_IN: [BuiltIn; 20] = [
    BuiltIn::new("instructions", include_str!("../prompts/instructions.md"), &[]),
    BuiltIn::new("init", include_str!("../prompts/init.md"), &[]),
    BuiltIn::new("step", include_str!("../prompts/step.md"), &[]),
    BuiltIn::new("resume", include_str!("../prompts/resume.md"), &[]),
    BuiltIn::new(
        "checks_failed",
        include_str!("../prompts/checks_failed.md"),
        &["which", "output", "nothing_committed", "refused", "remembered"],
    ),
    BuiltIn::new(
        "commitment_unmet",
        include_str!("../prompts/commitment_unmet.md"),
        &["says", "command", "output"],
    ),
    BuiltIn::new(
        "merge_conflict",
        include_str!("../prompts/merge_conflict.md"),
        &["paths", "missing"],
    ),
    BuiltIn::new("returned", include_str!("../prompts/returned.md"), &["by", "why"]),
    BuiltIn::new(
        "review",
        include_str!("../prompts/review.md"),
        &[
            "author",
            "commit",
            "summary",
            "passed",
            "diff",
            "diff_command",
            "is_cut",
            "run_id",
            "unverified",
            "is_changed",
            "given",
        ],
    ),
    BuiltIn::new(
        "last_chance",
        include_str!("../prompts/last_chance.md"),
        &["baited"],
    ),
    BuiltIn::new("answered", include_str!("../prompts/answered.md"), &["answers"]),
    BuiltIn::new("edited", include_str!("../prompts/edited.md"), &[]),
    BuiltIn::new("budget", include_str!("../prompts/budget.md"), &["budget"]),
    BuiltIn::new("unify", include_str!("../prompts/unify.md"), &["children"]),
    BuiltIn::new("said", include_str!("../prompts/said.md"), &["said"]),
    BuiltIn::new("mode_execute", include_str!("../prompts/mode_execute.md"), &[]),
    BuiltIn::new("mode_plan", include_str!("../prompts/mode_plan.md"), &[]),
    BuiltIn::new("mode_break_up", include_str!("../prompts/mode_break_up.md"), &[]),
    BuiltIn::new("mode_delegate", include_str!("../prompts/mode_delegate.md"), &[]),
    BuiltIn::new("mode_unify", include_str!("../prompts/mode_unify.md"), &["parts"]),
];

impl BuiltIn {
    const fn new(name: &'static str, text: &'static str, own: &'static [&'static str]) -> Self {
        Self { name, text, own }
    }
}

/// The limit of a template, in minijinja's instructions: far more than any needs, and over in no time.
const FUEL: u64 = 200_000;
/// Of a template's file.
const MOST_BYTES: u64 = 256 << 10;

/// The variables of every template: the fields of [`Facts`] but the budget, which is there only when the
/// prompt names it.
pub(super) const COMMON: [&str; 20] = [
    "ticket",
    "title",
    "body",
    "agent",
    "branch",
    "target",
    "target_commit",
    "step",
    "max_steps",
    "feedback",
    "kept",
    "new_session",
    "checks",
    "commitments",
    "submodules",
    "empty_submodules",
    "parent",
    "is_apart",
    "is_leader",
    "done_before",
];
/// The templates of one engine.
#[derive(Debug)]
pub(super) struct Templates {
    environment: Environment<'static>,
    /// The texts that they were made from.
    texts: Vec<String>,
}

impl Templates {
    /// The team's templates, and the built-in ones in place of those that the team does not have.
    ///
    /// # Errors
    /// A template that cannot be used, or a file that is meant to be one and has another name: with the path
    /// and the reason. The folder is not there.
    pub(super) fn load(dir: Option<&Path>) -> Result<Self> {
        if let Some(dir) = dir {
            look_around(dir)?;
        }
        let texts = texts(dir)?;
        let mut environment = Environment::new();
        environment.set_fuel(Some(FUEL));
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        for (built_in, text) in BUILT_IN.iter().zip(&texts) {
            let added = environment.add_template_owned(built_in.name, text.clone());
            added.map_err(|error| bad(dir, built_in.name, &error))?;
        }
        let templates = Self { environment, texts };
        for built_in in BUILT_IN {
            templates
                .try_out(&built_in)
                .map_err(|why| bad(dir, built_in.name, &why))?;
        }
        Ok(templates)
    }

    /// Whether these are made from the same texts.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.texts == other.texts
    }

    /// Whether nothing has changed in the folder since.
    ///
    /// # Errors
    /// A file there that cannot be read, or that is called as no template is.
    pub(super) fn is_as(&self, dir: &Path) -> Result<bool> {
        look_around(dir)?;
        Ok(self.texts == texts(Some(dir))?)
    }

    /// Finds the faults now that would show at some step: a variable that does not exist, whether or not its
    /// branch is ever taken, and a value that is used as another kind of value.
    fn try_out(&self, built_in: &BuiltIn) -> std::result::Result<(), String> {
        let template = self
            .environment
            .get_template(built_in.name)
            .map_err(|error| error.to_string())?;
        let globals: BTreeSet<&str> = self.environment.globals().map(|(name, _)| name).collect();
        let known = || COMMON.iter().chain(built_in.own).copied();
        let asked: BTreeSet<String> = template.undeclared_variables(false).into_iter().collect();
        for name in asked.iter().map(String::as_str) {
            if !globals.contains(name) && known().all(|known| known != name) {
                let meant = nearest(name, known());
                let meant = meant.map_or_else(
                    || format!("there are {}", known().collect::<Vec<_>>().join(", ")),
                    |near| format!("is `{near}` meant?"),
                );
                return Err(format!("it has no variable `{name}`: {meant}"));
            }
        }
        for few in [true, false] {
            let answers = [Answered {
                question: "Which?".to_owned(),
                answer: "The first.".to_owned(),
            }];
            let more = context! {
                which => "make test", says => "It is there", command => "test -e it", output => "1 failed", nothing_committed => few, refused => few, remembered => few, paths => ["README"], missing => (!few).then(|| "0".repeat(40)), answers,
                by => "pat", why => "so", author => "ada", commit => "0", summary => if few { "" } else { "did it" },
                passed => if few { Vec::new() } else { vec!["make test"] }, diff => if few { "" } else { "+a" },
                diff_command => "git diff a b", is_cut => !few, run_id => "t-1.2.1",
                is_changed => !few, given => if few { "" } else { "A title" },
                unverified => if few { Vec::new() } else { vec![Unverified::example()] },
                children => if few { Vec::new() } else { vec![ChildWords::example()] },
                baited => if few { "" } else { "pat" }, said => [Saying { by: "pat".to_owned(), text: "so".to_owned() }],
                parts => if few { Vec::new() } else { vec![PartWords { ticket: "t-2".to_owned(), title: "A part".to_owned(), result: "landed".to_owned() }] },
            };
            self.say(built_in.name, &Facts::example(few), more)
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Renders a template with the facts and its own variables.
    ///
    /// # Errors
    /// The team's template cannot be rendered with them.
    pub(super) fn render(&self, name: &str, facts: &Facts, more: minijinja::Value) -> Result<String> {
        self.say(name, facts, more)
            .map_err(|error| bad(None, name, &error))
    }

    fn say(
        &self,
        name: &str,
        facts: &Facts,
        more: minijinja::Value,
    ) -> std::result::Result<String, minijinja::Error> {
        let context = context! { ..more, ..minijinja::Value::from_serialize(facts) };
        self.environment.get_template(name)?.render(context)
    }
}
/// The file of a template.
fn file(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.md"))
}

/// The templates' texts, in the order of [`BUILT_IN`].
fn texts(dir: Option<&Path>) -> Result<Vec<String>> {
    let text = |built_in: &BuiltIn| {
        let Some(dir) = dir else {
            return Ok(built_in.text.to_owned());
        };
        let path = file(dir, built_in.name);
        let why: &dyn std::fmt::Display = match path.metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(built_in.text.to_owned());
            }
            Ok(meta) if !meta.is_file() => &"it is no regular file",
            Ok(meta) if meta.len() > MOST_BYTES => &"it is larger than 256 KiB",
            Err(error) => return Err(bad(Some(dir), built_in.name, &error)),
            Ok(_) => match std::fs::read_to_string(&path) {
                Ok(text) => return Ok(text),
                Err(error) => return Err(bad(Some(dir), built_in.name, &error)),
            },
        };
        Err(bad(Some(dir), built_in.name, why))
    };
    BUILT_IN.iter().map(text).collect()
}

fn bad(dir: Option<&Path>, name: &str, why: &dyn std::fmt::Display) -> Error {
    let template = dir.map(|dir| file(dir, name)).filter(|file| file.exists());
    Error::Prompt {
        template: template.map_or_else(|| format!("`{name}`"), |file| file.display().to_string()),
        why: why.to_string(),
    }
}

/// The folder must be there, and what is meant as a template must be called as one.
fn look_around(dir: &Path) -> Result<()> {
    let io = |source| Error::Io {
        doing: "read the folder that prompts_dir names,",
        path: dir.to_owned(),
        source,
    };
    for entry in std::fs::read_dir(dir).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let Some(name) = path
            .file_name()
            .and_then(|name| name.to_str()?.strip_suffix(".md"))
        else {
            continue;
        };
        let known = || BUILT_IN.iter().map(|built_in| built_in.name);
        // Every folder may have one of those.
        if name != "README"
            && known().all(|known| known != name)
            && let Some(near) = nearest(name, known())
        {
            return Err(Error::Prompt {
                template: path.display().to_string(),
                why: format!("no template is called so: is `{near}.md` meant?"),
            });
        }
    }
    Ok(())
}
