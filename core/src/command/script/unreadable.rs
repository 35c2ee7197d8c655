//! A definition of the store that this version cannot read.

/// It stays in the store and does nothing; the host tells its operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// What it defines: `trigger`, `cron`.
    pub kind: &'static str,
    /// Its name.
    pub name: Vec<u8>,
}
