//! Mending: the fixes of the findings are carried out by the holder of the repository.

use client::documents::Level;
use client::error::Result;
use client::repository::hold;

use crate::{Caller, Finding, look};

/// Carries out the fixes of all findings. Findings of before another process let go of the repository are
/// looked for again, as `deep` as before. `warn` is called with a message when that process takes long.
///
/// # Errors
/// [`runtime::Error::Held`] where an engine holds the repository.
pub async fn mend(
    caller: &Caller<'_>,
    deep: bool,
    found: &mut Vec<Finding>,
    warn: impl Fn(&str),
) -> Result<()> {
    if found.iter().all(|finding| finding.fix.is_none()) {
        return Ok(());
    }
    let place = caller.place()?;
    let is_held = place.holder()?.is_some();
    if let Some(by) = place.lasting_holder(warn).await? {
        return Err(runtime::Error::Held { by }.into());
    }
    if is_held {
        // The former holder has worked here since.
        *found = look(caller, deep).await?;
    }
    let (place, _lock) = hold(place)?;
    for finding in found {
        let Some(fix) = &finding.fix else { continue };
        match fix.carry_out(&place) {
            Ok(()) => finding.fixed = true,
            Err(error) => {
                finding.level = Level::Wrong;
                finding.says.push_str(&format!(
                    "\nit could not be mended: {}",
                    text::with_causes(&error)
                ));
                finding.hint = error.hint().or(finding.hint.take());
            }
        }
    }
    Ok(())
}
