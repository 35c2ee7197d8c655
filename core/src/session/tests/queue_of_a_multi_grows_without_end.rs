//! The queue of a MULTI is bounded by `client-query-buffer-limit` and by a number of commands.

use crate::engine::memory::MemoryEngine;
#[cfg(not(target_family = "wasm"))]
use crate::limits::MULTI_QUEUE_MAX;
use crate::resp::write_request;
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};

const NOW_MS: u64 = 1_700_000_000_000;

struct Console {
    server: Server<MemoryEngine>,
    session: Session,
}

impl Console {
    fn new() -> Console {
        let settings = Settings::new(&[("client-query-buffer-limit", "1mb".into())]).expect("settings");
        let shared = Shared::new(settings, Box::new(NoFacts), NOW_MS);
        let session = Session::new(&shared, Peer::default(), 1, NOW_MS);
        Console { server: Server { engine: MemoryEngine::new(1), shared }, session }
    }

    fn call(&mut self, request: &[&[u8]]) -> String {
        write_request(request, self.session.input());
        self.session.process(&self.server, NOW_MS);
        String::from_utf8_lossy(&self.session.reply().take().expect("memory is read")).into_owned()
    }
}

#[test]
fn queue_of_a_multi_grows_without_end() {
    let mut console = Console::new();
    for _ in 0..2 {
        assert_eq!(console.call(&[b"MULTI"]), "+OK\r\n");
        let value = vec![b'x'; 100_000];
        for _ in 0..10 {
            assert_eq!(console.call(&[b"SET", b"key", &value]), "+QUEUED\r\n");
        }
        let refused = console.call(&[b"SET", b"key", &value]);
        assert!(
            refused.starts_with("-ERR the commands of this MULTI hold more than client-query-buffer-limit")
        );
        // As in Redis what follows is queued and will not run.
        assert_eq!(console.call(&[b"SET", b"key", b"short"]), "+QUEUED\r\n");
        let aborted = "-EXECABORT Transaction discarded because of previous errors.\r\n";
        assert_eq!(console.call(&[b"EXEC"]), aborted);
        assert_eq!(console.call(&[b"EXISTS", b"key"]), ":0\r\n");
    }
    // Short commands count with what holds them.
    assert_eq!(console.call(&[b"MULTI"]), "+OK\r\n");
    let queued = (0..100_000).take_while(|_| console.call(&[b"PING"]) == "+QUEUED\r\n").count();
    assert!((1000..30_000).contains(&queued), "{queued} commands were queued");
    assert_eq!(console.call(&[b"DISCARD"]), "+OK\r\n");
}

/// A million commands take more memory than tests of small machines have.
#[cfg(not(target_family = "wasm"))]
#[test]
fn queue_has_any_number_of_commands() {
    let mut console = Console::new();
    assert_eq!(console.call(&[b"CONFIG", b"SET", b"client-query-buffer-limit", b"10gb"]), "+OK\r\n");
    assert_eq!(console.call(&[b"MULTI"]), "+OK\r\n");
    let queued = (0..=MULTI_QUEUE_MAX).take_while(|_| console.call(&[b"PING"]) == "+QUEUED\r\n").count();
    assert_eq!(queued, MULTI_QUEUE_MAX);
    assert!(console.call(&[b"EXEC"]).starts_with("-EXECABORT"));
}
