//! The journal: its file, its rows against each other, and its states against the machines.

use std::collections::BTreeSet;

use model::audit::Audit;
use model::journal::Fact;
use model::settings::Settings;
use model::view::Crew;
use model::{attempt, ticket};
use runtime::Place;
use store::{Journal as _, Ledger, Sqlite};

use super::finding::few;
use super::{Area, Finding, Patient};
use crate::error::{Error, Result};
use crate::{clock, context, follow};

const AREA: Area = Area::Journal;

/// The journal, when there is one that can be read.
pub(super) async fn open(place: &Place, found: &mut Vec<Finding>) -> Option<Ledger<Sqlite>> {
    match context::journal(place).await {
        Ok(Some(ledger)) => Some(ledger),
        Ok(None) => {
            if place.settings_path.exists() {
                found.push(Finding::fine(
                    AREA,
                    "there is none yet: nothing was run or asked here",
                ));
            }
            None
        }
        Err(error) => {
            found.push(Finding::error(AREA, &error));
            None
        }
    }
}

/// Reads all of it. None when it cannot be read to its end.
pub(super) async fn look(
    place: Place,
    settings: Option<Settings>,
    ledger: Ledger<Sqlite>,
    found: &mut Vec<Finding>,
) -> Result<Option<Patient>> {
    let holder = place.holder()?;
    match ledger.0.verify().await {
        Ok(problems) if problems.is_empty() => {}
        Ok(problems) => few(problems).into_iter().for_each(|says| damaged(says, found)),
        Err(error) => damaged(text::whole(&error), found),
    }
    // Before the rows: what is done and not yet told of is in none of both otherwise.
    let ordered = ledger.pending(model::Time(i64::MAX)).await.unwrap_or_default();
    let mut changing: BTreeSet<_> = ordered.into_iter().map(|ordered| ordered.ticket).collect();
    let state_file = std::fs::read(place.crew_dir.join("state.json")).ok();
    let kept = Kept::read(&ledger, found).await;
    let (mut audit, mut broken, mut pairs, mut same) = (Audit::default(), Vec::new(), BTreeSet::new(), None);
    let mut begun_on = None;
    let folded = follow::fold(&ledger, |crew, fold| {
        same = same.or_else(|| kept.compare(crew));
        broken.extend(audit.row(&follow::row(fold)));
        if let Fact::Ticket(ticket::Event::Attempt(attempt::Event::WorkspaceReady { base, .. })) = &fold.fact
        {
            begun_on.get_or_insert_with(|| base.clone());
        }
        if let model::journal::State::Ticket(ticket) = &fold.after
            && let Some(attempt) = ticket.attempt()
        {
            pairs.insert((attempt.agent.clone(), ticket.id.clone()));
        }
    })
    .await;
    let ordered = ledger.pending(model::Time(i64::MAX)).await.unwrap_or_default();
    changing.extend(ordered.into_iter().map(|ordered| ordered.ticket));
    let crew = match folded {
        Ok(crew) => crew,
        Err(Error::Store(error)) => {
            damaged(text::whole(&error), found);
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    same = same.or_else(|| kept.compare(&crew));
    kept.tell(same, found);
    if broken.is_empty() {
        found.push(Finding::fine(
            AREA,
            format!("{} events, whole; every state is what replay gives", crew.seq),
        ));
    }
    let broken = broken
        .into_iter()
        .chain(audit.standing())
        .map(|broken| format!("{} does not hold: {}", broken.invariant, broken.what));
    found.extend(few(broken.collect()).into_iter().map(|says| {
        Finding::wrong(
            AREA,
            says,
            "crew goes by the stored states, so work goes on; tell crew's makers, with the output of `crew history --json`",
        )
    }));
    if holder.is_none() {
        left_to_do(&ledger, &crew, found).await;
    }
    Ok(Some(Patient {
        state_file,
        place,
        settings,
        ledger,
        crew,
        audit,
        pairs,
        changing,
        begun_on,
        holder,
    }))
}

/// The view that was kept for the next who folds.
struct Kept {
    crew: Crew,
    aside: usize,
}

impl Kept {
    async fn read(ledger: &Ledger<Sqlite>, found: &mut Vec<Finding>) -> Self {
        let kept = ledger.kept_whole().await.unwrap_or_else(|error| {
            damaged(text::whole(&error), found);
            None
        });
        let (crew, aside) = kept.unwrap_or_default();
        Self { crew, aside }
    }

    /// Whether a fold of all rows gives the same; none at another row than the one it was kept at.
    fn compare(&self, crew: &Crew) -> Option<bool> {
        (self.crew.seq > 0 && self.crew.seq == crew.seq).then(|| self.crew == *crew)
    }

    fn tell(&self, same: Option<bool>, found: &mut Vec<Finding>) {
        match (same, self.aside) {
            (Some(false), _) => found.push(Finding::wrong(
                AREA,
                format!("what was folded up to event {} is not what the events give", self.crew.seq),
                "crew ps and crew cost may say something wrong: tell crew's makers, with the output of `crew events --json`",
            )),
            (Some(true) | None, 0) => {}
            (Some(true) | None, n) => found.push(Finding::fine(
                AREA,
                format!("{n} tickets are set aside; what is told of them is what their events give"),
            )),
        }
    }
}

/// Tells of damage, each once, and what to do about it at the first.
fn damaged(says: String, found: &mut Vec<Finding>) {
    if found.iter().any(|one| one.area == AREA && one.says == says) {
        return;
    }
    let error = store::Error::Damaged { what: String::new() };
    let hint = format!("stop the engine; {}", error.hint().unwrap_or_default());
    let is_told = found.iter().any(|one| one.hint.as_ref() == Some(&hint));
    let mut finding = Finding::wrong(AREA, says, hint);
    finding.hint.take_if(|_| is_told);
    found.push(finding);
}

/// What an engine that was killed, or stopped early, has left for the next.
async fn left_to_do(ledger: &Ledger<Sqlite>, crew: &Crew, found: &mut Vec<Finding>) {
    let effects = ledger
        .pending(model::Time(i64::MAX))
        .await
        .map_or(0, |effects| effects.len());
    let asked = ledger.asked(0, clock::now()).await.map_or(0, |asked| asked.len());
    let at_work = crew
        .tickets
        .values()
        .filter(|ticket| ticket.attempt().is_some())
        .count();
    let mut left = Vec::new();
    for (n, one, many) in [
        (at_work, "attempt is", "attempts are"),
        (effects, "effect is", "effects are"),
        (asked, "command is", "commands are"),
    ] {
        if n > 0 {
            left.push(format!("{n} {}", if n == 1 { one } else { many }));
        }
    }
    if !left.is_empty() {
        found.push(Finding::note(
            AREA,
            format!("no engine runs, and {} not ended", left.join(", ")),
            "crew run goes on where the last engine stopped",
        ));
    }
}
