//! How many rows a place's journal has.

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

/// The events of the journal at this path; none where there is no journal that can be read.
pub(crate) fn count(journal: &Path) -> Option<i64> {
    if !journal.is_file() {
        return None;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(journal).read_only(true);
        let mut journal = options.connect().await.ok()?;
        let count = sqlx::query_scalar("SELECT count(*) FROM events")
            .fetch_one(&mut journal)
            .await
            .ok();
        journal.close().await.ok()?;
        count
    })
}
