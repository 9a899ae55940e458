//! The step that is due: which script is in force, and how far the model has come in it.

use crate::compaction;
use crate::error::{Error, Result};
use crate::script::{self, Script, Step};
use crate::turn::{Speaker, Turn};

/// A step that is due.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    /// The step's number, from 0; `None` for a summary, which is no step of the script.
    pub(crate) index: Option<usize>,
    pub(crate) step: Step,
    /// A key that is the same whenever this step is requested again, and differs from that of every other
    /// step.
    pub(crate) key: String,
}

/// Finds the step that is due.
///
/// # Errors
///
/// [`Error::Script`] when there is no script, it is malformed, or it has ended: a test must script every
/// turn.
pub(crate) fn of(turns: &[Turn]) -> Result<Due> {
    if let Some(before) = compaction::summarised(turns) {
        let (script, index) = at(before)?;
        return Ok(Due {
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
    Ok(Due {
        index: Some(index),
        step: step.clone(),
        key: format!("{index} {:?}", script.source),
    })
}

/// The script in force, and the number of the model's turns since.
fn at(turns: &[Turn]) -> Result<(Script, usize)> {
    for (place, turn) in turns.iter().enumerate().rev() {
        if turn.speaker == Speaker::User
            && let Some(script) = script::find(&turn.text)
        {
            let later = turns.get(place + 1..).unwrap_or_default();
            return Ok((
                script?,
                later.iter().filter(|turn| turn.speaker == Speaker::Model).count(),
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

    fn turns(turns: &[(Speaker, &str)]) -> Vec<Turn> {
        let turns = turns.iter().map(|(speaker, text)| Turn {
            speaker: *speaker,
            text: (*text).to_owned(),
        });
        turns.collect()
    }

    const SCRIPT: &str = r#"Do it @@[{"bash":"a"},{"text":"b"}]@@"#;

    #[test]
    fn the_models_turns_since_the_script_are_counted() {
        let due = of(&turns(&[(Speaker::User, SCRIPT)])).unwrap();
        assert_eq!(due.index, Some(0));
        let conversation = [
            (Speaker::User, SCRIPT),
            (Speaker::Model, ""),
            (Speaker::User, "result"),
            (Speaker::User, "go on"),
        ];
        let due = of(&turns(&conversation)).unwrap();
        assert_eq!(
            (due.index, due.step.ops),
            (Some(1), vec![Op::Text("b".to_owned())])
        );
    }

    #[test]
    fn a_newer_script_begins_anew() {
        let conversation = [
            (Speaker::User, SCRIPT),
            (Speaker::Model, ""),
            (Speaker::User, r#"@@[{"text":"c"}]@@"#),
        ];
        let due = of(&turns(&conversation)).unwrap();
        assert_eq!(
            (due.index, due.step.ops),
            (Some(0), vec![Op::Text("c".to_owned())])
        );
    }

    #[test]
    fn no_script_and_an_ended_one_are_problems() {
        let none = of(&turns(&[(Speaker::User, "hello"), (Speaker::Model, SCRIPT)])).unwrap_err();
        assert!(none.to_string().contains("no user text"), "{none}");
        let conversation = [
            (Speaker::User, SCRIPT),
            (Speaker::Model, ""),
            (Speaker::Model, ""),
        ];
        let ended = of(&turns(&conversation)).unwrap_err();
        assert!(ended.to_string().contains("has 2 steps"), "{ended}");
    }

    #[test]
    fn a_summary_carries_what_is_left_to_do() {
        let ask = "Your task is to create a detailed summary of the conversation so far.";
        let conversation = [
            (Speaker::User, SCRIPT),
            (Speaker::Model, ""),
            (Speaker::User, ask),
        ];
        let due = of(&turns(&conversation)).unwrap();
        assert_eq!(due.index, None);
        let [Op::Text(text)] = &due.step.ops[..] else {
            panic!("{:?}", due.step);
        };
        let after = of(&turns(&[(Speaker::User, text)])).unwrap();
        assert_eq!(
            (after.index, after.step.ops),
            (Some(0), vec![Op::Text("b".to_owned())])
        );
    }
}
