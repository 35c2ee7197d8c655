//! The simulated disk itself: what it forgets, what it keeps, and that a seed decides both.

use std::collections::BTreeSet;

use super::super::{Access, Device, DeviceFile, MetaMap, MetaOp, StorageError, contract};
use super::{Moment, SimulatedFile, SimulatedStorage, Simulation, Survival};

const NAME: &str = "file";

/// A machine with one durable file of two and a half sectors.
fn machine() -> (Simulation, SimulatedFile) {
    let machine = Simulation::new(7);
    machine.set_bytes(NAME, vec![b'o'; 1280]);
    let file = machine.device().open(NAME, Access::Log).expect("open");
    (machine, file)
}

fn left(machine: &Simulation, survival: Survival) -> Vec<u8> {
    machine.after_power_loss(survival).bytes(NAME).expect("the file is there")
}

#[test]
fn simulated_storage_keeps_the_contract() {
    type Next = fn(&Simulation) -> Simulation;
    let ways: [Next; 3] =
        [Simulation::clone, Simulation::after_kill, |machine| machine.after_power_loss(Survival::All)];
    for next in ways {
        let mut machine = Simulation::new(1);
        contract::check(&mut || -> SimulatedStorage {
            machine = next(&machine);
            machine.open().expect("open")
        });
    }
}

#[test]
fn unsynced_writes_survive_by_choice() {
    let (machine, file) = machine();
    file.write(1280, &[b"new", b"er"]).expect("write");
    assert_eq!(left(&machine, Survival::None), [b'o'; 1280]);
    assert_eq!(left(&machine, Survival::All), [&[b'o'; 1280][..], b"newer"].concat());
    file.sync().expect("sync");
    assert_eq!(left(&machine, Survival::None), [&[b'o'; 1280][..], b"newer"].concat());
}

#[test]
fn torn_writes_survive_as_prefixes() {
    let (machine, file) = machine();
    file.write(1280, &[&[b'a'; 1000]]).expect("write");
    file.write(2280, &[&[b'b'; 1000]]).expect("write");
    let whole = machine.bytes(NAME).expect("readers see all");
    let mut lengths = BTreeSet::new();
    for seed in 0..300 {
        let bytes = left(&machine, Survival::Torn(seed));
        assert_eq!(bytes, whole[..bytes.len()], "seed {seed}");
        assert!(bytes.len() >= 1280, "seed {seed}");
        lengths.insert(bytes.len());
    }
    assert!(lengths.contains(&1280) && lengths.contains(&whole.len()), "nothing and all are possible");
    let at_sectors = lengths.iter().filter(|len| **len % 512 == 0).count();
    assert!(at_sectors >= 3 && lengths.len() > at_sectors + 20, "cut at sectors and anywhere: {lengths:?}");
}

#[test]
fn subsets_survive_sector_by_sector() {
    let (machine, file) = machine();
    file.write(100, &[&[b'x'; 10]]).expect("overwrite inside the first sector");
    file.write(1280, &[&[b'n'; 2000]]).expect("append");
    let whole = machine.bytes(NAME).expect("readers see all");
    let mut seen = BTreeSet::new();
    for seed in 0..300 {
        let bytes = left(&machine, Survival::Subset(seed));
        assert!((1280..=3280).contains(&bytes.len()), "seed {seed}");
        let mut zeros_before_new = false;
        let mut zeros = false;
        for (number, sector) in bytes.chunks(512).enumerate() {
            let start = number * 512;
            let old: Vec<u8> =
                (start..start + sector.len()).map(|at| if at < 1280 { b'o' } else { 0 }).collect();
            let (is_new, is_old) = (sector == &whole[start..start + sector.len()], sector == old);
            assert!(is_new || is_old, "seed {seed}: sector {number} is a mixture");
            zeros |= number >= 3 && !is_new;
            zeros_before_new |= zeros && is_new;
        }
        seen.insert((bytes[100] == b'x', bytes.len(), zeros_before_new));
    }
    for overwritten in [true, false] {
        for len in [1280, 3072, 3280] {
            let found = seen.iter().any(|(first, length, _)| (*first, *length) == (overwritten, len));
            assert!(found, "overwritten {overwritten} with {len} bytes");
        }
    }
    assert!(seen.iter().any(|(_, _, hole)| *hole), "later sectors survive earlier ones");
}

