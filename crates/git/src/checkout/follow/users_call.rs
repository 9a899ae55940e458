//! A call about the user's checkout.

use crate::checkout::Checkout;
use crate::command::call::Call;
use crate::repository::Repository;

/// Begins a call about the user's checkout, with the user's own settings and filters.
pub(super) fn users_call(repository: &Repository, checkout: &Checkout, subcommand: &'static str) -> Call {
    repository
        .git()
        .call(subcommand)
        .users_settings()
        .git_dir(&checkout.git_dir)
        .work_tree(&checkout.root)
        .lock(repository.lock().map(crate::repository::lock::Lock::file))
}
