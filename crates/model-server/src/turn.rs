//! The turns of a conversation.

/// The author of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Model,
}

/// One turn of the conversation that a request contains. Texts of the system and of tools are left out.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) speaker: Speaker,
    pub(crate) text: String,
}
