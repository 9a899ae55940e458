//! Finding the operation that is under way in a checkout.

use std::path::Path;

use crate::types::operation::Operation;

impl Operation {
    pub(crate) fn of(git_dir: &Path) -> Option<Self> {
        let known = [
            ("rebase-merge", Self::Rebase),
            ("rebase-apply/applying", Self::Am),
            ("rebase-apply", Self::Rebase),
            ("MERGE_HEAD", Self::Merge),
            ("CHERRY_PICK_HEAD", Self::CherryPick),
            ("REVERT_HEAD", Self::Revert),
        ];
        known
            .into_iter()
            .find(|(name, _)| git_dir.join(name).exists())
            .map(|(_, operation)| operation)
    }
}
