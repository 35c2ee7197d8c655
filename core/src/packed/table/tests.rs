use super::*;
use fastrand::Rng;
use std::collections::{BTreeMap, HashMap, HashSet};

const SEED: u64 = 0x5EED;

/// Panics unless every invariant of the table holds; returns the bucket ranges as (first hash, depth, entries).
fn check(table: &Table) -> Vec<(u64, u32, usize)> {
    let Some(directory) = &table.directory else {
        assert_eq!((table.len(), table.heap_bytes()), (0, 0));
        return Vec::new();
    };
    directory.check();
    let (mut buckets, mut len, mut position) = (Vec::new(), 0, 0u64);
    loop {
        let (bucket, depth) = (directory.get(position).unwrap(), directory.depth(position));
        assert!(table.skip_bits + depth <= CURSOR_BITS_MAX.max(table.skip_bits));
        let prefix = |position: u64| position.checked_shr(u64::BITS - depth).unwrap_or(0);
        let mut keys = HashSet::new();
        for entry in bucket.entries() {
            let hash = hash(SEED, entry.key());
            assert_eq!(entry.tag(), tag(hash));
            assert_eq!(prefix(table.position(hash)), prefix(position), "an entry in the wrong bucket");
            assert!(keys.insert(entry.key()), "a key twice");
        }
        assert_eq!(keys.len(), bucket.len());
        buckets.push((position, depth, bucket.len()));
        len += bucket.len() as u64;
        match position.checked_add(1u64.checked_shl(u64::BITS - depth).unwrap_or(0)) {
            Some(next) if depth > 0 => position = next,
            _ => break,
        }
    }
    assert_eq!(len, table.len());
    for (position, depth, _) in buckets.iter().filter(|(_, depth, len)| *depth > 0 && *len == 0) {
        let half = 1u64 << (u64::BITS - depth);
        let buddies = (position ^ half)..=(position ^ half) + (half - 1);
        assert!(
            buckets.iter().any(|(other, _, len)| buddies.contains(other) && *len > 0),
            "both halves of a range are empty"
        );
    }
    buckets
}

/// A table without skipped bits with `count` keys, each of which is its number's bytes and has its number as payload.
fn numbered(count: u64) -> Table {
    let mut table = Table::new(SEED, 0);
    for number in 0..count {
        assert!(!insert(&mut table, &number.to_le_bytes(), &number.to_le_bytes()));
    }
    table
}

fn insert(table: &mut Table, key: &[u8], payload: &[u8]) -> bool {
    table.insert(hash(SEED, key), key, payload)
}

fn remove(table: &mut Table, key: &[u8]) -> bool {
    table.remove(hash(SEED, key), key)
}

fn random_bytes(random: &mut Rng, len: usize) -> Vec<u8> {
    std::iter::repeat_with(|| random.u8(..)).take(len).collect()
}

/// Lengths around every boundary of the layout.
fn random_len(random: &mut Rng) -> usize {
    match random.u8(..) {
        0..=200 => random.usize(12..=30),
        201..=215 => random.usize(..4),
        216..=235 => random.usize(120..=135),
        236..=252 => random.usize(230..=270),
        253..=254 => random.usize(1000..=5000),
        _ => 20_000,
    }
}

fn contents(table: &Table) -> HashMap<Vec<u8>, Vec<u8>> {
    let (mut all, mut at) = (HashMap::new(), Some(0));
    while let Some(from) = at {
        at = table.scan(from, &mut |_, key, payload| {
            assert!(all.insert(key.to_vec(), payload.to_vec()).is_none(), "an entry twice");
        });
    }
    all
}

