//! The prompts of agents: templates, built in or the team's own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use minijinja::{Environment, UndefinedBehavior, context};
use model::attempt::{ChildEnd, ChildResult, Message, Mode, Prompt};
use model::money::Usd;
use model::policy::budget::Budget;
use model::settings::nearest;
use model::ticket;

use crate::{Error, Result};

/// A template as it is built in. A file of its name in `prompts_dir` wins.
struct BuiltIn {
    name: &'static str,
    text: &'static str,
    /// Its variables beside [`COMMON`].
    own: &'static [&'static str],
}

const BUILT_IN: [BuiltIn; 20] = [
    BuiltIn::new("instructions", include_str!("prompts/instructions.md"), &[]),
    BuiltIn::new("init", include_str!("prompts/init.md"), &[]),
    BuiltIn::new("step", include_str!("prompts/step.md"), &[]),
    BuiltIn::new("resume", include_str!("prompts/resume.md"), &[]),
    BuiltIn::new(
        "checks_failed",
        include_str!("prompts/checks_failed.md"),
        &["which", "output", "nothing_committed", "refused", "remembered"],
    ),
    BuiltIn::new(
        "commitment_unmet",
        include_str!("prompts/commitment_unmet.md"),
        &["says", "command", "output"],
    ),
    BuiltIn::new(
        "merge_conflict",
        include_str!("prompts/merge_conflict.md"),
        &["paths", "missing"],
    ),
    BuiltIn::new("returned", include_str!("prompts/returned.md"), &["by", "why"]),
    BuiltIn::new(
        "review",
        include_str!("prompts/review.md"),
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
    BuiltIn::new("last_chance", include_str!("prompts/last_chance.md"), &["baited"]),
    BuiltIn::new("answered", include_str!("prompts/answered.md"), &["answers"]),
    BuiltIn::new("edited", include_str!("prompts/edited.md"), &[]),
    BuiltIn::new("budget", include_str!("prompts/budget.md"), &["budget"]),
    BuiltIn::new("unify", include_str!("prompts/unify.md"), &["children"]),
    BuiltIn::new("said", include_str!("prompts/said.md"), &["said"]),
    BuiltIn::new("mode_execute", include_str!("prompts/mode_execute.md"), &[]),
    BuiltIn::new("mode_plan", include_str!("prompts/mode_plan.md"), &[]),
    BuiltIn::new("mode_break_up", include_str!("prompts/mode_break_up.md"), &[]),
    BuiltIn::new("mode_delegate", include_str!("prompts/mode_delegate.md"), &[]),
    BuiltIn::new("mode_unify", include_str!("prompts/mode_unify.md"), &["parts"]),
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
const COMMON: [&str; 20] = [
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

/// The beginning of the prompt after a step that something killed.
const WAS_LOST: &str = "Your last step did not end by itself: something killed it, or the process of crew's that held it. If you \
     have ended processes by a word in their command line (`pkill -f`, `killall`), that may have been it: end a process that you \
     started by its id.\n";

/// The templates of one engine.
#[derive(Debug)]
pub(crate) struct Prompts {
    templates: Environment<'static>,
    /// The facts that they were made from.
    texts: Vec<String>,
}

/// The variables of a template. Ticket text is data: nothing in it is rendered again.
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
    /// The results of earlier attempts.
    pub(crate) feedback: Vec<String>,
    /// The commits of earlier attempts that no branch holds.
    pub(crate) kept: Vec<String>,
    /// Earlier questions and their answers.
    #[serde(skip)]
    pub(crate) answers: Vec<Answered>,
    /// The lines of its last step that crew could not use, each in a message for the agent.
    #[serde(skip)]
    pub(crate) unusable: Vec<String>,
    /// What people said that the agent was not shown yet.
    #[serde(skip)]
    pub(crate) said: Vec<Saying>,
    /// The prompt that said why its work came back, which no submission has answered yet.
    #[serde(skip)]
    pub(crate) returned: Option<Prompt>,
    /// Its task mode, where the prompt says it.
    #[serde(skip)]
    pub(crate) mode: Option<Mode>,
    /// What came of the tickets into which its ticket was broken up.
    #[serde(skip)]
    pub(crate) parts: Vec<PartWords>,
    /// Who wants it to come to an end, where somebody does: then this is the last step.
    #[serde(skip)]
    pub(crate) baited: Option<String>,
    /// The ticket's text changed since the agent last saw it.
    #[serde(skip)]
    pub(crate) edited: bool,
    /// Something killed the last step.
    #[serde(skip)]
    pub(crate) was_lost: bool,
    /// The files that crew did not commit with the work that has come back.
    #[serde(skip)]
    pub(crate) left_out: Option<String>,
    /// Whether the conversation is new to the agent: then its prompt has the task again, whatever else it
    /// says.
    pub(crate) new_session: bool,
    /// The checks that must pass.
    pub(crate) checks: Vec<String>,
    /// The commitments that the work must meet, each in words with its command.
    pub(crate) commitments: Vec<String>,
    /// The folders of submodules whose files crew has.
    pub(crate) submodules: Vec<String>,
    /// The folders of submodules whose files crew does not have.
    pub(crate) empty_submodules: Vec<String>,
    /// The ticket whose agent has delegated this one; empty where none has.
    pub(crate) parent: String,
    /// Whether it has a folder of its own, though another agent has delegated it.
    pub(crate) is_apart: bool,
    /// Whether its agent may delegate.
    pub(crate) is_leader: bool,
    /// The children that are over now, where the prompt is about them.
    #[serde(skip)]
    pub(crate) children: Vec<ChildWords>,
    /// Its children that are done, where the prompt tells a new session of them.
    pub(crate) done_before: Vec<ChildWords>,
    /// The rest of the ticket's budget, when the agent must come to an end.
    pub(crate) budget: Option<BudgetWords>,
}

/// The variables of the prompt of a review, beside those of every template.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct ReviewFacts {
    /// The agent that did the work.
    pub(crate) author: String,
    /// The commit under review.
    pub(crate) commit: String,
    /// The author's summary of the work; may be empty.
    pub(crate) summary: String,
    /// The id of the run, which the verdict names.
    pub(crate) run_id: String,
    /// The checks that passed.
    pub(crate) passed: Vec<String>,
    /// Whether the ticket's text has changed since an agent first got it.
    pub(crate) is_changed: bool,
    /// The ticket's text as an agent first got it; empty where it is the same, or not found any more.
    pub(crate) given: String,
    /// The commitments that no command verifies.
    pub(crate) unverified: Vec<Unverified>,
    /// The beginning of the change, as a patch; empty where it is too large.
    pub(crate) diff: String,
    /// The command that shows the whole change.
    pub(crate) diff_command: String,
    /// Whether the diff is the beginning only.
    pub(crate) is_cut: bool,
    /// The gatekeeper's questions that nobody answered in time.
    #[serde(skip)]
    pub(crate) unanswered: Vec<String>,
}

/// A commitment that a gatekeeper names as met.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Unverified {
    /// Its number.
    pub(crate) id: u32,
    /// The promise in words.
    pub(crate) says: String,
}

