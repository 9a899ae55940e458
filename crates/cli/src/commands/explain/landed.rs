//! What a ticket has landed, as people see it.

use client::explanation::Landed;
use model::TicketId;

use super::HANG;
use crate::context::Context;
use crate::error::Result;
use crate::ui;
use crate::ui::Style;

/// Prints the work that a ticket has landed.
pub(super) fn show(context: &mut Context, id: &TicketId, landed: &Landed<'_>) -> Result<()> {
    let out = &mut context.out;
    let commit = landed.commit.short();
    let mut by = format!("  commit {commit} by {}", landed.agent);
    if let Some((work, until)) = landed.attempt.and_then(|work| Some((work, work.until?))) {
        let (from, to) = (ui::local(work.since), ui::local(until));
        let took = ui::span(until.since(work.since));
        by.push_str(&format!(", begun {from}, landed {to} ({took})"));
    }
    out.wrapped(&by, HANG, Style::Plain)?;
    if let Some(work) = landed.attempt {
        let steps = text::counted(work.steps, "step");
        let tokens = ui::tokens(work.usage.tokens());
        let mut paid = format!("  attempt {}: {steps}, {tokens} tokens", work.attempt);
        let cost = ui::cost(work.usage);
        if !cost.is_empty() {
            paid.push_str(&format!(", {cost}"));
        }
        out.wrapped(&paid, HANG, Style::Plain)?;
    }
    if !landed.proof.is_empty() {
        out.wrapped(&format!("  proof: {}", landed.proof), HANG, Style::Plain)?;
    }
    let looks = format!(
        "  crew logs {id} shows its steps, crew logs --check {id} its checks, git show {commit} the work"
    );
    out.wrapped(&looks, HANG, Style::Dim)
}
