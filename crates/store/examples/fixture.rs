//! Writes a small journal with every kind of event that the machines accept, for the tests of continuity: the
//! journal of each released schema stays in the repository for ever.
//!
//! `cargo run -p store --example fixture FILE`

use std::path::Path;

use store::{Location, samples};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("say which file")?;
    let path = std::path::absolute(Path::new(&path))?;
    let ledger = store::create(&Location::file(path), "00000000-0000-4000-8000-000000000001").await?;
    samples::every_event(&ledger).await?;
    ledger.close().await;
    Ok(())
}