impl Unverified {
    /// Something to try a template out with.
    fn example() -> Self {
        Self {
            id: 2,
            says: "The page is friendly".to_owned(),
        }
    }
}

/// What a child came to, in words.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct ChildWords {
    /// Its id.
    pub(crate) id: String,
    /// Its title.
    pub(crate) title: String,
    /// How it ended.
    pub(crate) end: String,
    /// The agent that did it; empty where nobody began.
    pub(crate) agent: String,
    /// The agent's summary; may be empty.
    pub(crate) summary: String,
    /// The cost; empty where nothing is known of it.
    pub(crate) cost: String,
}

impl ChildWords {
    /// `missing`: the last of its commits that is not in the branch, whose objects the workspace has.
    /// `left`: the files in the workspace that crew never commits, of a child that is not done.
    pub(crate) fn of(result: &ChildResult, missing: Option<&str>, left: &[String]) -> Self {
        let end = match &result.end {
            ChildEnd::Unified if missing.is_some() => {
                "It is done, but its commits are not in this branch any more.".to_owned()
            }
            ChildEnd::Unmerged { why } if missing.is_some() => format!(
                "It is done, but its work is not in this folder. It lands with yours once you have merged it:\n{}",
                quoted(why)
            ),
            ChildEnd::Unified | ChildEnd::Unmerged { .. } => match &result.work {
                Some(work) if work.is_nothing() => "It says that it is done; it changed nothing.".to_owned(),
                Some(work) => format!("It is done: {}.", work.words()),
                None => "It is done.".to_owned(),
            },
            ChildEnd::GivenUp { why } => format!("It was given up:\n{}", quoted(why)),
            ChildEnd::Ended { why } => format!("It was ended, and is not done:\n{}", quoted(why)),
        };
        let place = match (&result.end, missing) {
            (ChildEnd::Unified | ChildEnd::Unmerged { .. }, Some(commit)) => format!(
                "\nIt is in commit {commit}: `git log HEAD..{commit}` shows it, `git merge {commit}` brings it in."
            ),
            (ChildEnd::GivenUp { .. } | ChildEnd::Ended { .. }, Some(commit)) => format!(
                "\nWhat its agent did is not in this folder, but in commit {commit}: `git log HEAD..{commit}` shows it, \
                 `git cherry-pick` and `git checkout {commit} -- <path>` bring in what is of use.{}",
                but_for(left)
            ),
            (ChildEnd::GivenUp { .. } | ChildEnd::Ended { .. }, None) if result.agent.is_some() => {
                format!(
                    "\nWhat its agent may have done is not in this folder.{}",
                    but_for(left)
                )
            }
            (_, None) => String::new(),
        };
        let end = format!("{end}{place}");
        let cost = Some(result.cost_micro_usd).filter(|cost| *cost > 0);
        Self {
            id: result.id.to_string(),
            title: text::sanitise::line(&result.title),
            end,
            agent: result.agent.as_ref().map(ToString::to_string).unwrap_or_default(),
            summary: result.summary.as_deref().map(quoted).unwrap_or_default(),
            cost: cost.map(|cost| Usd(cost).to_string()).unwrap_or_default(),
        }
    }

