//! A look at every row.

use model::view::Crew;
use store::{Journal as _, Ledger, Sqlite};

use super::{AREA, Read, damaged, misfolded};
use crate::doctor::Finding;
use crate::doctor::finding::few;
use crate::error::Result;
use crate::follow;

/// Reads all of it: the file, its rows against each other, and each against the machines.
pub(super) async fn read(ledger: &Ledger<Sqlite>, found: &mut Vec<Finding>) -> Result<Read> {
    match ledger.0.verify().await {
        Ok(problems) if problems.is_empty() => {}
        Ok(problems) => few(problems).into_iter().for_each(|says| damaged(says, found)),
        Err(error) => damaged(text::whole(&error), found),
    }
    let kept = Kept::read(ledger, found).await;
    // Its rows are applied in their order: it is of the moment of the last.
    let mut read = Read {
        is_of_one_moment: true,
        ..Read::default()
    };
    let mut same = None;
    read.crew = follow::fold(ledger, |crew, fold| {
        same = same.or_else(|| kept.compare(crew));
        read.row(fold);
    })
    .await?;
    same = same.or_else(|| kept.compare(&read.crew));
    kept.tell(same, found);
    Ok(read)
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
            (Some(false), _) => found.push(misfolded(self.crew.seq)),
            (Some(true) | None, 0) => {}
            (Some(true) | None, n) => found.push(Finding::fine(
                AREA,
                format!("{n} tickets are set aside; what is told of them is what their events give"),
            )),
        }
    }
}
