//! What a session asks of its host. Everything the core cannot do by itself is one of these.

/// One request to the host, carried out after the replies written so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Send what has been replied, then close the connection.
    Close,
    /// Write hints in the background (BGSAVE, BGREWRITEAOF), and go on with the maintenance of the store.
    Checkpoint,
    /// Give free memory back to the system (MEMORY PURGE).
    GiveMemoryBack,
    /// End the process; with `save`, sync and write hints first.
    Shutdown {
        /// Whether to write hints before.
        save: bool,
    },
    /// Settings changed that the host acts upon (CONFIG SET).
    SettingsChanged,
}
