//! CRON: functions that the server calls every so many milliseconds. [`server/crons`](crate::server::crons) knows which are due.

mod admin;
mod definitions;
mod run;

pub(super) use admin::cron;
pub(super) use definitions::present;
pub use definitions::restore;
pub(in crate::command) use definitions::{CRONS, take_over};
pub(crate) use run::{CronRan, run};
