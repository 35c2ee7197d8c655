//! Loads on a machine that is calculated, and the number of workers that serve them.

use super::decision::{Change, Decision, Look};

const LOOK_MS: u64 = 30;

/// A load and the machine on which it runs.
#[derive(Clone, Copy)]
struct Load {
    processors: f64,
    /// Milliseconds of a processor that a request takes of a worker, with one of them.
    server_ms: f64,
    /// What each further worker adds to that, as a part of it.
    contention: f64,
    /// Milliseconds of a processor that a request takes of the client, which runs on so many processors at most.
    client_ms: f64,
    clients: f64,
    /// Requests a millisecond, at most.
    wanted: f64,
    /// By which part the requests that one look finds vary to either side.
    noise: f64,
}

/// Many clients elsewhere, who send more than any number of workers can serve.
const ENDLESS: Load = Load {
    processors: 8.0,
    server_ms: 0.01,
    contention: 0.02,
    client_ms: 0.0,
    clients: 1.0,
    wanted: f64::MAX,
    noise: 0.0,
};

/// A client on the same machine, which needs a part of the second processor.
const BESIDE: Load = Load { processors: 2.0, client_ms: 0.002, ..ENDLESS };

impl Load {
    fn look(&self, workers: usize, serving: usize, chance: &mut Chance) -> Look {
        let server_ms = self.server_ms * (1.0 + self.contention * (serving - 1) as f64);
        let limits = [
            serving as f64 / server_ms,
            self.processors / (server_ms + self.client_ms),
            if self.client_ms > 0.0 { self.clients / self.client_ms } else { f64::MAX },
            self.wanted,
        ];
        let rate = limits.iter().copied().fold(f64::MAX, f64::min);
        // Where processors are lacking, workers wait for them.
        let is_server_bound = rate >= limits[0].min(limits[1]);
        let occupied = if is_server_bound { 1.0 } else { rate * server_ms / serving as f64 };
        let seen = rate * (1.0 + self.noise * (2.0 * chance.next() - 1.0));
        Look {
            elapsed_ms: LOOK_MS,
            occupied: (0..workers).map(|worker| if worker < serving { occupied } else { 0.0 }).collect(),
            idle: (self.processors - rate * (server_ms + self.client_ms)).max(0.0),
            requests: (seen * LOOK_MS as f64) as u64,
        }
    }
}

/// Numbers from 0 to 1.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A server with so many workers.
struct Server {
    decision: Decision,
    workers: usize,
    serving: usize,
    changes: usize,
    chance: Chance,
}

impl Server {
    fn new(workers: usize) -> Server {
        Server { decision: Decision::new(workers), workers, serving: 1, changes: 0, chance: Chance(1) }
    }

    /// Serves a load for so long. Returns how much of that time each number of workers served.
    fn serve(&mut self, load: &Load, ms: u64) -> Vec<f64> {
        let mut shares = vec![0.0; self.workers + 1];
        self.changes = 0;
        for _ in 0..ms / LOOK_MS {
            shares[self.serving] += LOOK_MS as f64 / ms as f64;
            let look = load.look(self.workers, self.serving, &mut self.chance);
            match self.decision.look(look) {
                Some(Change::Serve(serving)) => {
                    assert!((1..=self.workers).contains(&serving), "{serving}");
                    self.serving = serving;
                    self.changes += 1;
                }
                Some(give @ Change::Give { .. }) => panic!("{give:?} though all have the same to do"),
                None => {}
            }
        }
        shares
    }
}

#[test]
fn worker_joins_though_no_processor_is_idle() {
    // The client takes as long for a request as the server.
    let load = Load { client_ms: 0.01, ..BESIDE };
    let mut server = Server::new(2);
    server.serve(&load, 60_000);
    assert_eq!((server.serving, server.changes), (1, 0));
}

#[test]
fn worker_stays_away_though_it_would_serve_more() {
    let mut server = Server::new(2);
    server.serve(&BESIDE, 1_000);
    assert_eq!(server.serving, 2);
    // From time to time it is tried whether one is as good.
    let shares = server.serve(&BESIDE, 60_000);
    assert!(shares[2] > 0.99 && server.changes <= 14, "{shares:?}, {} changes", server.changes);
}

#[test]
fn hot_key_is_served_by_workers_that_wait_for_each_other() {
    // Two workers serve less than one, and a processor is half idle.
    let load = Load { contention: 1.5, client_ms: 0.005, ..BESIDE };
    let mut server = Server::new(2);
    let shares = server.serve(&load, 60_000);
    assert_eq!(server.serving, 1);
    assert!(shares[1] > 0.99 && server.changes <= 14, "{shares:?}, {} changes", server.changes);
    // Another load is tried at once.
    server.serve(&Load { server_ms: 0.05, ..BESIDE }, 500);
    assert_eq!(server.serving, 2);
}

#[test]
fn many_workers_join_slowly() {
    let mut server = Server::new(8);
    server.serve(&ENDLESS, 1_500);
    assert_eq!(server.serving, 8);
}

#[test]
fn load_that_has_gone_keeps_workers() {
    let mut server = Server::new(8);
    server.serve(&ENDLESS, 3_000);
    assert_eq!(server.serving, 8);
    // A pause is shorter than that.
    server.serve(&Load { wanted: 0.1, ..ENDLESS }, 300);
    assert_eq!(server.serving, 8);
    // Half a worker's time.
    server.serve(&Load { wanted: 50.0, ..ENDLESS }, 2_000);
    assert_eq!(server.serving, 1);
    server.serve(&Load { wanted: 50.0, ..ENDLESS }, 60_000);
    assert_eq!((server.serving, server.changes), (1, 0));
}

#[test]
fn others_fill_the_machine_and_workers_go_on_taking_turns() {
    let mut server = Server::new(2);
    server.serve(&BESIDE, 5_000);
    assert_eq!(server.serving, 2);
    // Now the client needs the second processor.
    server.serve(&Load { client_ms: 0.012, contention: 0.2, ..BESIDE }, 20_000);
    assert_eq!(server.serving, 1);
}

#[test]
fn measurements_that_vary_move_connections_to_and_fro() {
    for load in [
        Load { client_ms: 0.01, ..BESIDE },
        Load { contention: 1.0, client_ms: 0.005, ..BESIDE },
        Load { wanted: 95.0, ..ENDLESS },
        Load { wanted: 145.0, processors: 2.0, ..ENDLESS },
        BESIDE,
    ] {
        let mut server = Server::new(2);
        server.serve(&Load { noise: 0.1, ..load }, 60_000);
        assert!(server.changes <= 30, "{} changes a minute", server.changes);
    }
}

#[test]
fn one_worker_is_full_beside_an_idle_one() {
    let uneven = Look { elapsed_ms: LOOK_MS, occupied: vec![0.3, 1.0], idle: 0.5, requests: 1000 };
    let mut decision = Decision::new(2);
    // Both have to serve first.
    let even = |decision: &mut Decision, requests| {
        decision.look(Look { occupied: vec![1.0, 1.0], idle: 1.0, requests, ..uneven.clone() })
    };
    assert!((0..4).any(|_| even(&mut decision, 1000) == Some(Change::Serve(2))));
    (0..4).for_each(|_| assert_eq!(even(&mut decision, 2000), None));
    let changes: Vec<Change> = (0..200).filter_map(|_| decision.look(uneven.clone())).collect();
    // Six seconds: again after one second, two and four, if it is of no use.
    assert_eq!(changes, [Change::Give { giver: 1, taker: 0 }; 3]);
}
