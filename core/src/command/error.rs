//! Errors a command replies with. The texts are Redis' own, byte for byte: clients match on them.

use std::borrow::Cow;

use crate::acl::{Denial, Reason};
use crate::data::DataError;
use crate::engine::EngineError;
use crate::memory_budget::BudgetExceeded;

/// The error a command ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// The client's mistake: the text of the reply, error code first.
    Client(Cow<'static, str>),
    /// The user may not do it.
    Denied(Box<Denial>),
    /// Our fault or the disk's.
    Engine(EngineError),
}

impl CommandError {
    /// The command does not fit the key's type.
    pub const WRONG_TYPE: CommandError =
        CommandError::text("WRONGTYPE Operation against a key holding the wrong kind of value");
    /// The arguments do not parse.
    pub const SYNTAX: CommandError = CommandError::text("ERR syntax error");
    /// An argument or a value is not a 64-bit signed integer.
    pub const NOT_INTEGER: CommandError = CommandError::text("ERR value is not an integer or out of range");
    /// An argument or a value is not a double.
    pub const NOT_FLOAT: CommandError = CommandError::text("ERR value is not a valid float");
    /// A key that must exist does not.
    pub const NO_SUCH_KEY: CommandError = CommandError::text("ERR no such key");
    /// An index beyond the ends.
    pub const INDEX_OUT_OF_RANGE: CommandError = CommandError::text("ERR index out of range");
    /// A value out of range where only its being positive matters.
    pub const OUT_OF_RANGE_POSITIVE: CommandError =
        CommandError::text("ERR value is out of range, must be positive");
    /// A value out of range.
    pub const OUT_OF_RANGE: CommandError = CommandError::text("ERR value is out of range");

    /// The store was opened to be read only.
    pub const READ_ONLY: CommandError = CommandError::text("READONLY the store was opened to be read only");

    /// An error with a fixed text.
    pub const fn text(text: &'static str) -> CommandError {
        CommandError::Client(Cow::Borrowed(text))
    }

    /// An error with a text made for the occasion.
    pub fn owned(text: String) -> CommandError {
        CommandError::Client(Cow::Owned(text))
    }

    /// The same as an error of the engine, for work that replies to nobody.
    pub fn into_engine_error(self) -> EngineError {
        match self {
            CommandError::Engine(error) => error,
            other => EngineError::Refused(other.reply_text().into_owned()),
        }
    }

    /// The text of the reply, error code first.
    pub fn reply_text(&self) -> Cow<'_, str> {
        match self {
            CommandError::Client(text) => Cow::Borrowed(text.as_ref()),
            CommandError::Denied(denial) if denial.reason == Reason::Login => {
                Cow::Owned(format!("WRONGPASS {}", denial.text(false)))
            }
            CommandError::Denied(denial) => Cow::Owned(format!("NOPERM {}", denial.text(false))),
            CommandError::Engine(error @ EngineError::Full(_)) => {
                Cow::Owned(format!("MISCONF Errors writing to the log: {error}"))
            }
            CommandError::Engine(error @ EngineError::ReadOnly(_)) => {
                Cow::Owned(format!("MISCONF Errors writing to the log: {error}"))
            }
            CommandError::Engine(EngineError::Unavailable(text)) => Cow::Owned(format!("TRYAGAIN {text}")),
            CommandError::Engine(EngineError::Unknown(text)) => Cow::Owned(format!("UNKNOWN {text}")),
            CommandError::Engine(EngineError::OpenedToRead) => {
                CommandError::READ_ONLY.reply_text().into_owned().into()
            }
            CommandError::Engine(EngineError::Refused(text)) => Cow::Borrowed(text),
            CommandError::Engine(error @ EngineError::BudgetExceeded) => Cow::Owned(format!("OOM {error}")),
            CommandError::Engine(error) => Cow::Owned(format!("ERR {error}")),
        }
    }
}

impl From<Box<Denial>> for CommandError {
    fn from(denial: Box<Denial>) -> CommandError {
        CommandError::Denied(denial)
    }
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> CommandError {
        CommandError::Engine(error)
    }
}

impl From<BudgetExceeded> for CommandError {
    fn from(error: BudgetExceeded) -> CommandError {
        CommandError::Engine(error.into())
    }
}

impl From<DataError> for CommandError {
    fn from(error: DataError) -> CommandError {
        match error {
            DataError::WrongType => CommandError::WRONG_TYPE,
            DataError::Engine(error) => CommandError::Engine(error),
        }
    }
}
