//! The cost of the gateway's disk on this machine: the figures behind the constants in `storage/mapped.rs`.
//!
//! `cargo bench -p edgecask --bench storage [-- DIRECTORY]`

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use edgecask::storage::directory::{Directory, Handle};
use edgecask_core::storage::{Access, Device, DeviceFile};

const APPENDED_BYTES: u64 = 256 * 1024 * 1024;

fn main() {
    let parent = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let folder =
        tempfile::tempdir_in(parent.map_or_else(std::env::temp_dir, PathBuf::from)).expect("a directory");
    let mapped = Directory::open(folder.path()).expect("opens");
    let plain = Directory::open_unmapped(folder.path()).expect("opens");
    println!(
        "{:>9} {:>14} {:>14} {:>14} {:>14}   ns each",
        "bytes", "append mapped", "append plain", "read mapped", "read plain"
    );
    for size in [60, 256, 1024, 2048, 4096, 6000, 8000, 16_000, 32_000, 65_536, 200_000, 1_000_000, 2_000_000]
    {
        let (append_mapped, read_mapped) = costs(&mapped, size);
        let (append_plain, read_plain) = costs(&plain, size);
        println!(
            "{size:>9} {append_mapped:>14.0} {append_plain:>14.0} {read_mapped:>14.0} {read_plain:>14.0}"
        );
    }
    sync_costs("sync after one append, mapped", &mapped);
    sync_costs("sync after one append, plain", &plain);
}

/// Nanoseconds of one append and one read of `size` bytes.
fn costs(directory: &Directory, size: usize) -> (f64, f64) {
    let file = directory.create("bench", Access::Log).expect("creates");
    let bytes = vec![7_u8; size];
    let count = APPENDED_BYTES / size as u64;
    let append = each(count, |nth| {
        let (header, value) = bytes.split_at(20);
        file.write(nth * size as u64, &[header, value]).expect("writes");
    });
    let read = each(count, |nth| read_one(&file, (nth * 7919) % count * size as u64, size as u64));
    directory.remove("bench").expect("removes");
    (append, read)
}

fn read_one(file: &Handle, offset: u64, len: u64) {
    file.read(offset, len, &mut |bytes| {
        // As a reply would: every byte is copied once.
        black_box(bytes.to_vec());
    })
    .expect("reads");
}

fn sync_costs(name: &str, directory: &Directory) {
    let file = directory.create("bench", Access::Log).expect("creates");
    let sync = each(200, |nth| {
        file.write(nth * 60, &[&[7; 60]]).expect("writes");
        file.sync().expect("syncs");
    });
    println!("{name}: {:.0} us", sync / 1000.0);
    directory.remove("bench").expect("removes");
}

fn each(count: u64, mut run: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    (0..count).for_each(&mut run);
    start.elapsed().as_nanos() as f64 / count as f64
}
