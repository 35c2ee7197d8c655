//! The laws of storage on real files, and the errors of a disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use edgecask::limits::Deadlines;
use edgecask::storage::directory::Directory;
use edgecask::storage::mapped::{ALLOCATION_STEP_BYTES, MAPPED_WRITE_BELOW_BYTES};
use edgecask::storage::sled_meta::SledMeta;
use edgecask_core::storage::{
    Access, Device, DeviceFile, DeviceStorage, MetaMap, MetaOp, StorageError, contract,
};
use tempfile::TempDir;

use crate::support::{Client, Server, request, start_in};

fn contents(file: &impl DeviceFile, offset: u64, len: u64) -> Vec<u8> {
    let mut seen = Vec::new();
    file.read(offset, len, &mut |bytes| seen = bytes.to_vec()).expect("reads");
    seen
}

fn contract_holds(open: impl Fn(&Path) -> Directory) {
    let folder = tempfile::tempdir().expect("a directory");
    contract::check(&mut || {
        let meta = SledMeta::open(&folder.path().join("meta")).expect("sled opens");
        DeviceStorage::open(open(folder.path()), meta).expect("opens")
    });
}

#[test]
fn mapped_files_keep_the_contract() {
    contract_holds(|path| Directory::open(path).expect("opens"));
}

#[test]
fn unmapped_files_keep_the_contract() {
    contract_holds(|path| Directory::open_unmapped(path).expect("opens"));
}

#[test]
fn small_and_large_writes_may_alternate() {
    let folder = tempfile::tempdir().expect("a directory");
    let directory = Directory::open(folder.path()).expect("opens");
    let file = directory.create("file", Access::Log).expect("creates");
    // Appends between the two lengths are written into blanked pages.
    let (short, long) = (MAPPED_WRITE_BELOW_BYTES, 128 * 1024);
    let sizes = [1, 60, short - 1, short, 3, 20_000, 20_000, long, 500_000, long - 1, 1, 17];
    let mut whole = Vec::new();
    for (number, size) in sizes.iter().cycle().take(400).enumerate() {
        let bytes = vec![number as u8; *size as usize];
        let (begin, end) = bytes.split_at(bytes.len() / 3);
        file.write(whole.len() as u64, &[begin, end]).expect("writes");
        whole.extend_from_slice(&bytes);
    }
    assert!(whole.len() as u64 > ALLOCATION_STEP_BYTES, "the file grew more than once");
    assert!(contents(&file, 0, whole.len() as u64) == whole, "as read by this handle");
    assert!(
        fs::read(folder.path().join("file")).expect("reads").starts_with(&whole),
        "and by everybody else"
    );
    let cut = whole.len() as u64 / 2 + 1;
    file.set_len(cut).expect("cuts");
    assert_eq!(
        fs::metadata(folder.path().join("file")).expect("is there").len(),
        cut,
        "nothing preallocated is left"
    );
    file.write(cut, &[b"after the cut"]).expect("writes");
    assert_eq!(
        contents(&file, cut - 1, 14),
        [&whole[cut as usize - 1..cut as usize], b"after the cut"].concat()
    );
    file.set_len(cut + 100).expect("extends");
    assert_eq!(contents(&file, cut + 13, 87), [0; 87], "with zeros");
}

#[test]
fn a_file_that_is_synced_all_the_time_holds_what_was_written_and_zeros() {
    let folder = tempfile::tempdir().expect("a directory");
    let directory = Directory::open(folder.path()).expect("opens");
    let file = directory.create("file", Access::Log).expect("creates");
    let mut whole = Vec::new();
    for number in 0..600_u32 {
        // Short and long ones, so that it is blanked ahead, overtaken, and blanked ahead again.
        let size = if number.is_multiple_of(50) { MAPPED_WRITE_BELOW_BYTES as usize + 1 } else { 5000 };
        let bytes = vec![number as u8 | 1; size];
        file.write(whole.len() as u64, &[&bytes]).expect("writes");
        file.sync().expect("syncs");
        whole.extend_from_slice(&bytes);
        assert_eq!(file.len(), Ok(whole.len() as u64), "what is blanked does not count");
    }
    assert!(contents(&file, 0, whole.len() as u64) == whole, "as read by this handle");
    let on_disk = fs::read(folder.path().join("file")).expect("reads");
    assert!(on_disk.starts_with(&whole), "and by everybody else");
    assert!(on_disk.iter().skip(whole.len()).all(|byte| *byte == 0), "with nothing behind it");
}