    /// Something to try a template out with.
    fn example() -> Self {
        Self {
            id: "t-1-c1".to_owned(),
            title: "A part of it".to_owned(),
            end: "It is done.".to_owned(),
            agent: "bob".to_owned(),
            summary: "did it".to_owned(),
            cost: "$0.10".to_owned(),
        }
    }
}

/// What stays in a folder out of which the work of a child was taken.
fn but_for(left: &[String]) -> String {
    let named = match left {
        [] => String::new(),
        left => format!(": {} may be its doing, too", left.join(", ")),
    };
    format!(
        " Files that git ignores, and those that crew never commits, such as `.env` and keys, are as it left them{named}."
    )
}

/// A question and what a person said to it, without what only a terminal understands.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Answered {
    /// The question.
    pub(crate) question: String,
    /// The answer.
    pub(crate) answer: String,
}

impl Answered {
    pub(crate) fn of(answer: &ticket::Answer) -> Self {
        Self {
            question: answer.question.clone(),
            answer: told(&answer.text),
        }
    }
}

/// What a person said to an agent, without what only a terminal understands.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Saying {
    /// The person.
    pub(crate) by: String,
    /// The words.
    pub(crate) text: String,
}

impl Saying {
    pub(crate) fn of(message: &Message) -> Self {
        Self {
            by: text::sanitise::line(&message.by.to_string()),
            text: told(&message.text),
        }
    }
}

/// What came of a part of a ticket.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct PartWords {
    /// The part's ticket.
    pub(crate) ticket: String,
    /// Its title.
    pub(crate) title: String,
    /// What came of it.
    pub(crate) result: String,
}

impl PartWords {
    pub(crate) fn of(part: &ticket::Part) -> Self {
        Self {
            ticket: part.ticket.to_string(),
            title: text::sanitise::line(&part.title),
            result: text::sanitise::line(part.result.as_deref().unwrap_or("is not over")),
        }
    }
}

/// A person may have pasted it, with whatever a terminal had in it.
fn told(answer: &str) -> String {
    text::sanitise::prompt(answer).trim_end().to_owned()
}

