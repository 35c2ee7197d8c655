//! The laws of [`Storage`] as one [`check`] that every home runs on its own storage.
//!
//! What a loss of power leaves is not checked here, because no real disk can be asked to forget; the simulated device
//! does that to the same [`super::DeviceStorage`].

use super::{BlobId, Datafile, DatafileId, MetaMap, MetaOp, Note, Storage, StorageError};

/// The largest id that every storage takes: at the edge, where a row's number is a double, there are no larger ones.
const LARGEST_ID: u32 = (1 << 23) - 1;

/// Panics, naming the law, if a storage breaks one. The first call of `open` gives an empty store; each later call is
/// made after all handles of the one before are gone and opens the same store as that one left it.
pub fn check<S: Storage>(open: &mut dyn FnMut() -> S) {
    check_without_blobs(open);
    blobs_hold_what_was_written(&open());
    blobs_are_there_after_reopening(&open());
    datafiles_can_be_put_aside(&open());
    derived_files_are_replaced_and_removed(&open());
    notes_are_replaced_and_removed(&open());
}

/// The same for a home that has no blobs.
pub fn check_without_blobs<S: Storage>(open: &mut dyn FnMut() -> S) {
    datafiles_hold_what_was_appended(&open());
    datafiles_are_there_after_reopening(&open());
    cuts_are_exact(&open());
    hidden_datafiles_appear_when_published(&open());
    hidden_datafiles_are_gone_after_reopening(&open());
    ids_are_taken_once(&open());
    removed_datafiles_stay_readable(&open());
    removed_datafiles_are_gone_after_reopening(&open());
    large_datafiles_are_read_in_one_piece(&open());
    meta_keeps_order_and_prefixes(open().meta());
    meta_is_there_after_reopening(open().meta());
    manifest_is_replaced_whole(&open());
    manifest_is_there_after_reopening(&open());
}

fn contents(file: &dyn Datafile, offset: u64, len: u64) -> Vec<u8> {
    let mut pieces = Vec::new();
    file.read(offset, len, &mut |bytes| pieces.push(bytes.to_vec()))
        .expect("a read inside the file succeeds");
    assert_eq!(pieces.len(), 1, "a read shows its bytes in one piece");
    pieces.concat()
}

fn listed(storage: &impl Storage) -> Vec<u32> {
    storage.list().expect("listing succeeds").into_iter().map(|id| id.0).collect()
}

fn datafiles_hold_what_was_appended(storage: &impl Storage) {
    assert_eq!(listed(storage), [0_u32; 0], "the first store is empty");
    assert!(
        matches!(storage.open(DatafileId(1)), Err(StorageError::Missing(_))),
        "no file before its creation"
    );
    let file = storage.create(DatafileId(1), b"head").expect("create");
    assert_eq!(file.len(), Ok(4), "a file begins with its header");
    file.append(4, &[b"one", b"", b"two"]).expect("append of parts");
    file.append(10, &[b"three"]).expect("append where the last one ended");
    file.append(15, &[]).expect("append of nothing");
    file.sync().expect("sync");
    file.append(15, &[b"!"]).expect("append after a sync");
    assert_eq!(contents(&*file, 0, 16), b"headonetwothree!");
    assert_eq!(contents(&*file, 4, 6), b"onetwo");
    assert_eq!(contents(&*file, 7, 0), b"", "an empty read is legal");
    let mut visited = false;
    let past = file.read(10, 1 << 40, &mut |_| visited = true);
    assert!(matches!(past, Err(StorageError::Missing(_))), "a read past the end is missing, got {past:?}");
    let overflow = file.read(u64::MAX, 1, &mut |_| visited = true);
    assert!(
        matches!(overflow, Err(StorageError::Missing(_))),
        "an overflowing read is missing, got {overflow:?}"
    );
    assert!(!visited, "a failed read shows nothing");
    let second = storage.open(DatafileId(1)).expect("a file can be opened twice");
    assert_eq!(contents(&*second, 0, 5), b"heado", "another handle sees what was appended");
    storage.create(DatafileId(LARGEST_ID), b"last").expect("the largest id");
    storage.create(DatafileId(0), b"first").expect("the smallest id");
    assert_eq!(listed(storage), [0, 1, LARGEST_ID], "files are listed in order of their ids");
}

fn datafiles_are_there_after_reopening(storage: &impl Storage) {
    assert_eq!(listed(storage), [0, 1, LARGEST_ID]);
    let file = storage.open(DatafileId(1)).expect("open");
    assert!(file.len().expect("length") >= 16, "no byte is gone");
    assert_eq!(contents(&*file, 0, 16), b"headonetwothree!");
    file.append(16, &[b"?"]).expect("append after reopening");
    assert_eq!(contents(&*file, 14, 3), b"e!?");
}

