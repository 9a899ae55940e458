//! The prompts of agents: templates, built in or the team's own.

mod facts;
mod templates;

use std::path::Path;

use minijinja::context;
use model::attempt::{Mode, Prompt};
use model::ticket;

use self::facts::told;
pub(crate) use self::facts::{
    Answered, BudgetWords, ChildWords, Facts, PartWords, ReviewFacts, Saying, Unverified, quoted,
};
use self::templates::Templates;
use crate::Result;

/// The beginning of the prompt after a step that something killed.
const WAS_LOST: &str = "Your last step did not end by itself: something killed it, or the process of crew's that held it. If you \
     have ended processes by a word in their command line (`pkill -f`, `killall`), that may have been it: end a process that you \
     started by its id.\n";
/// The prompts of one engine.
#[derive(Debug)]
pub(crate) struct Prompts {
    templates: Templates,
}

impl Prompts {
    /// The team's templates, and the built-in ones in place of those that the team does not have.
    ///
    /// # Errors
    /// A template that cannot be used, or a file that is meant to be one and has another name: with the path
    /// and the reason. The folder is not there.
    pub(crate) fn load(dir: Option<&Path>) -> Result<Self> {
        let templates = Templates::load(dir)?;
        Ok(Self { templates })
    }

    /// Whether these are made from the same texts.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.templates.is_same(&other.templates)
    }

    /// Whether nothing has changed in the folder since.
    ///
    /// # Errors
    /// A file there that cannot be read, or that is called as no template is.
    pub(crate) fn is_as(&self, dir: &Path) -> Result<bool> {
        self.templates.is_as(dir)
    }

    /// The standing instructions, kept beside the workspace.
    pub(crate) fn instructions(&self, facts: &Facts) -> Result<String> {
        self.templates.render("instructions", facts, context! {})
    }

    /// The prompt of a review, and below it what came of the questions that were asked about the ticket. Its
    /// author may have asked one of them: each line of a question is marked as somebody else's.
    pub(crate) fn review(&self, facts: &Facts, review: &ReviewFacts) -> Result<String> {
        let mut said =
            vec![
                self.templates
                    .render("review", facts, minijinja::Value::from_serialize(review))?,
            ];
        let answers = facts.answers.iter().map(|answered| Answered {
            question: format!("\n{}", quoted(&answered.question)),
            answer: answered.answer.clone(),
        });
        let answers: Vec<Answered> = answers.collect();
        if !answers.is_empty() {
            said.push(self.templates.render("answered", facts, context! { answers })?);
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
            said.push(self.templates.render("resume", facts, context! {})?);
        } else if facts.edited {
            said.push(self.templates.render("edited", facts, context! {})?);
        }
        let tells_answers = (is_task || facts.new_session) && !facts.answers.is_empty();
        if tells_answers {
            let answers = &facts.answers;
            said.push(self.templates.render("answered", facts, context! { answers })?);
        }
        if !facts.unusable.is_empty() {
            said.push(could_not_use(&facts.unusable));
        }
        if let Some(mode) = facts.mode {
            let parts = &facts.parts;
            let before = if said.is_empty() { "" } else { "\n" };
            let text = self
                .templates
                .render(template_of(mode), facts, context! { parts })?;
            said.push(format!("{before}{text}\n"));
        }
        if !facts.said.is_empty() {
            said.push(
                self.templates
                    .render("said", facts, context! { said => facts.said })?,
            );
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
                said.push(self.templates.render("step", facts, context! {})?);
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
            said.push(self.templates.render("budget", facts, context! {})?);
        }
        Ok(said.join("\n"))
    }

    fn about(&self, prompt: &Prompt, facts: &Facts) -> Result<String> {
        Ok(match prompt {
            Prompt::Init => self.templates.render("init", facts, context! {})?,
            Prompt::Resume => self.templates.render("resume", facts, context! {})?,
            Prompt::Step => self.templates.render("step", facts, context! {})?,
            Prompt::ChecksFailed {
                which,
                output,
                remembered,
            } => self.templates.render(
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
                self.templates.render("commitment_unmet", facts, context! { says, command, output })?
            }
            Prompt::NothingCommitted => self.templates.render(
                "checks_failed",
                facts,
                context! { which => "", output => "", nothing_committed => true, refused => false, remembered => false },
            )?,
            Prompt::MergeConflict { paths, missing } => {
                let missing = missing.as_ref().map(ToString::to_string);
                self.templates.render("merge_conflict", facts, context! { paths, missing })?
            }
            Prompt::Returned { by, why } => {
                let why = told(why);
                self.templates.render("returned", facts, context! { by, why })?
            }
            Prompt::LastChance => {
                let baited = facts.baited.as_deref().unwrap_or_default();
                self.templates.render("last_chance", facts, context! { baited })?
            }
            Prompt::Answer { text } => format!(
                "The answer to your question:\n\n{}\n\n{}",
                told(text),
                self.templates.render("step", facts, context! {})?
            ),
            Prompt::Unify { .. } => self.templates.render("unify", facts, context! { children => facts.children })?,
            Prompt::Wakeup { why } => format!(
                "You asked to be woken: {why}\n\n{}",
                self.templates.render("step", facts, context! {})?
            ),
            Prompt::ChangedAfter { paths } => format!(
                "You submitted your work on ticket {}, and went on to change files until your step had to be stopped: {paths}.\n\
                 They may be half written, and nothing was submitted. Look at them, finish them or put them back, and submit again.\n\
                 End your turn when you submit.\n\n{}",
                facts.ticket,
                self.templates.render("step", facts, context! {})?
            ),
            Prompt::Unanswered { question } => format!(
                "You asked:\n\n{question}\n\nNobody has answered in time. Decide it yourself, and say in your summary what you \
                 decided; if it cannot be decided without a person, say BLOCKED.\n\n{}",
                self.templates.render("step", facts, context! {})?
            ),
        })
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

#[cfg(test)]
mod tests;