#[test]
fn failed_sync_drops_bytes_that_stay_readable() {
    let (machine, file) = machine();
    file.write(1280, &[b"lost"]).expect("write");
    machine.fail_at(machine.operations());
    assert!(matches!(file.sync(), Err(StorageError::Io(_))));
    file.write(1284, &[b"kept"]).expect("write");
    file.sync().expect("later syncs succeed");
    assert_eq!(machine.bytes(NAME).expect("bytes")[1280..], *b"lostkept");
    for survival in Survival::samples(3) {
        assert_eq!(left(&machine, survival)[1280..], *b"\0\0\0\0kept", "{survival:?}");
    }
    assert_eq!(machine.after_kill().bytes(NAME).expect("bytes")[1280..], *b"lostkept", "killed only");
}

#[test]
fn names_are_durable_by_the_sync_of_the_directory_only() {
    let machine = Simulation::new(0);
    let device = machine.device();
    let file = device.create("a", Access::Log).expect("create");
    file.write(0, &[b"text"]).expect("write");
    file.sync().expect("sync");
    assert_eq!(machine.after_power_loss(Survival::None).file_names(), [""; 0], "no name yet");
    device.sync_directory().expect("sync of the directory");
    device.rename("a", "b").expect("rename");
    device.create("c", Access::Log).expect("create");
    device.remove("c").expect("remove");
    let old = machine.after_power_loss(Survival::None);
    assert_eq!((old.file_names(), old.bytes("a")), (vec!["a".into()], Some(b"text".to_vec())));
    let mut seen = BTreeSet::new();
    for seed in 0..60 {
        let names = machine.after_power_loss(Survival::Torn(seed)).file_names();
        assert!(
            [&["a"][..], &["b"], &["b", "c"]].iter().any(|legal| names == *legal),
            "seed {seed}: {names:?}"
        );
        let subset = machine.after_power_loss(Survival::Subset(seed)).file_names();
        assert_eq!(subset.iter().filter(|name| *name != "c").count(), 1, "a rename is atomic, seed {seed}");
        seen.extend([names, subset]);
    }
    assert_eq!(seen.len(), 4, "every combination occurs: {seen:?}");
    device.sync_directory().expect("sync of the directory");
    assert_eq!(machine.after_power_loss(Survival::None).file_names(), ["b"]);
}

#[test]
fn metadata_is_atomic_and_lazy_batches_survive_as_a_prefix() {
    let machine = Simulation::new(0);
    let meta = machine.meta();
    let put = |number: u8| [MetaOp::Put(vec![number], vec![]), MetaOp::Put(vec![number + 100], vec![])];
    meta.apply_lazily(&put(1)).expect("apply lazily");
    assert!(machine.after_power_loss(Survival::None).meta_copy().is_empty());
    meta.apply(&put(2)).expect("apply");
    assert_eq!(
        machine.after_power_loss(Survival::None).meta_copy().len(),
        4,
        "apply takes the lazy one along"
    );
    meta.apply_lazily(&put(3)).expect("apply lazily");
    let stale = machine.meta_copy();
    machine.cut_power_at(machine.operations(), Moment::During);
    assert!(meta.apply(&put(4)).is_err());
    let mut seen = BTreeSet::new();
    for seed in 0..60 {
        let pairs = machine.after_power_loss(Survival::Subset(seed)).meta_copy();
        seen.insert(pairs.into_keys().collect::<Vec<_>>());
    }
    let legal = [vec![1, 2, 101, 102], vec![1, 2, 3, 101, 102, 103], vec![1, 2, 3, 4, 101, 102, 103, 104]];
    let legal = legal.map(|keys| keys.into_iter().map(|key| vec![key]).collect::<Vec<_>>());
    assert_eq!(seen, BTreeSet::from(legal));
    machine.set_meta(stale.clone());
    assert_eq!(machine.after_power_loss(Survival::None).meta_copy(), stale, "a map can be rolled back");
}

#[test]
fn after_the_power_cut_nothing_works() {
    let (machine, file) = machine();
    machine.cut_power_at(1, Moment::During);
    file.write(1280, &[b"whole"]).expect("the operation before");
    assert!(file.write(1285, &[b"part"]).is_err());
    assert!(file.read(0, 1, &mut |_| {}).is_err() && file.sync().is_err() && file.len().is_err());
    assert!(machine.device().list().is_err() && machine.device().open(NAME, Access::Log).is_err());
    assert!(machine.meta().get(b"key").is_err() && machine.meta().apply(&[]).is_err());
    let bytes = machine.after_kill().bytes(NAME).expect("bytes");
    assert!(b"wholepart".starts_with(&bytes[1280..]) && bytes.len() >= 1285, "the write got there in part");
    assert_eq!(machine.faults_seen(), ["power cut during operation 1: write of 4 bytes at 1285 of file"]);
    assert_eq!(machine.after_kill().operations(), 0);
}

