//! Invalid names: text that is no object id, id or branch name.

/// A name that breaks its rule. `Display` says which rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// Not a full hexadecimal object id.
    #[error("not an object id: {}", text::quoted(.text))]
    Oid {
        /// What was given, shortened.
        text: String,
    },
    /// An agent's or ticket's id that cannot be part of a ref or a path.
    #[error("not a valid id: {}: {why}", text::quoted(.id))]
    Id {
        /// What was given, shortened.
        id: String,
        /// The rule it breaks.
        why: &'static str,
    },
    /// A name that cannot be a branch.
    #[error("not a valid branch name: {}", text::quoted(.name))]
    Branch {
        /// What was given, shortened.
        name: String,
    },
}
