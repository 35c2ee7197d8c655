//! INFO as figures by their names.

use edgecask_core::resp::Event;

use crate::error::Result;
use crate::reply::{FromReply, ReplyReader};

/// What INFO says: `client.info().reply::<Info>()`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    text: String,
}

impl Info {
    /// A figure by its name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(other, _)| *other == name).map(|(_, figure)| figure)
    }

    /// A figure that is an integer.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.parse().ok()
    }

    /// All names with their figures, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(':'))
    }
}

impl FromReply for Info {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Info> {
        String::from_event(event, reader).map(|text| Info { text })
    }
}
