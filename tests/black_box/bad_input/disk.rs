//! Disks that are full or may not be written, as small tmpfs mounts. Where mounting is not permitted these say so and
//! test nothing.

use std::path::Path;
use std::process::Command;

use edgecask_core::resp::Value;
use edgecask_tests::process::{Gateway, report};
use tempfile::TempDir;

/// A small file system of its own, unmounted at the end.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// None, said in the output, where mounting is not permitted.
    fn mount(options: &str) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().expect("a directory");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "edgecask-test"]).arg(folder.path());
        match mount.output() {
            Ok(output) if output.status.success() => Some(SmallDisk(folder)),
            refused => {
                report(&format!("skipped: a tmpfs cannot be mounted here: {refused:?}"));
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).output();
    }
}

#[test]
fn a_full_disk_loses_acknowledged_writes() {
    let Some(disk) = SmallDisk::mount("size=64m") else { return };
    let gateway = Gateway::on(&disk.path().join("data"));
    let server = gateway.must_start();
    let mut client = server.client();
    let value = |number: usize| vec![b'a' + (number % 26) as u8; 200_000];
    let mut stored = 0;
    let refusal = loop {
        let key = format!("key:{stored}");
        match client.call(&[b"SET".as_slice(), key.as_bytes(), &value(stored)]).expect("a reply") {
            Value::Simple(_) => stored += 1,
            reply => break String::from_utf8_lossy(reply.as_error().expect("an error")).into_owned(),
        }
        assert!(stored < 400, "64 MB hold no 80 MB");
    };
    assert!(refusal.starts_with("MISCONF"), "{refusal}");
    assert!(stored > 100, "most of the disk was used: {stored} values of 200 kB");
    assert_eq!(client.must("GET key:7"), Value::Bulk(value(7)), "what there is can be read");
    assert!(
        client.must("INCR counter").as_error().is_some()
            || client.must("GET counter") == Value::Bulk(b"1".to_vec())
    );
    server.kill();
    let server = gateway.must_start();
    let mut client = server.client();
    for number in 0..stored {
        assert_eq!(client.must(&format!("GET key:{number}")), Value::Bulk(value(number)), "key:{number}");
    }
    report(&format!(
        "full disk: {stored} values of 200 kB on 64 MB, then {refusal:?}; all there after kill -9"
    ));
}

/// Not even the space is left that datafiles leave free: neither hints nor a manifest can be written.
#[test]
fn full_disk_keeps_the_server_from_starting() {
    let Some(disk) = SmallDisk::mount("size=64m") else { return };
    let directory = disk.path().join("data");
    let gateway = Gateway::on(&directory);
    for round in 0..3 {
        let server = gateway.must_start();
        let mut client = server.client();
        if round == 0 {
            for number in 0..100 {
                let key = format!("key:{number}");
                client.call(&[b"SET".as_slice(), key.as_bytes(), &[b'x'; 100_000]]).expect("a reply");
            }
            let ballast = std::fs::File::create(disk.path().join("ballast")).expect("creates");
            let mut ballast = std::io::BufWriter::with_capacity(4096, ballast);
            while std::io::Write::write_all(&mut ballast, &[7; 4096]).is_ok() {}
        }
        // Whether it works does not matter.
        client.must("SAVE");
        assert_eq!(client.must("STRLEN key:99"), Value::Integer(100_000), "round {round}");
        server.kill();
        let names =
            std::fs::read_dir(&directory).expect("lists").map(|entry| entry.expect("an entry").file_name());
        let broken = names.filter(|name| name.to_string_lossy().contains("broken"));
        assert_eq!(broken.count(), 0, "round {round}");
    }
}

#[test]
fn a_read_only_directory_is_served() {
    let Some(disk) = SmallDisk::mount("size=16m,ro") else { return };
    let told = Gateway::on(disk.path()).must_refuse();
    assert!(
        told.contains("cannot be written") && told.contains(&disk.path().display().to_string()),
        "{told}"
    );
}