#[test]
fn readers_and_an_appender_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().expect("a directory");
    let directory = Directory::open(folder.path()).expect("opens");
    let file = directory.create("file", Access::Log).expect("creates");
    let record = |number: u64| [number.to_le_bytes(); 8].concat();
    let count = 50_000;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut known = 0;
                while known < count {
                    known = file.len().expect("a length") / 64;
                    for number in
                        [known / 2, known.saturating_sub(1)].into_iter().filter(|number| *number < known)
                    {
                        assert_eq!(contents(&file, number * 64, 64), record(number));
                    }
                }
            });
        }
        for number in 0..count {
            file.write(number * 64, &[&record(number)]).expect("writes");
        }
    });
    assert_eq!(file.len(), Ok(count * 64));
}

/// A small file system, unmounted at the end; none where mounting is not allowed.
pub struct SmallDisk(PathBuf, #[allow(dead_code)] TempDir);

impl SmallDisk {
    pub fn mount(megabytes: u64) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().expect("a directory");
        let size = format!("size={megabytes}m");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "edgecask-test"]).arg(folder.path());
        let is_mounted = mount.output().is_ok_and(|output| output.status.success());
        is_mounted.then(|| SmallDisk(folder.path().to_path_buf(), folder))
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_is_an_error_and_harms_nothing() {
    let disk = SmallDisk::mount(64);
    let folder = tempfile::tempdir().expect("a directory");
    let directory = Directory::open(disk.as_ref().map_or(folder.path(), |disk| &disk.0)).expect("opens");
    let file = directory.create("file", Access::Log).expect("creates");
    file.write(0, &[b"first"]).expect("writes");
    // No file system has room for this one.
    let absurd = file.write(1 << 61, &[b"far away"]);
    assert!(matches!(absurd, Err(StorageError::Full(_))), "{absurd:?}");
    assert_eq!(contents(&file, 0, 5), b"first");
    file.write(5, &[b"second"]).expect("the same file still grows");
    if disk.is_none() {
        eprintln!("mounting is not allowed here: a disk that fills up was not tested");
        return;
    }
    for size in [100, MAPPED_WRITE_BELOW_BYTES as usize * 3] {
        let bytes = vec![7; size];
        let mut end = file.len().expect("a length");
        let refused = loop {
            match file.write(end, &[&bytes]) {
                Ok(()) => end += size as u64,
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, StorageError::Full(_)), "{refused}");
        assert_eq!(file.len(), Ok(end), "the refused write left nothing");
        assert_eq!(contents(&file, 0, 11), b"firstsecond");
        file.set_len(end / 2).expect("cuts");
        file.write(end / 2, &[&bytes]).expect("with room again the file grows again");
    }
}

#[test]
fn a_server_on_a_full_disk_refuses_writes_and_goes_on_reading() {
    let Some(disk) = SmallDisk::mount(80) else {
        return eprintln!("mounting is not allowed here: a server whose disk fills up was not tested");
    };
    let running = start_in(&disk.0.join("store"), "", Deadlines::default()).expect("starts");
    let mut client = Client::connect(running.addresses()[0]);
    client.expect(&[b"SET", b"first", b"value"], b"+OK\r\n");
    let mut stored = 0;
    let refusal = loop {
        client.send(&request(&[b"SET", format!("key:{stored}").as_bytes(), &[b'x'; 300_000]]));
        match client.line() {
            ok if ok == "+OK" => stored += 1,
            error => break error,
        }
    };
    assert!(refusal.starts_with("-MISCONF") && refusal.contains("no space left"), "{refusal}");
    assert!(stored > 100, "most of the disk was used: {stored}");
    client.expect(&[b"GET", b"first"], b"$5\r\nvalue\r\n");
    client.expect(&[b"STRLEN", b"key:100"], b":300000\r\n");
    running.gateway().stop.request(edgecask::stop::StopRequest { checkpoint: false });
    drop(client);
    running.wait();
    let running = start_in(&disk.0.join("store"), "", Deadlines::default()).expect("starts again");
    let last = format!("key:{}", stored - 1);
    Client::connect(running.addresses()[0]).expect(&[b"STRLEN", last.as_bytes()], b":300000\r\n");
    running.gateway().stop.request(edgecask::stop::StopRequest { checkpoint: false });
    running.wait();
}

