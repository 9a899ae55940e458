//! Which step of which script is due.

use crate::script::{self, Script, Step};
use crate::{Error, Result, compaction};

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    User,
    Model,
}

/// Something said, in a conversation as it was sent. What a system or a tool said is left out.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) who: Who,
    pub(crate) text: String,
}

/// What is due.
#[derive(Clone, Debug)]
pub(crate) struct Cue {
    /// The step's number, from 0; `None` for a summary, which is no step of the script.
    pub(crate) index: Option<usize>,
    pub(crate) step: Step,
    /// What tells this step from others when it is asked for again.
    pub(crate) key: String,
}

/// Finds what is due.
///
/// # Errors
///
/// There is no script, it is malformed, or it is at its end: a test says what it wants of every turn.
pub(crate) fn of(turns: &[Turn]) -> Result<Cue> {
    if let Some(before) = compaction::asked(turns) {
        let (script, index) = at(before)?;
        return Ok(Cue {
            index: None,
            step: compaction::step(&script, index),
            key: format!("compaction {index} {:?}", script.source),
        });
    }
    let (script, index) = at(turns)?;
    let Some(step) = script.steps.get(index) else {
        return Err(Error::Script(format!(
            "the script has {} steps, and the client asks for step {index}",
            script.steps.len()
        )));
    };
    Ok(Cue {
        index: Some(index),
        step: step.clone(),
        key: format!("{index} {:?}", script.source),
    })
}

/// The script in force, and how many turns the model has had since.
fn at(turns: &[Turn]) -> Result<(Script, usize)> {
    for (place, turn) in turns.iter().enumerate().rev() {
        if turn.who == Who::User
            && let Some(script) = script::find(&turn.text)
        {
            let later = turns.get(place + 1..).unwrap_or_default();
            return Ok((
                script?,
                later.iter().filter(|turn| turn.who == Who::Model).count(),
            ));
        }
    }
    Err(Error::Script(
        "no user text of the request holds a script: @@[ …steps… ]@@".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Op;

    fn turns(said: &[(Who, &str)]) -> Vec<Turn> {
        let turns = said.iter().map(|(who, text)| Turn {
            who: *who,
            text: (*text).to_owned(),
        });
        turns.collect()
    }

    const SCRIPT: &str = r#"Do it @@[{"bash":"a"},{"text":"b"}]@@"#;

    #[test]
    fn the_models_turns_since_the_script_are_counted() {
        let cue = of(&turns(&[(Who::User, SCRIPT)])).unwrap();
        assert_eq!(cue.index, Some(0));
        let said = [
            (Who::User, SCRIPT),
            (Who::Model, ""),
            (Who::User, "result"),
            (Who::User, "go on"),
        ];
        let cue = of(&turns(&said)).unwrap();
        assert_eq!(
            (cue.index, cue.step.ops),
            (Some(1), vec![Op::Text("b".to_owned())])
        );
    }

    #[test]
    fn a_newer_script_begins_anew() {
        let said = [
            (Who::User, SCRIPT),
            (Who::Model, ""),
            (Who::User, r#"@@[{"text":"c"}]@@"#),
        ];
        let cue = of(&turns(&said)).unwrap();
        assert_eq!(
            (cue.index, cue.step.ops),
            (Some(0), vec![Op::Text("c".to_owned())])
        );
    }

    #[test]
    fn no_script_and_an_ended_one_are_problems() {
        let none = of(&turns(&[(Who::User, "hello"), (Who::Model, SCRIPT)])).unwrap_err();
        assert!(none.to_string().contains("no user text"), "{none}");
        let said = [(Who::User, SCRIPT), (Who::Model, ""), (Who::Model, "")];
        let ended = of(&turns(&said)).unwrap_err();
        assert!(ended.to_string().contains("has 2 steps"), "{ended}");
    }

    #[test]
    fn a_summary_carries_what_is_left_to_do() {
        let ask = "Your task is to create a detailed summary of the conversation so far.";
        let said = [(Who::User, SCRIPT), (Who::Model, ""), (Who::User, ask)];
        let cue = of(&turns(&said)).unwrap();
        assert_eq!(cue.index, None);
        let [Op::Text(text)] = &cue.step.ops[..] else {
            panic!("{:?}", cue.step);
        };
        let after = of(&turns(&[(Who::User, text)])).unwrap();
        assert_eq!(
            (after.index, after.step.ops),
            (Some(0), vec![Op::Text("b".to_owned())])
        );
    }
}
