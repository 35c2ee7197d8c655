//! The other processes that serve the same store, as far as the engine must tell them something.

/// Called once when the others know, with the number of what they were told; or, with false, when one did not answer for long though it serves.
pub type Told = Box<dyn FnOnce(u64, bool) + Send>;

/// What the engine tells the other processes.
pub trait Siblings: Send + Sync {
    /// Whether this process does not reach the others, and they do not wait for it.
    fn stands_apart(&self) -> bool;

    /// Has all others doubt which space each database shows. `told` is called when they do, or when the leases of those have ended that do not
    /// answer.
    fn before_databases_change(&self, told: Told);

    /// What was told under this number is over, whether the databases have changed or not. If nothing else is told, the engine may read
    /// them now ([`super::Ordered::read_databases`]), unless it counts on them already.
    fn after_databases_change(&self, number: u64);

    /// Definitions of the catalog have changed. `told` is called when the others have read them, or when their leases have ended.
    fn definitions_changed(&self, told: Told);
}
