//! A document is what one of the commands on it left, wherever the power is cut: never a part of a change, and no change that was acknowledged
//! behind a sync is lost.

use std::sync::Arc;

use super::functions_of_the_store::{Client, Log, start};
use crate::bitcask::Bitcask;
use crate::server::Server;
use crate::storage::simulated::Survival;
use crate::storage::{Simulation, Storage};

fn open(machine: &Simulation) -> Server<Bitcask> {
    let storage: Arc<dyn Storage> = Arc::new(machine.open().expect("open"));
    start(&storage, &Log::default())
}

fn read(server: &Server<Bitcask>) -> String {
    Client::of(server).say("JSON.GET d")
}

/// A command that changes a part of a document of some kilobytes, which is stored in pieces.
fn request(random: &mut fastrand::Rng) -> Vec<String> {
    let (row, text) = (random.usize(..20), "x".repeat(random.usize(..900)));
    let words: Vec<String> = match random.u8(..8) {
        0 => vec!["JSON.SET".into(), "d".into(), format!("$.rows[{row}].text"), format!("\"{text}\"")],
        1 => vec!["JSON.NUMINCRBY".into(), "d".into(), "$.rows[*].n".into(), "1".into()],
        2 => vec![
            "JSON.ARRAPPEND".into(),
            "d".into(),
            "$.rows".into(),
            format!("{{\"n\":1,\"text\":\"{text}\"}}"),
        ],
        3 => vec!["JSON.ARRPOP".into(), "d".into(), "$.rows".into(), row.to_string()],
        4 => vec!["JSON.DEL".into(), "d".into(), format!("$.rows[{row}].text")],
        5 => vec![
            "JSON.MERGE".into(),
            "d".into(),
            "$".into(),
            format!("{{\"about\":{{\"m{row}\":\"{text}\"}}}}"),
        ],
        6 => vec!["JSON.ARRTRIM".into(), "d".into(), "$.rows".into(), "1".into(), "30".into()],
        _ => vec!["JSON.STRAPPEND".into(), "d".into(), "$..text".into(), "\"y\"".into()],
    };
    words
}

#[test]
fn document_is_changed_by_half() {
    let mut judged = 0;
    for seed in 0..12 {
        let mut random = fastrand::Rng::with_seed(seed);
        let machine = Simulation::new(seed);
        let server = open(&machine);
        let rows: Vec<String> =
            (0..20).map(|n| format!("{{\"n\":{n},\"text\":\"{}\"}}", "t".repeat(n * 40))).collect();
        let whole = format!("{{\"about\":{{}},\"rows\":[{}]}}", rows.join(","));
        assert_eq!(Client::of(&server).call(&["JSON.SET", "d", "$", &whole]), "+OK");
        let mut states = vec![read(&server)];
        machine.record_cuts();
        let mut client = Client::of(&server);
        for _ in 0..25 {
            let words = request(&mut random);
            let reply = client.call(&words.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(!reply.starts_with('-'), "{words:?}: {reply}");
            states.push(read(&server));
        }
        for cut in &machine.take_cuts() {
            let lost = Survival::samples(seed).map(|survival| cut.machine.after_power_loss(survival));
            let chosen = random.usize(..lost.len());
            for machine in [&cut.machine.after_kill(), &lost[chosen]] {
                let server = open(machine);
                let found = read(&server);
                assert!(
                    states.contains(&found) || found == "$-1",
                    "seed {seed}: a document that no command left: {found}"
                );
                judged += 1;
            }
        }
    }
    assert!(judged > 1000, "only {judged} states were judged");
}
