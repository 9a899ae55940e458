//! Why a ticket stands as it does: the document of `crew explain`.

use client::documents::Explanation;
use client::explanation::Gathered;
use model::TicketId;
use model::settings::Settings;
use store::Ledger;
use tokio::runtime::Handle;

use super::restore;
use crate::app::Repo;
use crate::problem::Problem;
use crate::serve::given;

/// The document, from the ticket folder, git and the engine as they are at this moment.
pub(super) async fn explained(
    repo: &Repo,
    ledger: Option<Ledger>,
    settings: Settings,
    id: TicketId,
) -> Result<Explanation, Problem> {
    let mut crew = repo.board.snapshot();
    if let Some(ledger) = &ledger {
        restore(ledger, &mut crew, &id).await?;
    }
    let (place, runtime) = (repo.place.clone(), Handle::current());
    given::aside(move || {
        runtime.block_on(async {
            let gathered = Gathered::of(&place, &settings, ledger.as_ref(), &crew, id).await?;
            Ok(gathered.explained().document())
        })
    })
    .await
}