#[test]
fn a_directory_in_use_is_refused_by_name() {
    let server = Server::start("");
    let path = server.directory.path();
    let refused = start_in(path, "", Deadlines::default()).err().expect("refused").to_string();
    assert!(refused.contains("in use") && refused.contains(&path.display().to_string()), "{refused}");
}

#[test]
fn a_directory_that_cannot_be_made_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a directory");
    fs::write(folder.path().join("file"), b"").expect("writes");
    let path = folder.path().join("file/store");
    let refused = start_in(&path, "", Deadlines::default()).err().expect("refused").to_string();
    assert!(refused.contains(&path.display().to_string()), "{refused}");
}

#[test]
fn a_read_only_directory_ends_the_program_with_an_error() {
    let Some(disk) = SmallDisk::mount(16) else {
        return eprintln!("mounting is not allowed here: a read-only file system was not tested");
    };
    let remounted =
        Command::new("mount").args(["-o", "remount,ro"]).arg(&disk.0).status().expect("mount runs");
    assert!(remounted.success());
    let program = Command::new(env!("CARGO_BIN_EXE_edgecask"))
        .args(["--port", "0", "--http-port", "0", "--dir"])
        .arg(&disk.0)
        .output();
    let program = program.expect("the program runs");
    let told = String::from_utf8_lossy(&program.stderr).into_owned();
    assert_eq!(program.status.code(), Some(1), "{told}");
    assert!(told.contains("cannot be written") && told.contains(&disk.0.display().to_string()), "{told}");
}

#[test]
fn file_in_place_of_the_metadata_map_stays_for_ever() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("meta");
    for (text, aside) in [("first", "meta.damaged"), ("second", "meta.damaged-2")] {
        fs::write(&path, text).expect("writes");
        drop(SledMeta::open(&path).expect("opens all the same"));
        assert_eq!(fs::read_to_string(folder.path().join(aside)).expect("is there"), text);
        assert!(path.is_dir());
        fs::remove_dir_all(&path).expect("removes");
    }
    assert_eq!(fs::read_to_string(folder.path().join("meta.damaged")).expect("is there"), "first");
}

#[test]
fn broken_sled_folders_pile_up() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("meta");
    for _ in 1..=2 {
        SledMeta::open(&path)
            .expect("opens")
            .apply(&[MetaOp::Put(b"key".to_vec(), vec![7; 5000])])
            .expect("applies");
        let broken = vec![0xA5; fs::metadata(path.join("db")).expect("sled's file").len() as usize];
        fs::write(path.join("db"), broken).expect("writes");
        fs::write(path.join("conf"), b"neither a configuration nor its checksum").expect("writes");
        let meta = SledMeta::open(&path).expect("opens all the same");
        assert_eq!(meta.get(b"key"), Ok(None), "with an empty map");
        assert_eq!(fs::read_dir(folder.path()).expect("lists").count(), 1, "and nothing of the old one");
    }
}

#[test]
fn large_lazy_changes_arrive_whole() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("meta");
    let changes: Vec<MetaOp> =
        (0..2000_u32).map(|number| MetaOp::Put(number.to_be_bytes().to_vec(), vec![1; 3000])).collect();
    let meta = SledMeta::open(&path).expect("opens");
    meta.apply_lazily(&changes).expect("applies");
    meta.apply(&[]).expect("makes it durable");
    drop(meta);
    let mut count = 0;
    SledMeta::open(&path)
        .expect("opens")
        .scan(b"", &mut |_, value| {
            count += 1;
            value.len() == 3000
        })
        .expect("scans");
    assert_eq!(count, 2000);
}