fn cuts_are_exact(storage: &impl Storage) {
    let file = storage.open(DatafileId(1)).expect("open");
    file.cut(5).expect("cut");
    assert_eq!(file.len(), Ok(5));
    assert!(matches!(file.read(0, 6, &mut |_| {}), Err(StorageError::Missing(_))), "what was cut is gone");
    file.append(5, &[b"NE"]).expect("append after a cut");
    assert_eq!(contents(&*file, 0, 7), b"headoNE", "nothing of the old end is left");
    assert_eq!(file.is_empty(), Ok(false));
}

fn hidden_datafiles_appear_when_published(storage: &impl Storage) {
    let file = storage.create_hidden(DatafileId(7), b"hidden").expect("create hidden");
    file.append(6, &[b" body"]).expect("append to a hidden file");
    assert_eq!(contents(&*file, 0, 11), b"hidden body");
    assert_eq!(listed(storage), [0, 1, LARGEST_ID], "a hidden file is not listed");
    assert!(matches!(storage.open(DatafileId(7)), Err(StorageError::Missing(_))), "nor can it be opened");
    storage.publish(DatafileId(7)).expect("publish");
    assert_eq!(listed(storage), [0, 1, 7, LARGEST_ID]);
    assert!(matches!(storage.publish(DatafileId(7)), Err(StorageError::Missing(_))), "published once");
    file.append(11, &[b"!"]).expect("a handle outlives the publication");
    assert_eq!(contents(&*storage.open(DatafileId(7)).expect("open"), 0, 12), b"hidden body!");
    storage.create_hidden(DatafileId(8), b"never published").expect("create hidden");
    storage.create_hidden(DatafileId(9), b"given up").expect("create hidden");
    storage.remove(DatafileId(9)).expect("a hidden file can be removed");
    assert!(storage.publish(DatafileId(9)).is_err(), "what was removed cannot be published");
}

fn hidden_datafiles_are_gone_after_reopening(storage: &impl Storage) {
    assert_eq!(listed(storage), [0, 1, 7, LARGEST_ID], "a published file stays");
    assert_eq!(contents(&*storage.open(DatafileId(7)).expect("open"), 0, 12), b"hidden body!");
    assert!(storage.publish(DatafileId(8)).is_err(), "an unpublished file ends with its process");
    storage.create(DatafileId(8), b"again").expect("its id is free again");
}

fn ids_are_taken_once(storage: &impl Storage) {
    assert!(storage.create(DatafileId(8), b"x").is_err(), "a listed id is taken");
    assert!(storage.create_hidden(DatafileId(8), b"x").is_err(), "a listed id is taken for hidden files too");
    storage.create_hidden(DatafileId(10), b"x").expect("create hidden");
    assert!(storage.create(DatafileId(10), b"y").is_err(), "a hidden id is taken");
    assert_eq!(
        contents(&*storage.open(DatafileId(8)).expect("open"), 0, 5),
        b"again",
        "the older file is unharmed"
    );
    storage.remove(DatafileId(10)).expect("remove");
}

fn removed_datafiles_stay_readable(storage: &impl Storage) {
    let file = storage.open(DatafileId(8)).expect("open");
    storage.remove(DatafileId(8)).expect("remove");
    assert_eq!(listed(storage), [0, 1, 7, LARGEST_ID]);
    assert!(matches!(storage.open(DatafileId(8)), Err(StorageError::Missing(_))));
    assert!(matches!(storage.remove(DatafileId(8)), Err(StorageError::Missing(_))), "removed once");
    assert_eq!(contents(&*file, 0, 5), b"again", "an open handle still reads");
}

fn removed_datafiles_are_gone_after_reopening(storage: &impl Storage) {
    assert_eq!(listed(storage), [0, 1, 7, LARGEST_ID]);
}

fn large_datafiles_are_read_in_one_piece(storage: &impl Storage) {
    let file = storage.create(DatafileId(20), b"").expect("create with an empty header");
    assert_eq!(file.is_empty(), Ok(true));
    let body: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    let (mut offset, mut step) = (0, 1);
    while offset < body.len() {
        let end = (offset + step).min(body.len());
        let middle = offset + (end - offset) / 2;
        file.append(offset as u64, &[&body[offset..middle], &body[middle..end]]).expect("append");
        (offset, step) = (end, step * 3);
    }
    assert!(contents(&*file, 0, body.len() as u64) == body, "a large file holds what was appended");
    assert!(contents(&*file, 4095, 2_000_003) == body[4095..][..2_000_003], "and any part of it");
}

