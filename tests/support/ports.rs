//! Loopback ports for servers that are told their port before they start.
//!
//! A port which the system picked itself may be given to an outgoing connection of another test before the server binds it:
//! "Address already in use". These lie below the range that the system picks from (ip_local_port_range, 32768 by default).

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

const FIRST: u32 = 10_000;
const COUNT: u32 = 20_000;

/// Processes begin at different places, so that two that run side by side rarely ask for the same ports.
static NEXT: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(std::process::id().wrapping_mul(7919)));

/// A loopback port that nobody listens on, another one with every call.
pub fn free_address() -> SocketAddr {
    (0..COUNT)
        .map(|_| FIRST + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT)
        .filter_map(|port| u16::try_from(port).ok())
        .map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        .find(|address| TcpListener::bind(address).is_ok())
        .expect("a free port")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    /// The range of the machine that the tests run on.
    fn outgoing_ports() -> Vec<u16> {
        let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").expect("Linux says it");
        text.split_whitespace().map(|port| port.parse().expect("a port")).collect()
    }

    #[test]
    fn outgoing_connection_takes_the_port_of_a_server() {
        let ports: BTreeSet<u16> = (0..100).map(|_| free_address().port()).collect();
        assert_eq!(ports.len(), 100, "a port was given twice");
        let outgoing = outgoing_ports();
        assert!(
            ports.iter().all(|port| !(outgoing[0]..=outgoing[1]).contains(port)),
            "{ports:?} in {outgoing:?}"
        );
    }
}
