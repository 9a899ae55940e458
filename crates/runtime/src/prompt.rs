//! What agents are told: templates, built in or the team's own.

use std::path::Path;

use minijinja::{Environment, UndefinedBehavior, context};
use model::attempt::Prompt;
use model::money::Usd;
use model::policy::budget::Purse;

use crate::{Error, Result};

/// The built-in templates. A file of the same name in `prompts_dir` wins.
const BUILT_IN: [(&str, &str); 8] = [
    ("instructions", include_str!("prompts/instructions.md")),
    ("init", include_str!("prompts/init.md")),
    ("step", include_str!("prompts/step.md")),
    ("resume", include_str!("prompts/resume.md")),
    ("checks_failed", include_str!("prompts/checks_failed.md")),
    ("merge_conflict", include_str!("prompts/merge_conflict.md")),
    ("last_chance", include_str!("prompts/last_chance.md")),
    ("budget", include_str!("prompts/budget.md")),
];

/// The templates of one engine.
#[derive(Debug)]
pub(crate) struct Prompts(Environment<'static>);

/// What a template can speak of. Ticket text is data: nothing in it is rendered again.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Facts {
    /// The ticket's id.
    pub(crate) ticket: String,
    /// Its title.
    pub(crate) title: String,
    /// Its whole file below the front matter.
    pub(crate) body: String,
    /// The agent's name.
    pub(crate) agent: String,
    /// The branch it works on.
    pub(crate) branch: String,
    /// The branch its work lands on.
    pub(crate) target: String,
    /// The target's commit now.
    pub(crate) target_commit: String,
    /// The step's number.
    pub(crate) step: u32,
    /// The most steps there are.
    pub(crate) max_steps: u32,
    /// What earlier attempts came back with.
    pub(crate) feedback: Vec<String>,
    /// The ticket's text changed since the agent last saw it.
    pub(crate) edited: bool,
    /// Whether the conversation is new to the agent: then it is told its task again, whatever else it is told.
    pub(crate) new_session: bool,
    /// The checks that must pass.
    pub(crate) checks: Vec<String>,
    /// What is left of the ticket's budget, when the agent must come to an end.
    pub(crate) budget: Option<Budget>,
}

/// A ticket's budget, in words: `$4.10`.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Budget {
    /// What is spent.
    pub(crate) spent: String,
    /// What may be.
    pub(crate) limit: String,
    /// What is left.
    pub(crate) left: String,
}

impl Budget {
    pub(crate) fn of(purse: Purse) -> Self {
        Self {
            spent: Usd(purse.spent_micro_usd).to_string(),
            limit: Usd(purse.limit_micro_usd).to_string(),
            left: Usd(purse.left()).to_string(),
        }
    }
}

impl Prompts {
    pub(crate) fn load(dir: Option<&Path>) -> Result<Self> {
        let mut templates = Environment::new();
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.set_trim_blocks(true);
        templates.set_lstrip_blocks(true);
        for (name, built_in) in BUILT_IN {
            let own = dir.map(|dir| dir.join(format!("{name}.md")));
            let text = match own.as_ref().map(std::fs::read_to_string) {
                None => built_in.to_owned(),
                Some(Ok(text)) => text,
                Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => built_in.to_owned(),
                Some(Err(error)) => {
                    return Err(Error::Prompt {
                        name: name.to_owned(),
                        why: error.to_string(),
                    });
                }
            };
            let added = templates.add_template_owned(name, text);
            added.map_err(|error| Error::Prompt {
                name: name.to_owned(),
                why: error.to_string(),
            })?;
        }
        Ok(Self(templates))
    }

    /// The standing instructions, kept beside the workspace.
    pub(crate) fn instructions(&self, facts: &Facts) -> Result<String> {
        self.render("instructions", facts, context! {})
    }

    /// What a step says.
    pub(crate) fn step(&self, prompt: &Prompt, facts: &Facts) -> Result<String> {
        let said = self.about(prompt, facts)?;
        if facts.budget.is_none() {
            return Ok(said);
        }
        Ok(format!("{said}\n{}", self.render("budget", facts, context! {})?))
    }

    fn about(&self, prompt: &Prompt, facts: &Facts) -> Result<String> {
        let said = match prompt {
            Prompt::Init => self.render("init", facts, context! {})?,
            Prompt::Resume => self.render("resume", facts, context! {})?,
            Prompt::Step => self.render("step", facts, context! {})?,
            Prompt::ChecksFailed { which, output } => self.render(
                "checks_failed",
                facts,
                context! { which, output, nothing_committed => false },
            )?,
            Prompt::NothingCommitted => self.render(
                "checks_failed",
                facts,
                context! { which => "", output => "", nothing_committed => true },
            )?,
            Prompt::MergeConflict { paths } => self.render("merge_conflict", facts, context! { paths })?,
            Prompt::LastChance => self.render("last_chance", facts, context! {})?,
            Prompt::Answer { text } => format!(
                "The answer to your question:\n\n{text}\n\n{}",
                self.render("step", facts, context! {})?
            ),
            Prompt::Wakeup { why } => format!(
                "You asked to be woken: {why}\n\n{}",
                self.render("step", facts, context! {})?
            ),
            Prompt::Unanswered { question } => format!(
                "You asked:\n\n{question}\n\nNobody has answered in time. Decide it yourself, and say in your summary what you \
                 decided; if it cannot be decided without a person, say BLOCKED.\n\n{}",
                self.render("step", facts, context! {})?
            ),
        };
        // A new conversation knows nothing yet: the task comes first.
        let tells_task = matches!(prompt, Prompt::Init | Prompt::Resume);
        if facts.new_session && !tells_task {
            return Ok(format!("{}\n{said}", self.render("resume", facts, context! {})?));
        }
        Ok(said)
    }

