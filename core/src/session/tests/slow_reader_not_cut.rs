//! Connections that do not take what is there for them are cut as `client-output-buffer-limit` says, and no others.

use crate::engine::memory::MemoryEngine;
use crate::resp::write_request;
use crate::server::{Effect, NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};

const NOW_MS: u64 = 1_700_000_000_000;

struct Scene {
    server: Server<MemoryEngine>,
    now_ms: u64,
}

impl Scene {
    fn new(limits: &str) -> Scene {
        let settings = Settings::new(&[("client-output-buffer-limit", limits.to_string())]).expect("limits");
        let shared = Shared::new(settings, Box::new(NoFacts), NOW_MS);
        Scene { server: Server { engine: MemoryEngine::new(16), shared }, now_ms: NOW_MS }
    }

    fn connect(&self, request: &str) -> Session {
        let mut session = Session::new(&self.server.shared, Peer::default(), 1, NOW_MS);
        self.run(&mut session, request);
        session
    }

    /// The reply to a request, all of which is sent at once.
    fn run(&self, session: &mut Session, request: &str) -> String {
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        write_request(&args, session.input());
        session.process(&self.server, self.now_ms);
        let reply = session.reply().take().expect("memory is read");
        session.has_sent();
        String::from_utf8(reply).expect("text")
    }

    fn publish(&self, bytes: usize) -> String {
        self.run(&mut self.connect("PING"), &format!("PUBLISH news {}", "n".repeat(bytes)))
    }

    fn cut(&self) -> String {
        let info = self.run(&mut self.connect("PING"), "INFO stats");
        let line = info.lines().find(|line| line.starts_with("client_output_buffer_limit_disconnections"));
        line.expect("a line").to_string()
    }
}

#[test]
fn listener_that_reads_nothing_is_kept() {
    let scene = Scene::new("pubsub 100000 0 0");
    let mut slow = scene.connect("SUBSCRIBE news");
    let mut quick = scene.connect("SUBSCRIBE news");
    for _ in 0..5 {
        assert_eq!(scene.publish(20_000), ":2\r\n");
        quick.process(&scene.server, NOW_MS);
        quick.reply().take().expect("memory is read");
        quick.has_sent();
        assert!(!slow.must_close());
    }
    scene.publish(20_000);
    assert!(slow.must_close() && !quick.must_close());
    assert!(slow.process(&scene.server, NOW_MS).effects.contains(&Effect::Close));
    assert_eq!(scene.cut(), "client_output_buffer_limit_disconnections:1");
    scene.run(&mut scene.connect("PING"), "CONFIG RESETSTAT");
    assert_eq!(scene.cut(), "client_output_buffer_limit_disconnections:0");
}

/// What the session has taken from the inbox and the host has not sent counts as well.
#[test]
fn listener_that_reads_some_of_it_is_kept() {
    let scene = Scene::new("pubsub 100000 0 0");
    let mut slow = scene.connect("SUBSCRIBE news");
    for _ in 0..2 {
        scene.publish(45_000);
        slow.process(&scene.server, NOW_MS);
        assert!(!slow.must_close());
    }
    scene.publish(45_000);
    assert!(slow.must_close());
}

#[test]
fn listener_that_is_slow_for_long_is_kept() {
    let mut scene = Scene::new("pubsub 0 50000 3");
    let mut slow = scene.connect("SUBSCRIBE news");
    scene.publish(70_000);
    for second in 0..4 {
        scene.now_ms = NOW_MS + second * 1000;
        assert!(!slow.is_over_limit(scene.now_ms), "second {second}");
    }
    // It has read everything for a moment: the time begins anew.
    slow.process(&scene.server, scene.now_ms);
    slow.reply().take().expect("memory is read");
    slow.has_sent();
    assert!(!slow.is_over_limit(scene.now_ms));
    scene.publish(70_000);
    assert!(!slow.is_over_limit(scene.now_ms + 3999));
    assert!(!slow.is_over_limit(scene.now_ms + 7998));
    assert!(slow.is_over_limit(scene.now_ms + 7999));
    assert_eq!(scene.cut(), "client_output_buffer_limit_disconnections:1");
}

#[test]
fn limit_of_listeners_cuts_others() {
    let scene = Scene::new("pubsub 20000 20000 0");
    let mut client = scene.connect("PING");
    scene.run(&mut client, &format!("SET key {}", "v".repeat(100_000)));
    assert_eq!(scene.run(&mut client, "GET key").len(), 100_011);
    let mut monitor = scene.connect("MONITOR");
    scene.run(&mut client, "GET key");
    scene.run(&mut client, &format!("SET key {}", "v".repeat(100_000)));
    assert!(!monitor.must_close() && !monitor.is_over_limit(NOW_MS));
    assert_eq!(scene.cut(), "client_output_buffer_limit_disconnections:0");
}

#[test]
fn reply_beyond_the_limit_of_normal_connections_is_sent() {
    let scene = Scene::new("normal 50000 0 0");
    let mut client = scene.connect("PING");
    scene.run(&mut client, &format!("SET key {}", "v".repeat(60_000)));
    assert_eq!(scene.run(&mut client, "GET key").len(), 60_010);
    scene.run(&mut client, &format!("APPEND key {}", "v".repeat(60_000)));
    let before = scene.connect("MONITOR");
    write_request(&["GET", "key"], client.input());
    let progress = client.process(&scene.server, NOW_MS);
    assert!(progress.effects.contains(&Effect::Close));
    assert_eq!(client.reply().unsent(), 0);
    assert!(!before.must_close());
    scene.run(&mut scene.connect("PING"), &format!("SET key {}", "v".repeat(80_000)));
    assert!(before.must_close(), "monitors are of the class normal");
    assert_eq!(scene.cut(), "client_output_buffer_limit_disconnections:2");
}
