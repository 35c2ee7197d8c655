//! The protocols that the gateway serves besides RESP over plain TCP.

/// The protocol of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// RESP under TLS.
    RespTls,
    /// HTTP, and WebSocket by its upgrade.
    Http,
    /// HTTP under TLS, and WebSocket by its upgrade.
    Https,
}