#[test]
fn behaves_like_a_hash_map() {
    for (seed, skip_bits) in [(1, 0), (2, 0), (3, 0), (4, 7), (5, 38), (6, 64), (7, 30)] {
        println!("seed {seed}, skip_bits {skip_bits}");
        let mut random = Rng::with_seed(seed);
        let mut table = Table::new(SEED, skip_bits);
        let mut model: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
        let mut keys: Vec<Vec<u8>> = vec![Vec::new()];
        for _ in 0..1500 {
            let len = random_len(&mut random);
            keys.push(random_bytes(&mut random, len));
        }
        for round in 0..12_000 {
            let key = &keys[random.usize(..keys.len())];
            let hash = hash(SEED, key);
            // First it fills, then it empties.
            let removals = if round < 6000 { 2 } else { 7 };
            match random.u32(..10) {
                kind if kind < removals => {
                    assert_eq!(table.remove(hash, key), model.remove(key).is_some());
                }
                8 => {
                    let payload = table.get_mut(hash, key);
                    assert_eq!(payload.is_some(), model.contains_key(key));
                    if let (Some(payload), Some(expected)) = (payload, model.get_mut(key)) {
                        assert_eq!(payload, expected);
                        random.fill(payload);
                        expected.copy_from_slice(payload);
                    }
                }
                _ => {
                    let len = random_len(&mut random);
                    let payload = random_bytes(&mut random, len);
                    let replaced = table.insert(hash, key, &payload);
                    assert_eq!(replaced, model.insert(key.clone(), payload).is_some());
                }
            }
            let key = &keys[random.usize(..keys.len())];
            assert_eq!(table.get(self::hash(SEED, key), key), model.get(key).map(Vec::as_slice));
            assert_eq!(table.len(), model.len() as u64);
            if round % 500 == 0 {
                check(&table);
                assert_eq!(contents(&table), model);
            }
        }
        for key in &keys {
            assert_eq!(remove(&mut table, key), model.remove(key).is_some());
        }
        check(&table);
        assert!(table.is_empty());
    }
}

#[test]
fn a_walk_misses_nothing_that_stays() {
    for seed in 0..6 {
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        // Four tables side by side, as a keydir's shards: one walk covers them all.
        let mut tables: Vec<Table> = (0..4).map(|_| Table::new(SEED, 2)).collect();
        let key = |number: u64| number.to_be_bytes();
        let shard = |number: u64| (hash(SEED, &key(number)) >> 62) as usize;
        for number in 0..20_000 {
            insert(&mut tables[shard(number)], &key(number), b"here");
        }
        let removes = seed % 2 == 0;
        let (mut seen, mut newest, mut oldest) = (BTreeMap::new(), 20_000, 5_000);
        let mut at = Some(0u64);
        while let Some(from) = at {
            assert_eq!(from << CURSOR_BITS_MAX, 0, "a cursor with too many bits");
            let shard_of_cursor = from >> 62;
            let next = tables[shard_of_cursor as usize].scan(from, &mut |hash, key, _| {
                assert_eq!(hash, self::hash(SEED, key));
                *seen.entry(key.to_vec()).or_insert(0) += 1;
            });
            at = next.or_else(|| (shard_of_cursor < 3).then(|| (shard_of_cursor + 1) << 62));
            assert!(at.is_none_or(|at| at > from), "a walk goes forward");
            for _ in 0..random.u32(..60) {
                if removes && random.u32(..3) > 0 {
                    // The numbers below 5000 stay.
                    remove(&mut tables[shard(oldest)], &key(oldest));
                    oldest += 1;
                } else {
                    insert(&mut tables[shard(newest)], &key(newest), b"new");
                    newest += 1;
                }
            }
        }
        for number in 0..5_000 {
            let times = seen.get(key(number).as_slice()).copied().unwrap_or(0);
            assert!(times > 0, "{number} was missed");
            assert!(removes || times == 1, "{number} came twice without a merge");
        }
        tables.iter().for_each(|table| {
            check(table);
        });
    }
}

#[test]
fn few_buckets_hold_many_entries() {
    for (skip_bits, buckets) in [(64, 1), (40, 1), (38, 4)] {
        let mut table = Table::new(SEED, skip_bits);
        for number in 0..3000u64 {
            assert!(!insert(&mut table, &number.to_le_bytes(), b"payload"));
        }
        assert_eq!(check(&table).len(), buckets);
        assert_eq!(contents(&table).len(), 3000);
        for number in 0..3000u64 {
            let key = number.to_le_bytes();
            assert_eq!(table.get(hash(SEED, &key), &key), Some(&b"payload"[..]));
            assert!(remove(&mut table, &key));
        }
        assert_eq!(table.heap_bytes(), 0);
    }
}

#[test]
fn keys_that_crowd_one_corner_split_segments_and_leave_again() {
    // Keys whose hashes share their first 13 bits push segments to their full depth while the rest stays empty.
    let mut keys: Vec<[u8; 8]> = (0..4_000_000u64).map(u64::to_le_bytes).collect();
    keys.retain(|key| hash(SEED, key) >> 51 == 5);
    assert!(keys.len() > 300);
    let mut table = Table::new(SEED, 0);
    for key in &keys {
        insert(&mut table, key, key);
    }
    let depth_max = check(&table).iter().map(|(_, depth, _)| *depth).max();
    assert!(depth_max > Some(16));
    for number in 0..1000u64 {
        assert!(table.random(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).is_some(), "lost in empty buckets");
    }
    for (gone, key) in keys.iter().enumerate() {
        assert!(remove(&mut table, key));
        if gone % 32 == 0 {
            check(&table);
        }
    }
    assert_eq!(check(&table), []);
}