/// What somebody else says, each line marked as theirs: none of it reads as crew's own words.
pub(crate) fn quoted(words: &str) -> String {
    let clean = text::sanitise::prompt(words.trim());
    let lines: Vec<String> = clean.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

/// A ticket's budget, in words: `$4.10`.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct BudgetWords {
    /// The sum that is spent.
    pub(crate) spent: String,
    /// The sum that may be spent.
    pub(crate) limit: String,
    /// The sum that is left.
    pub(crate) left: String,
}

impl Facts {
    /// Something to try a template out with: with little to say, or with all there can be.
    fn example(few: bool) -> Self {
        let budget = Budget {
            spent_micro_usd: 4_100_000,
            limit_micro_usd: 5_000_000,
        };
        let some = |text: &str| {
            if few { Vec::new() } else { vec![text.to_owned()] }
        };
        Self {
            ticket: "t-1".to_owned(),
            title: "A title".to_owned(),
            body: "# A title\n".to_owned(),
            agent: "ada".to_owned(),
            branch: "agent/ada-t-1".to_owned(),
            target: "main".to_owned(),
            target_commit: "0".repeat(40),
            step: 1,
            max_steps: 20,
            feedback: some("It does not build."),
            kept: some(&"1".repeat(40)),
            answers: Vec::new(),
            unusable: Vec::new(),
            said: Vec::new(),
            returned: None,
            mode: None,
            parts: Vec::new(),
            baited: None,
            edited: !few,
            was_lost: false,
            left_out: None,
            new_session: few,
            checks: some("make test"),
            commitments: some("The page is there (`test -e page.html`)"),
            submodules: some("sub"),
            empty_submodules: some("lib"),
            parent: if few { String::new() } else { "t-0".to_owned() },
            is_apart: !few,
            is_leader: !few,
            children: Vec::new(),
            done_before: if few {
                Vec::new()
            } else {
                vec![ChildWords::example()]
            },
            budget: Some(BudgetWords::of(budget)),
        }
    }
}

impl BudgetWords {
    pub(crate) fn of(budget: Budget) -> Self {
        Self {
            spent: Usd(budget.spent_micro_usd).to_string(),
            limit: Usd(budget.limit_micro_usd).to_string(),
            left: Usd(budget.left()).to_string(),
        }
    }
}

impl Prompts {
    /// The team's templates, and the built-in ones in place of those that the team does not have.
    ///
    /// # Errors
    /// A template that cannot be used, or a file that is meant to be one and has another name: with the path
    /// and the reason. The folder is not there.
    pub(crate) fn load(dir: Option<&Path>) -> Result<Self> {
        if let Some(dir) = dir {
            look_around(dir)?;
        }
        let texts = texts(dir)?;
        let mut templates = Environment::new();
        templates.set_fuel(Some(FUEL));
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.set_trim_blocks(true);
        templates.set_lstrip_blocks(true);
        for (built_in, text) in BUILT_IN.iter().zip(&texts) {
            let added = templates.add_template_owned(built_in.name, text.clone());
            added.map_err(|error| bad(dir, built_in.name, &error))?;
        }
        let prompts = Self { templates, texts };
        for built_in in BUILT_IN {
            prompts
                .try_out(&built_in)
                .map_err(|why| bad(dir, built_in.name, &why))?;
        }
        Ok(prompts)
    }

