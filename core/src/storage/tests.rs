//! The contract on every storage of this crate.

use super::{MemoryDevice, MemoryMeta, MemoryStorage, contract};

#[test]
fn memory_keeps_the_contract() {
    let (device, meta) = (MemoryDevice::default(), MemoryMeta::default());
    contract::check(&mut || MemoryStorage::open(device.clone(), meta.clone()).expect("open"));
}
