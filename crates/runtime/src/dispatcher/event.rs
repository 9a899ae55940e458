//! Events of the dispatcher's channel.

use engine::driver;

use crate::Result;
use crate::executor::Executor;

/// Something that the dispatcher's own tasks and threads send it.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the common one is the large one")]
pub(crate) enum Event {
    /// An event for the driver.
    Driver(driver::Event),
    /// Something was written to the journal: perhaps a command.
    JournalChanged,
    /// `crew.toml` or a prompt template may have changed.
    SettingsTouched,
    /// The target may have moved.
    TargetTouched,
    /// The settings were read again: the executor under them, if they are others; none when they could not be
    /// read now.
    SettingsRead(Option<Result<Option<Box<Executor>>>>),
    /// The user's settings of git for files were read again.
    FileSettingsRead {
        /// Whether they are others than those that the engine began with.
        changed: bool,
    },
}