    fn render(&self, name: &str, facts: &Facts, more: minijinja::Value) -> Result<String> {
        let bad = |error: minijinja::Error| Error::Prompt {
            name: name.to_owned(),
            why: error.to_string(),
        };
        let context = context! { ..more, ..minijinja::Value::from_serialize(facts) };
        self.0
            .get_template(name)
            .map_err(bad)?
            .render(context)
            .map_err(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            ticket: "t-1".into(),
            title: "Mend the {{ roof }}".into(),
            body: "# Mend the {{ roof }}\n\nIt leaks. {% raw %}".into(),
            agent: "ada".into(),
            branch: "agent/ada-t-1".into(),
            target: "main".into(),
            target_commit: "a".repeat(40),
            step: 2,
            max_steps: 20,
            feedback: vec!["the reviewer said no".into()],
            edited: true,
            new_session: false,
            checks: vec!["make test".into()],
            budget: None,
        }
    }

    #[test]
    fn every_built_in_template_renders_and_ticket_text_is_data() {
        let prompts = Prompts::load(None).unwrap();
        let all = [
            Prompt::Init,
            Prompt::Resume,
            Prompt::Step,
            Prompt::ChecksFailed {
                which: "make".into(),
                output: "{{ boom }}".into(),
            },
            Prompt::NothingCommitted,
            Prompt::MergeConflict {
                paths: vec!["a.txt".into()],
            },
            Prompt::LastChance,
            Prompt::Answer { text: "yes".into() },
            Prompt::Wakeup {
                why: "the build".into(),
            },
            Prompt::Unanswered {
                question: "which?".into(),
            },
        ];
        for prompt in &all {
            let said = prompts.step(prompt, &facts()).unwrap();
            assert!(
                said.contains("DONE"),
                "{prompt:?} does not say how to end:\n{said}"
            );
        }
        let said = prompts.step(&Prompt::Init, &facts()).unwrap();
        assert!(
            said.contains("Mend the {{ roof }}") && said.contains("{% raw %}"),
            "{said}"
        );
        assert!(prompts.instructions(&facts()).unwrap().contains("agent/ada-t-1"));
    }

    #[test]
    fn a_new_conversation_hears_its_task_whatever_else_it_hears() {
        let prompts = Prompts::load(None).unwrap();
        let prompt = Prompt::ChecksFailed {
            which: "make".into(),
            output: "boom".into(),
        };
        let said = prompts
            .step(
                &prompt,
                &Facts {
                    new_session: true,
                    ..facts()
                },
            )
            .unwrap();
        assert!(said.contains("It leaks.") && said.contains("boom"), "{said}");
        assert!(
            !prompts
                .step(
                    &prompt,
                    &Facts {
                        edited: false,
                        ..facts()
                    }
                )
                .unwrap()
                .contains("It leaks.")
        );
    }

    #[test]
    fn whatever_is_said_the_warning_comes_with_it() {
        let prompts = Prompts::load(None).unwrap();
        let purse = Purse {
            spent_micro_usd: 4_100_000,
            limit_micro_usd: 5_000_000,
        };
        let facts = Facts {
            budget: Some(Budget::of(purse)),
            ..facts()
        };
        for prompt in [Prompt::Init, Prompt::Step, Prompt::NothingCommitted] {
            let said = prompts.step(&prompt, &facts).unwrap();
            let figures = ["$4.10", "$5.00", "$0.90"];
            assert!(figures.iter().all(|figure| said.contains(figure)), "{said}");
        }
    }

    #[test]
    fn the_teams_template_wins_and_a_bad_one_is_told() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("step.md"), "Go on, {{ agent }}. DONE when done.").unwrap();
        let prompts = Prompts::load(Some(dir.path())).unwrap();
        assert_eq!(
            prompts.step(&Prompt::Step, &facts()).unwrap(),
            "Go on, ada. DONE when done."
        );
        std::fs::write(dir.path().join("step.md"), "{{ agnt }}").unwrap();
        let prompts = Prompts::load(Some(dir.path())).unwrap();
        let error = prompts.step(&Prompt::Step, &facts()).unwrap_err();
        assert!(error.to_string().contains("`step`"), "{error}");
        std::fs::write(dir.path().join("step.md"), "{% if").unwrap();
        assert!(Prompts::load(Some(dir.path())).is_err());
    }
}