    /// Whether these are made from the same texts.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.texts == other.texts
    }

    /// Whether nothing has changed in the folder since.
    ///
    /// # Errors
    /// A file there that cannot be read, or that is called as no template is.
    pub(crate) fn is_as(&self, dir: &Path) -> Result<bool> {
        look_around(dir)?;
        Ok(self.texts == texts(Some(dir))?)
    }

    /// Finds the faults now that would show at some step: a variable that does not exist, whether or not its
    /// branch is ever taken, and a value that is used as another kind of value.
    fn try_out(&self, built_in: &BuiltIn) -> std::result::Result<(), String> {
        let template = self
            .templates
            .get_template(built_in.name)
            .map_err(|error| error.to_string())?;
        let globals: BTreeSet<&str> = self.templates.globals().map(|(name, _)| name).collect();
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

    /// The standing instructions, kept beside the workspace.
    pub(crate) fn instructions(&self, facts: &Facts) -> Result<String> {
        self.render("instructions", facts, context! {})
    }

    /// The prompt of a review, and below it what came of the questions that were asked about the ticket. Its
    /// author may have asked one of them: each line of a question is marked as somebody else's.
    pub(crate) fn review(&self, facts: &Facts, review: &ReviewFacts) -> Result<String> {
        let mut said = vec![self.render("review", facts, minijinja::Value::from_serialize(review))?];
        let answers = facts.answers.iter().map(|answered| Answered {
            question: format!("\n{}", quoted(&answered.question)),
            answer: answered.answer.clone(),
        });
        let answers: Vec<Answered> = answers.collect();
        if !answers.is_empty() {
            said.push(self.render("answered", facts, context! { answers })?);
        }
        said.extend(review.unanswered.iter().map(|question| nobody_answered(question)));
        Ok(said.join("\n"))
    }

    /// The prompt of a step.
    pub(crate) fn step(&self, prompt: &Prompt, facts: &Facts) -> Result<String> {
        let is_task = matches!(prompt, Prompt::Init | Prompt::Resume);
        let mut said = Vec::new();
        if facts.was_lost {
            said.push(WAS_LOST.to_owned());
        }
        // A new conversation knows nothing yet: the task comes first, with the ticket as it is now and all
        // answers so far.
        if is_task {
            said.push(self.about(prompt, facts)?);
        } else if facts.new_session {
            said.push(self.render("resume", facts, context! {})?);
        } else if facts.edited {
            said.push(self.render("edited", facts, context! {})?);
        }
        let tells_answers = (is_task || facts.new_session) && !facts.answers.is_empty();
        if tells_answers {
            let answers = &facts.answers;
            said.push(self.render("answered", facts, context! { answers })?);
        }
        if !facts.unusable.is_empty() {
            said.push(could_not_use(&facts.unusable));
        }
        if let Some(mode) = facts.mode {
            let parts = &facts.parts;
            let before = if said.is_empty() { "" } else { "\n" };
            let text = self.render(template_of(mode), facts, context! { parts })?;
            said.push(format!("{before}{text}\n"));
        }
        if !facts.said.is_empty() {
            said.push(self.render("said", facts, context! { said => facts.said })?);
        }
        // Why its work came back stands until it submits again: one that remembers it has been told once.
        let reason = facts.returned.as_ref().filter(|reason| *reason != prompt);
        if let Some(reason) = reason.filter(|_| facts.new_session) {
            said.push(self.about(reason, facts)?);
        }
        match prompt {
            Prompt::Init | Prompt::Resume => {}
            Prompt::Step | Prompt::LastChance if facts.baited.is_some() => {}
            // It stands there already, with its question.
            Prompt::Answer { text }
                if tells_answers && facts.answers.last().is_some_and(|last| last.answer == told(text)) =>
            {
                said.push(self.render("step", facts, context! {})?);
            }
            Prompt::Step
            | Prompt::ChecksFailed { .. }
            | Prompt::CommitmentUnmet { .. }
            | Prompt::NothingCommitted
            | Prompt::MergeConflict { .. }
            | Prompt::Returned { .. }
            | Prompt::LastChance
            | Prompt::Answer { .. }
            | Prompt::Wakeup { .. }
            | Prompt::Unify { .. }
            | Prompt::Unanswered { .. }
            | Prompt::ChangedAfter { .. } => said.push(self.about(prompt, facts)?),
        }
        if let Some(left_out) = facts.left_out.as_ref().filter(|_| is_sent_back(prompt)) {
            said.push(format!(
                "These files of your workspace are not committed, and crew left them out of what it committed for you: {left_out}. \
                 Commit yourself what belongs to the work.\n"
            ));
        }
        if facts.baited.is_some() {
            said.push(self.about(&Prompt::LastChance, facts)?);
        }
        if facts.budget.is_some() {
            said.push(self.render("budget", facts, context! {})?);
        }
        Ok(said.join("\n"))
    }

    fn about(&self, prompt: &Prompt, facts: &Facts) -> Result<String> {
        Ok(match prompt {
            Prompt::Init => self.render("init", facts, context! {})?,
            Prompt::Resume => self.render("resume", facts, context! {})?,
            Prompt::Step => self.render("step", facts, context! {})?,
            Prompt::ChecksFailed {
                which,
                output,
                remembered,
            } => self.render(
                "checks_failed",
                facts,
                context! {
                    which, output => ticket::without_set_up(output), nothing_committed => false, refused => which == Prompt::TAKING_OVER,
                    remembered,
                },
            )?,
            Prompt::CommitmentUnmet {
                says,
                command,
                output,
            } => {
                let [says, command] = [says, command].map(|text| text::sanitise::line(text));
                let output = ticket::without_set_up(output);
                self.render("commitment_unmet", facts, context! { says, command, output })?
            }
            Prompt::NothingCommitted => self.render(
                "checks_failed",
                facts,
                context! { which => "", output => "", nothing_committed => true, refused => false, remembered => false },
            )?,
            Prompt::MergeConflict { paths, missing } => {
                let missing = missing.as_ref().map(ToString::to_string);
                self.render("merge_conflict", facts, context! { paths, missing })?
            }
            Prompt::Returned { by, why } => {
                let why = told(why);
                self.render("returned", facts, context! { by, why })?
            }
            Prompt::LastChance => {
                let baited = facts.baited.as_deref().unwrap_or_default();
                self.render("last_chance", facts, context! { baited })?
            }
            Prompt::Answer { text } => format!(
                "The answer to your question:\n\n{}\n\n{}",
                told(text),
                self.render("step", facts, context! {})?
            ),
            Prompt::Unify { .. } => self.render("unify", facts, context! { children => facts.children })?,
            Prompt::Wakeup { why } => format!(
                "You asked to be woken: {why}\n\n{}",
                self.render("step", facts, context! {})?
            ),
            Prompt::ChangedAfter { paths } => format!(
                "You submitted your work on ticket {}, and went on to change files until your step had to be stopped: {paths}.\n\
                 They may be half written, and nothing was submitted. Look at them, finish them or put them back, and submit again.\n\
                 End your turn when you submit.\n\n{}",
                facts.ticket,
                self.render("step", facts, context! {})?
            ),
            Prompt::Unanswered { question } => format!(
                "You asked:\n\n{question}\n\nNobody has answered in time. Decide it yourself, and say in your summary what you \
                 decided; if it cannot be decided without a person, say BLOCKED.\n\n{}",
                self.render("step", facts, context! {})?
            ),
        })
    }

    fn render(&self, name: &str, facts: &Facts, more: minijinja::Value) -> Result<String> {
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
        self.templates.get_template(name)?.render(context)
    }
}

