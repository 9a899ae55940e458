//! The words that agents were given, step by step.

use client::documents;
use client::outputs::Step;
use runtime::Place;

use super::Form;
use crate::context::Context;
use crate::error::Result;
use crate::ui::Style;

/// Shows what was told in each of these steps. The set-up of a workspace is told nothing.
pub(super) fn show(context: &mut Context, place: &Place, steps: &[Step], form: Form) -> Result<()> {
    for step in steps.iter().filter(|step| step.number > 0) {
        let prompt = step.prompt(place);
        match form {
            Form::Raw => context.out.bytes(&prompt.unwrap_or_default())?,
            Form::Json => {
                let clean = |bytes: Vec<u8>| text::sanitise::text(&String::from_utf8_lossy(&bytes));
                context.out.json_line(&documents::StepPrompt {
                    ticket: step.ticket.clone(),
                    step: step.number,
                    agent: step.agent.clone(),
                    run: step.run.clone(),
                    prompt: prompt.map(clean),
                })?;
            }
            Form::Conversation(_) => people(context, step, prompt)?,
        }
    }
    Ok(())
}

fn people(context: &mut Context, step: &Step, prompt: Option<Vec<u8>>) -> Result<()> {
    let head = format!("── {}, told to {} ──", step.title(), step.agent);
    context.out.styled(&text::sanitise::line(&head), Style::Dim)?;
    let Some(prompt) = prompt else {
        return context.out.styled("its prompt is not kept", Style::Dim);
    };
    let prompt = String::from_utf8_lossy(&prompt);
    context.out.text(prompt.trim_end())?;
    context.out.write("\n")
}