#[test]
fn full_disk_writes_nothing() {
    let (machine, file) = machine();
    machine.set_capacity_bytes(Some(1283));
    assert!(matches!(file.write(1280, &[b"four"]), Err(StorageError::Full(_))));
    assert_eq!(machine.bytes(NAME).expect("bytes").len(), 1280);
    file.write(1279, &[b"four"]).expect("to the last byte");
    assert!(matches!(file.set_len(1284), Err(StorageError::Full(_))));
    file.set_len(1000).expect("shorter");
    machine
        .device()
        .create("other", Access::Log)
        .expect("create")
        .write(0, &[b"room"])
        .expect("room was made");
    machine.set_capacity_bytes(None);
    machine.full_from(machine.operations());
    assert!(matches!(machine.device().create("third", Access::Log), Err(StorageError::Full(_))));
    assert!(matches!(machine.meta().apply(&[MetaOp::Put(vec![1], vec![])]), Err(StorageError::Full(_))));
    machine.meta().apply(&[MetaOp::Delete(vec![1])]).expect("deleting needs no space");
    file.write(0, &[b"over"]).expect("overwriting needs no space");
    machine.device().remove("other").expect("nor does removing");
}

#[test]
fn preallocated_zeros_are_seen_by_the_next_process_only() {
    let (machine, file) = machine();
    machine.set_preallocation_bytes(4096);
    file.write(1280, &[b"text"]).expect("write");
    assert_eq!((file.len(), machine.bytes(NAME).map(|bytes| bytes.len())), (Ok(1284), Some(1284)));
    let padded = [&[b'o'; 1280][..], b"text", &[0; 2812]].concat();
    assert_eq!(machine.after_kill().bytes(NAME), Some(padded.clone()));
    file.sync().expect("sync");
    assert_eq!(left(&machine, Survival::None), padded);
    file.set_len(1284).expect("cut");
    file.sync().expect("sync");
    assert_eq!(left(&machine, Survival::None), padded[..1284]);
    assert_eq!(machine.after_kill().bytes(NAME), Some(padded[..1284].to_vec()));
}

#[test]
fn flipped_bits_are_seen_by_readers_and_after_power_loss() {
    let (machine, file) = machine();
    file.write(1278, &[b"abcd"]).expect("write");
    for offset in [0, 1279, 1281] {
        assert!(machine.flip_bit(NAME, offset, 3));
    }
    assert!(!machine.flip_bit(NAME, 1282, 0) && !machine.flip_bit("absent", 0, 0), "there is no such bit");
    let expected = [&[b'o' ^ 8][..], &[b'o'; 1277], b"a", &[b'b' ^ 8], b"c", &[b'd' ^ 8]].concat();
    assert_eq!(machine.bytes(NAME), Some(expected.clone()));
    assert_eq!(left(&machine, Survival::All), expected);
    assert_eq!(left(&machine, Survival::None)[1278..], [b'o', b'o' ^ 8]);
}

#[test]
fn removed_files_are_read_until_the_last_handle_is_gone() {
    let (machine, file) = machine();
    machine.device().remove(NAME).expect("remove");
    machine.device().sync_directory().expect("sync of the directory");
    file.read(0, 1280, &mut |bytes| assert_eq!(bytes, [b'o'; 1280])).expect("read");
    machine.set_capacity_bytes(Some(1300));
    let other = machine.device().create("other", Access::Log).expect("create");
    assert!(matches!(other.write(0, &[&[0; 100]]), Err(StorageError::Full(_))), "it still takes its space");
    drop(file);
    machine.device().sync_directory().expect("sync of the directory");
    other.write(0, &[&[0; 100]]).expect("the space is free");
}

#[test]
fn a_seed_decides_everything() {
    let run = || {
        let (machine, file) = machine();
        machine.cut_power_at(3, Moment::During);
        for offset in [1280, 1500, 2000, 2600] {
            let _ = file.write(offset, &[&[b'w'; 700]]);
        }
        (0..20)
            .flat_map(|seed| [Survival::Torn(seed), Survival::Subset(seed)])
            .map(|survival| left(&machine, survival))
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}