/// Tells a gatekeeper that it has to decide without an answer.
fn nobody_answered(question: &str) -> String {
    format!(
        "You asked:\n\n{}\n\nNobody has answered in time. Decide by what you know. Do not approve what only the answer could let \
         pass: reject it, and say in the reason what a person has to decide.\n",
        quoted(question)
    )
}

/// Tells an agent which lines of its last step were meant for crew and could not be used.
fn could_not_use(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| told(line)).collect();
    match lines.as_slice() {
        [line] => format!(
            "A line of your last step was meant for crew and could not be used: {line}. Print it again as crew can use it, \
             or leave it out.\n"
        ),
        lines => format!(
            "Lines of your last step were meant for crew and could not be used. Print each again as crew can use it, or \
             leave it out:\n- {}\n",
            lines.join("\n- ")
        ),
    }
}

/// The template that tells an agent about its mode.
fn template_of(mode: Mode) -> &'static str {
    match mode {
        Mode::Execute => "mode_execute",
        Mode::Plan => "mode_plan",
        Mode::BreakUp => "mode_break_up",
        Mode::Delegate => "mode_delegate",
        Mode::Unify => "mode_unify",
    }
}

/// Whether it is told to an agent whose work was merged and has come back.
fn is_sent_back(prompt: &Prompt) -> bool {
    match prompt {
        Prompt::ChecksFailed { .. } | Prompt::CommitmentUnmet { .. } | Prompt::Returned { .. } => true,
        Prompt::Init
        | Prompt::Resume
        | Prompt::Step
        | Prompt::NothingCommitted
        | Prompt::MergeConflict { .. }
        | Prompt::LastChance
        | Prompt::Answer { .. }
        | Prompt::Wakeup { .. }
        | Prompt::Unify { .. }
        | Prompt::Unanswered { .. }
        | Prompt::ChangedAfter { .. } => false,
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

#[cfg(test)]
mod tests;