#[test]
fn memory_comes_back_when_entries_go() {
    const COUNT: u64 = 200_000;
    let cell = extendible::Extendible::new(Bucket::default()).cells_bytes();
    assert_eq!(cell, 2 * size_of::<usize>(), "a cell is no larger than the bucket it owns");
    let mut table = Table::new(SEED, 0);
    assert_eq!(table.heap_bytes(), 0);
    table = numbered(COUNT);
    let full = table.heap_bytes();
    assert!(full < COUNT as usize * (16 + 12), "{full} bytes for {COUNT} entries");
    check(&table);
    for number in (0..COUNT).filter(|number| number % 100 != 0) {
        assert!(remove(&mut table, &number.to_le_bytes()));
    }
    check(&table);
    assert!(table.heap_bytes() < full / 40, "{} of {full} bytes left for 1 %", table.heap_bytes());
    assert!((0..COUNT / 100).all(|number| {
        let key = (number * 100).to_le_bytes();
        table.get(hash(SEED, &key), &key) == Some(&key[..])
    }));
    table.clear();
    assert_eq!((table.len(), table.heap_bytes()), (0, 0));
    assert!(!insert(&mut table, b"again", b""));
}

#[test]
fn retain_changes_and_drops() {
    let mut table = numbered(20_000);
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let mut at = Some(0);
    while let Some(from) = at {
        at = table.retain_in(from, &mut |key, payload| {
            payload.copy_from_slice(&(number(key) + 1).to_le_bytes());
            number(key).is_multiple_of(3)
        });
        assert!(at.is_none_or(|at| at > from));
    }
    check(&table);
    let expected: HashMap<_, _> = (0..20_000u64)
        .step_by(3)
        .map(|number| (number.to_le_bytes().to_vec(), (number + 1).to_le_bytes().to_vec()))
        .collect();
    assert_eq!(contents(&table), expected);
    let mut at = Some(0);
    while let Some(from) = at {
        at = table.retain_in(from, &mut |_, _| false);
    }
    assert_eq!(check(&table), []);
}

#[test]
fn random_entries_come_about_equally_often() {
    let table = numbered(1000);
    let mut random = Rng::with_seed(11);
    let mut times: HashMap<&[u8], u32> = HashMap::new();
    for _ in 0..200_000 {
        let (key, payload) = table.random(random.u64(..)).unwrap();
        assert_eq!(key, payload);
        *times.entry(key).or_default() += 1;
    }
    assert_eq!(times.len(), 1000);
    assert!(times.values().all(|times| (70..=500).contains(times)), "{:?} of 200", times.values().max());
    assert_eq!(Table::new(SEED, 0).random(5), None);
}

#[test]
fn a_table_drains_in_slices() {
    let mut table = numbered(150_000);
    let (mut gone, mut bytes) = (HashSet::new(), table.heap_bytes());
    while !table.is_empty() {
        let before = table.len();
        let dropped = table.drain_some(1000, &mut |key, _| assert!(gone.insert(key.to_vec())));
        assert_eq!(before - table.len(), dropped);
        assert!((1..1100).contains(&dropped));
        assert!(table.heap_bytes() < bytes);
        bytes = table.heap_bytes();
    }
    assert_eq!(gone.len(), 150_000);
    assert_eq!(table.drain_some(1, &mut |_, _| ()), 0);
    assert_eq!(check(&table), []);
    assert!(!insert(&mut table, b"again", b""));
    assert_eq!(check(&table).len(), 1);
}

#[test]
fn looking_ahead_meets_no_edge() {
    let empty = Table::new(SEED, 0);
    for count in [0, 1, 7, 8, 48, 49, 5000] {
        let mut table = numbered(count);
        // Entries with a length of their own, and buckets of every depth.
        for number in 0..count / 50 {
            insert(&mut table, &[b"long".to_vec(), vec![number as u8; 300]].concat(), &[1; 40]);
        }
        let mut random = Rng::with_seed(count);
        for len in [0, 1, 15, 16, 17, 100] {
            let wanted: Vec<_> =
                (0..len).map(|at| (if at % 5 == 4 { &empty } else { &table }, random.u64(..))).collect();
            prefetch(&wanted);
            prefetch(&[(&table, 0), (&table, u64::MAX)]);
        }
        check(&table);
    }
}