fn stored(storage: &impl Storage, id: u64, offset: u64, len: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let blob = storage.open_blob(BlobId(id)).expect("open a blob");
    blob.read(offset, len, &mut |piece| bytes.extend_from_slice(piece)).expect("a read inside the blob");
    bytes
}

fn blobs_hold_what_was_written(storage: &impl Storage) {
    assert_eq!(storage.list_blobs(), Ok(vec![]), "the first store has no blobs");
    assert!(matches!(storage.open_blob(BlobId(3)), Err(StorageError::Missing(_))));
    let blob = storage.create_blob(BlobId(3)).expect("create a blob");
    assert!(storage.create_blob(BlobId(3)).is_err(), "an id is taken once");
    assert_eq!(blob.is_empty(), Ok(true));
    let body: Vec<u8> = (0..1_500_000_u32).map(|at| (at % 253) as u8).collect();
    blob.write(0, &body[..1_000_000]).expect("write");
    blob.write(1_000_000, &body[1_000_000..]).expect("write on");
    storage.sync_blob_names().and_then(|()| blob.sync()).expect("sync");
    assert!(stored(storage, 3, 0, body.len() as u64) == body, "a blob holds what was written");
    assert!(stored(storage, 3, 777, 600_000) == body[777..][..600_000], "and any part of it");
    assert_eq!(stored(storage, 3, 9, 0), b"", "an empty read is legal");
    assert!(
        matches!(blob.read(1_499_999, 2, &mut |_| {}), Err(StorageError::Missing(_))),
        "no byte behind it"
    );
    blob.set_len(10).and_then(|()| blob.set_len(20)).expect("cut and extend");
    assert_eq!(
        stored(storage, 3, 8, 12),
        [&body[8..10], &[0; 10]].concat(),
        "nothing of the old end is left"
    );
    blob.write(25, b"end").expect("write behind the end");
    assert_eq!(stored(storage, 3, 18, 10), b"\0\0\0\0\0\0\0end", "zeros fill the gap");
    storage.create_blob(BlobId(u64::MAX)).expect("the largest id");
    assert_eq!(storage.list_blobs(), Ok(vec![BlobId(3), BlobId(u64::MAX)]));
}

fn blobs_are_there_after_reopening(storage: &impl Storage) {
    assert_eq!(storage.list_blobs(), Ok(vec![BlobId(3), BlobId(u64::MAX)]));
    assert_eq!(stored(storage, 3, 25, 3), b"end");
    let blob = storage.open_blob(BlobId(3)).expect("open a blob");
    assert_eq!(blob.len(), Ok(28));
    storage.remove_blob(BlobId(3)).expect("remove a blob");
    assert!(matches!(storage.open_blob(BlobId(3)), Err(StorageError::Missing(_))));
    assert!(matches!(storage.remove_blob(BlobId(3)), Err(StorageError::Missing(_))), "removed once");
    let mut end = Vec::new();
    blob.read(25, 3, &mut |piece| end.extend_from_slice(piece)).expect("an open handle still reads");
    assert_eq!(end, b"end");
    assert_eq!(storage.list_blobs(), Ok(vec![BlobId(u64::MAX)]));
}

fn manifest_is_replaced_whole(storage: &impl Storage) {
    assert_eq!(storage.manifest(), Ok(None), "the first store has no manifest");
    storage.put_manifest(&[7; 100_000]).expect("a manifest");
    storage.put_manifest(b"shorter").expect("another one");
    assert_eq!(storage.manifest(), Ok(Some(b"shorter".to_vec())), "nothing of the old one is left");
    assert_eq!(listed(storage), [0, 1, 7, 20, LARGEST_ID], "it is no datafile");
    assert_eq!(storage.boot_id(), storage.boot_id(), "the machine was not started again");
}

fn manifest_is_there_after_reopening(storage: &impl Storage) {
    assert_eq!(storage.manifest(), Ok(Some(b"shorter".to_vec())));
}

fn datafiles_can_be_put_aside(storage: &impl Storage) {
    let file = storage.open(DatafileId(7)).expect("open");
    let first = storage.copy_aside(DatafileId(7), 7, 12).expect("copy aside");
    let second = storage.copy_aside(DatafileId(7), 7, 11).expect("the same once more");
    assert_ne!(first, second, "no copy replaces an earlier one");
    assert_eq!(contents(&*file, 0, 12), b"hidden body!", "what is copied stays");
    storage.set_aside(DatafileId(7)).expect("set aside");
    assert_eq!(listed(storage), [0, 1, 20, LARGEST_ID], "what is set aside is no part of the store");
    assert!(storage.set_aside(DatafileId(7)).is_err(), "nor is it there to be set aside again");
    assert_eq!(contents(&*file, 0, 12), b"hidden body!", "an open handle still reads");
}

