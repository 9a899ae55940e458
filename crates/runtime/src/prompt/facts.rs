//! The variables of templates: the facts about a ticket, its work and what people said, in words.

use model::attempt::{ChildEnd, ChildResult, Message, Mode, Prompt};
use model::money::Usd;
use model::policy::budget::Budget;
use model::ticket;

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
    pub(super) fn example() -> Self {
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
    pub(super) fn example() -> Self {
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
pub(super) fn told(answer: &str) -> String {
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
    pub(super) fn example(few: bool) -> Self {
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