fn derived_files_are_replaced_and_removed(storage: &impl Storage) {
    assert_eq!(storage.list_derived(), Ok(Vec::new()));
    assert_eq!(storage.derived(7), Ok(None));
    let long = vec![7; 3_000_000];
    storage.put_derived(7, &long).expect("put");
    storage.put_derived(u64::MAX, b"").expect("put");
    storage.put_derived(7, b"shorter").expect("put in place of the first");
    assert_eq!(storage.derived(7), Ok(Some(b"shorter".to_vec())));
    storage.put_derived(8, &long).expect("put");
    assert_eq!(storage.derived(8), Ok(Some(long)));
    assert_eq!(storage.list_derived(), Ok(vec![7, 8, u64::MAX]));
    storage.remove_derived(8).expect("remove");
    storage.remove_derived(8).expect("nothing to remove is fine");
    assert_eq!(storage.list_derived(), Ok(vec![7, u64::MAX]));
    assert_eq!(storage.derived(u64::MAX), Ok(Some(Vec::new())));
}

fn notes_are_replaced_and_removed(storage: &impl Storage) {
    for note in [Note::Refused, Note::Salvage, Note::Unmended] {
        assert_eq!(storage.note(note), Ok(None), "no note before one is written");
        storage.remove_note(note).expect("nothing to remove is fine");
        storage.put_note(note, b"first, which is longer").expect("put");
        storage.put_note(note, b"second").expect("put");
        assert_eq!(storage.note(note), Ok(Some(b"second".to_vec())));
    }
    storage.remove_note(Note::Refused).expect("remove");
    assert_eq!(storage.note(Note::Refused), Ok(None));
    let first = storage.keep_salvage_note().expect("keep");
    assert_eq!(storage.note(Note::Salvage), Ok(None), "a report is no note any more");
    assert!(storage.keep_salvage_note().is_err(), "there is none to keep");
    storage.put_note(Note::Salvage, b"another").expect("put");
    assert_ne!(storage.keep_salvage_note().expect("keep"), first, "no report replaces an earlier one");
}

fn pairs(meta: &dyn MetaMap, prefix: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut pairs = Vec::new();
    meta.scan(prefix, &mut |key, value| {
        pairs.push((key.to_vec(), value.to_vec()));
        true
    })
    .expect("scan");
    pairs
}

fn put(key: &[u8], value: &[u8]) -> MetaOp {
    MetaOp::Put(key.to_vec(), value.to_vec())
}

fn meta_keeps_order_and_prefixes(meta: &dyn MetaMap) {
    assert_eq!(pairs(meta, b""), [], "the first map is empty");
    meta.apply(&[put(b"b/2", b"two"), put(b"b/1", b"one"), put(b"a", b""), put(b"b\xff", b"end")])
        .expect("apply");
    meta.apply_lazily(&[
        put(b"c", b"lazy"),
        MetaOp::Delete(b"a".to_vec()),
        MetaOp::Delete(b"absent".to_vec()),
    ])
    .expect("apply lazily");
    meta.apply(&[]).expect("no changes are legal");
    assert_eq!(meta.get(b"b/1"), Ok(Some(b"one".to_vec())));
    assert_eq!(meta.get(b"a"), Ok(None), "a deleted key is gone");
    assert_eq!(pairs(meta, b"b/"), [(b"b/1".to_vec(), b"one".to_vec()), (b"b/2".to_vec(), b"two".to_vec())]);
    assert_eq!(
        pairs(meta, b"b\xff"),
        [(b"b\xff".to_vec(), b"end".to_vec())],
        "a prefix of 0xff has no successor"
    );
    let mut seen = 0;
    meta.scan(b"", &mut |_, _| {
        seen += 1;
        seen < 2
    })
    .expect("scan");
    assert_eq!(seen, 2, "a scan ends when the visitor says so");
    meta.apply(&[put(b"c", b"first"), MetaOp::Delete(b"c".to_vec()), put(b"c", b"last"), put(b"empty", b"")])
        .expect("apply");
    assert_eq!(meta.get(b"c"), Ok(Some(b"last".to_vec())), "changes are made in their order");
    assert_eq!(meta.get(b"empty"), Ok(Some(Vec::new())), "an empty value is not a missing one");
}

fn meta_is_there_after_reopening(meta: &dyn MetaMap) {
    let keys: Vec<Vec<u8>> = pairs(meta, b"").into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, [&b"b/1"[..], b"b/2", b"b\xff", b"c", b"empty"]);
    assert_eq!(meta.get(b"c"), Ok(Some(b"last".to_vec())));
}
