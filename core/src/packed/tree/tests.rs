//! The tree against `BTreeMap`, with its invariants checked along the way.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::node::{CHILDREN_MAX, LEAF_MAX_BYTES, Node};
use super::{Builder, Change, KeyBuffer, SplitKey, Tree};

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Entries with whole keys.
fn entries_of<'t>(
    entries: impl Iterator<Item = (SplitKey<'t>, &'t [u8])>,
) -> impl Iterator<Item = (Vec<u8>, &'t [u8])> {
    let mut buffer = KeyBuffer::default();
    entries.map(move |(key, value)| (buffer.join(key).to_vec(), value))
}

/// The entry that has so many smaller keys before it.
fn select(tree: &Tree, rank: u64) -> Option<(Vec<u8>, &[u8])> {
    entries_of(tree.iter_from(rank)).next()
}

/// What a walk over a subtree found.
#[derive(Default)]
struct Found {
    entries: u64,
    heap_bytes: usize,
    levels: usize,
    leaves: usize,
    leaf_bytes: usize,
    spare_bytes: usize,
}

fn check_invariants(tree: &Tree) -> Found {
    let found = check_node(&tree.root, None, None);
    assert_eq!(found.entries, tree.len(), "len");
    assert_eq!(found.heap_bytes, tree.heap_bytes(), "heap_bytes");
    assert!(!tree.root.is_oversize(), "the root is oversize");
    if let Node::Branch(branch) = &tree.root {
        assert!(branch.width() >= 2, "a root that separates nothing");
    }
    found
}

/// Checks that all keys below `node` are at least `low` and smaller than `high`.
fn check_node(node: &Node, low: Option<&[u8]>, high: Option<&[u8]>) -> Found {
    let branch = match node {
        Node::Leaf(leaf) => return check_leaf(leaf, low, high),
        Node::Branch(branch) => branch,
    };
    let (separators, counts, children) = branch.parts();
    assert_eq!(counts.len(), children.len());
    assert_eq!(separators.len() + 1, children.len());
    assert!(children.len() <= CHILDREN_MAX);
    let mut total = Found { heap_bytes: node.heap_bytes(), ..Found::default() };
    for (index, child) in children.iter().enumerate() {
        assert!(!child.is_oversize() && !child.is_empty(), "child {index}");
        if let Some(right) = children.get(index + 1) {
            assert!(!child.fits_with(right), "children {index} and the next fit into one node");
        }
        let child_low = if index == 0 { low } else { Some(separators.get(index - 1)) };
        let child_high = if index + 1 == children.len() { high } else { Some(separators.get(index)) };
        let found = check_node(child, child_low, child_high);
        assert_eq!(found.entries, counts[index], "count of child {index}");
        assert!(index == 0 || found.levels + 1 == total.levels, "leaves at different depths");
        total.levels = found.levels + 1;
        total.entries += found.entries;
        total.heap_bytes += found.heap_bytes;
        total.leaves += found.leaves;
        total.leaf_bytes += found.leaf_bytes;
        total.spare_bytes += found.spare_bytes;
    }
    total
}

fn check_leaf(leaf: &super::leaf::Leaf, low: Option<&[u8]>, high: Option<&[u8]>) -> Found {
    let mut rest = leaf.entries();
    let mut previous: Option<Vec<u8>> = None;
    let mut entries = 0;
    while let Some((suffix, _)) = rest.split_first() {
        let key = [rest.prefix, suffix].concat();
        assert!(previous.is_none_or(|previous| previous < key), "keys ascend");
        let is_inside = low.is_none_or(|low| low <= &key[..]) && high.is_none_or(|high| &key[..] < high);
        assert!(is_inside, "separators");
        previous = Some(key);
        entries += 1;
    }
    let spare_bytes = leaf.heap_bytes() - leaf.size_bytes();
    assert!(spare_bytes < 128, "{spare_bytes} bytes of a leaf are unused");
    assert!(entries <= 1 || leaf.size_bytes() <= LEAF_MAX_BYTES);
    Found {
        entries,
        heap_bytes: leaf.heap_bytes(),
        levels: 1,
        leaves: 1,
        leaf_bytes: leaf.size_bytes(),
        spare_bytes,
    }
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    /// 0..40 random bytes, the empty key among them.
    Random,
    /// Two letters only, so that many keys are prefixes of others; zero bytes, which heads cannot tell from nothing.
    Nested,
    /// Hundreds of bytes that all keys begin with.
    LongPrefix,
    /// A number, as the elements of a list have.
    Number,
}

fn key_of(shape: Shape, rng: &mut fastrand::Rng) -> Vec<u8> {
    let tail = |rng: &mut fastrand::Rng, len: usize| (0..len).map(|_| rng.u8(..)).collect::<Vec<u8>>();
    match shape {
        Shape::Random => {
            let len = rng.usize(..40);
            tail(rng, len)
        }
        Shape::Nested => (0..rng.usize(..14)).map(|_| rng.u8(..2)).collect(),
        Shape::LongPrefix => {
            let mut key = vec![b'p'; if rng.u8(..20) == 0 { rng.usize(..300) } else { 300 }];
            key.extend(tail(rng, 2));
            key
        }
        Shape::Number => rng.u64(..3000).to_be_bytes().to_vec(),
    }
}

fn value_of(rng: &mut fastrand::Rng) -> Vec<u8> {
    let len = match rng.u8(..100) {
        0 => rng.usize(..20_000),
        1..10 => rng.usize(..2000),
        10..40 => 0,
        _ => rng.usize(..60),
    };
    vec![rng.u8(..); len]
}

fn entry_of<'a>(entry: Option<(&'a Vec<u8>, &'a Vec<u8>)>) -> Option<(Vec<u8>, &'a [u8])> {
    entry.map(|(key, value)| (key.clone(), value.as_slice()))
}

/// Compares everything that can be asked about a key, and the order around it.
fn check_reads(tree: &Tree, model: &Model, key: &[u8]) {
    assert_eq!(tree.get(key), model.get(key).map(Vec::as_slice));
    let rank = tree.rank(key);
    assert_eq!(rank, tree.lower_bound(key));
    let from_key = (Bound::Included(key), Bound::Unbounded);
    assert_eq!(rank, model.len() as u64 - model.range::<[u8], _>(from_key).count() as u64, "rank");
    assert_eq!(select(tree, rank), entry_of(model.range::<[u8], _>(from_key).next()), "select");
    let ahead: Vec<_> = entries_of(tree.iter_from(rank)).take(200).collect();
    let expected: Vec<_> =
        model.range::<[u8], _>(from_key).take(200).filter_map(|entry| entry_of(Some(entry))).collect();
    assert_eq!(ahead, expected, "ascending");
    assert!(entries_of(tree.iter_from_key(key)).take(200).eq(expected), "ascending from a key");
    let behind: Vec<_> = match rank.checked_sub(1) {
        Some(rank) => entries_of(tree.iter_back_from(rank)).take(200).collect(),
        None => Vec::new(),
    };
    let to_key = (Bound::Unbounded, Bound::Excluded(key));
    let expected: Vec<_> =
        model.range::<[u8], _>(to_key).rev().take(200).filter_map(|entry| entry_of(Some(entry))).collect();
    assert_eq!(behind, expected, "descending");
    let expected = tree.get(key).map(|value| (key.to_vec(), value)).into_iter().chain(expected);
    assert!(
        entries_of(tree.iter_back_from_key(key)).take(200).eq(expected.take(200)),
        "descending from a key"
    );
}

fn check_all(tree: &Tree, model: &Model) {
    check_invariants(tree);
    assert_eq!(tree.len(), model.len() as u64);
    assert_eq!(tree.is_empty(), model.is_empty());
    let entries = || model.iter().map(|(key, value)| (key.clone(), value.as_slice()));
    assert!(entries_of(tree.iter()).eq(entries()));
    assert!(entries_of(tree.iter_back_from(u64::MAX)).eq(entries().rev()));
    assert!(tree.iter_from(tree.len()).next().is_none());
    assert!(select(tree, tree.len()).is_none());
}

fn insert(tree: &mut Tree, model: &mut Model, key: Vec<u8>, value: Vec<u8>) {
    let mut seen = None;
    let present = tree.insert(&key, &value, &mut |old| seen = Some(old.to_vec()));
    let old = model.insert(key, value);
    assert_eq!(present, old.is_some());
    assert_eq!(seen, old, "the old value");
}

/// A change of a key that may be there.
fn change_of(shape: Shape, rng: &mut fastrand::Rng) -> (Vec<u8>, Option<Vec<u8>>) {
    let key = key_of(shape, rng);
    let value = (rng.u8(..3) > 0).then(|| value_of(rng));
    (key, value)
}

/// Makes changes together, and compares what they replaced.
fn apply(tree: &mut Tree, model: &mut Model, changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>) {
    let mut seen = Vec::new();
    let some: Vec<_> = changes.iter().map(|(key, value)| Change { key, value: value.as_deref() }).collect();
    tree.apply(&some, &mut |key, old| seen.push((key.to_vec(), old.to_vec())));
    let mut expected = Vec::new();
    for (key, value) in changes {
        let old = match value {
            Some(value) => model.insert(key.clone(), value),
            None => model.remove(&key),
        };
        expected.extend(old.map(|old| (key, old)));
    }
    assert_eq!(seen, expected, "old values in order");
}

fn remove(tree: &mut Tree, model: &mut Model, key: &[u8]) {
    let mut seen = None;
    let present = tree.remove(key, &mut |old| seen = Some(old.to_vec()));
    let old = model.remove(key);
    assert_eq!(present, old.is_some());
    assert_eq!(seen, old, "the removed value");
}

/// Waves of growth and decline, so that nodes split and merge at every level.
fn check_against_model(shape: Shape, seed: u64) {
    const STEPS: u32 = 20_000;
    println!("shape {shape:?}, seed {seed}");
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut tree = Tree::new();
    let mut model = Model::new();
    for step in 0..STEPS {
        let declining = step / 2500 % 2 == 1;
        let key = key_of(shape, &mut rng);
        match rng.u8(..100) {
            0..25 => insert(&mut tree, &mut model, key, value_of(&mut rng)),
            25..85 if !declining => insert(&mut tree, &mut model, key, value_of(&mut rng)),
            // Keys that are there: a random one would seldom be.
            25..85 => {
                let near = select(&tree, tree.rank(&key)).map(|(key, _)| key);
                remove(&mut tree, &mut model, &near.unwrap_or(key));
            }
            85..90 => remove(&mut tree, &mut model, &key),
            90..94 => {
                let near = select(&tree, tree.rank(&key)).map(|(key, _)| key);
                if let Some(key) = near {
                    insert(&mut tree, &mut model, key, value_of(&mut rng));
                }
            }
            94..96 => check_reads(&tree, &model, &key),
            96..98 => {
                let most = if rng.bool() { 10 } else { 150 };
                let count = rng.usize(..most);
                apply(&mut tree, &mut model, (0..count).map(|_| change_of(shape, &mut rng)).collect());
            }
            98 if step % 10 == 0 => drain(&mut tree, &mut model, rng.u64(..60)),
            _ => drop(check_invariants(&tree)),
        }
        if step % 500 == 0 {
            check_all(&tree, &model);
        }
    }
    check_all(&tree, &model);
    while let Some((key, _)) = select(&tree, rng.u64(..tree.len().max(1))) {
        remove(&mut tree, &mut model, &key);
        if tree.len().is_multiple_of(16) {
            check_invariants(&tree);
        }
    }
    check_all(&tree, &model);
    assert!(tree.heap_bytes() <= 64, "an empty tree owns hardly any memory");
}

/// Drains and checks that exactly the last entries went, leaf by leaf.
fn drain(tree: &mut Tree, model: &mut Model, entries: u64) {
    let before = tree.len();
    let mut gone = BTreeMap::new();
    let count = tree.drain_some(entries, &mut |key, value| {
        assert!(gone.insert(key.to_vec(), value.to_vec()).is_none());
    });
    assert_eq!(count, gone.len() as u64);
    assert_eq!(tree.len(), before - count);
    assert!(count >= entries.min(before));
    for (key, value) in gone.iter().rev() {
        assert_eq!(model.pop_last(), Some((key.clone(), value.clone())));
    }
}

#[test]
fn random_operations_on_random_keys() {
    (1..=2).for_each(|seed| check_against_model(Shape::Random, seed));
}

#[test]
fn random_operations_on_keys_that_are_prefixes_of_others() {
    (11..=12).for_each(|seed| check_against_model(Shape::Nested, seed));
}

#[test]
fn random_operations_on_long_common_prefixes() {
    (21..=22).for_each(|seed| check_against_model(Shape::LongPrefix, seed));
}

#[test]
fn random_operations_on_numbers() {
    (31..=32).for_each(|seed| check_against_model(Shape::Number, seed));
}

fn number_tree(numbers: impl Iterator<Item = u64>) -> Tree {
    let mut tree = Tree::new();
    for number in numbers {
        tree.insert(&number.to_be_bytes(), b"element", &mut |_| {});
    }
    tree
}

/// More than two levels of branches: 64 children, 64 children, 102 entries.
const MANY: u64 = 450_000;

/// Leaves are filled to the last entry that fits, and branches too.
fn check_well_filled(tree: &Tree) {
    let found = check_invariants(tree);
    assert_eq!(found.entries, MANY);
    assert!(found.levels > 3, "{} levels", found.levels);
    assert!(found.leaf_bytes > found.leaves * LEAF_MAX_BYTES * 95 / 100, "leaves are not full");
    let overhead = tree.heap_bytes() as f64 / MANY as f64 - 15.0;
    assert!(overhead < 5.0, "{overhead} bytes beyond key and value");
}

#[test]
fn ascending_and_descending_keys_fill_leaves() {
    check_well_filled(&number_tree(0..MANY));
    check_well_filled(&number_tree((0..MANY).rev()));
}

/// As pipelined pushes at either end of a list come.
#[test]
fn groups_of_keys_fill_leaves() {
    const GROUP: u64 = 16;
    let grouped = |starts: &mut dyn Iterator<Item = u64>| {
        let mut tree = Tree::new();
        for start in starts {
            let keys: Vec<_> = (start..start + GROUP).map(u64::to_be_bytes).collect();
            let changes: Vec<_> = keys.iter().map(|key| Change { key, value: Some(b"element") }).collect();
            tree.apply(&changes, &mut |_, _| unreachable!("all keys are new"));
        }
        tree
    };
    let groups = || (0..MANY / GROUP).map(|group| group * GROUP);
    check_well_filled(&grouped(&mut groups()));
    check_well_filled(&grouped(&mut groups().rev()));
}

#[test]
fn popping_from_either_end_gives_memory_back() {
    for from_front in [true, false] {
        let mut tree = number_tree(0..MANY);
        let full = tree.heap_bytes();
        for popped in 0..MANY {
            let rank = if from_front { 0 } else { tree.len() - 1 };
            let expected = if from_front { popped } else { MANY - 1 - popped };
            let key = select(&tree, rank).map(|(key, _)| key);
            assert_eq!(key.as_deref(), Some(expected.to_be_bytes().as_slice()));
            assert!(tree.remove(&expected.to_be_bytes(), &mut |_| {}));
            if popped % 20_011 == 0 {
                check_invariants(&tree);
                let share = full as f64 * (tree.len() as f64 / MANY as f64);
                assert!((tree.heap_bytes() as f64) < share * 1.1 + 8192.0, "memory lags behind len");
            }
        }
        assert_eq!((tree.len(), tree.heap_bytes()), (0, 0));
    }
}

#[test]
fn a_queue_does_not_grow() {
    let mut tree = number_tree(0..1000);
    let bound = tree.heap_bytes() * 11 / 10;
    for number in 1000..100_000u64 {
        tree.insert(&number.to_be_bytes(), b"element", &mut |_| {});
        assert!(tree.remove(&(number - 1000).to_be_bytes(), &mut |_| {}));
        assert!(tree.heap_bytes() <= bound, "{} bytes at {number}", tree.heap_bytes());
    }
    check_invariants(&tree);
}

#[test]
fn random_keys_cost_few_bytes_each() {
    const COUNT: u64 = 100_000;
    let seed = 5;
    println!("seed {seed}");
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut tree = Tree::new();
    while tree.len() < COUNT {
        tree.insert(&rng.u128(..).to_be_bytes(), &[7; 12], &mut |_| {});
    }
    let found = check_invariants(&tree);
    let overhead = tree.heap_bytes() as f64 / COUNT as f64 - 28.0;
    assert!(overhead <= 9.0, "{overhead} bytes beyond key and value, {} spare", found.spare_bytes);
}

#[test]
fn a_small_tree_is_one_tight_allocation() {
    let mut tree = Tree::new();
    assert_eq!(tree.heap_bytes(), 0);
    for field in ["name", "email", "age", "city", "joined"] {
        tree.insert(field.as_bytes(), b"some value", &mut |_| {});
    }
    let data: usize = entries_of(tree.iter()).map(|(key, value)| key.len() + value.len()).sum();
    let beyond = size_of::<Tree>() + tree.heap_bytes() - data;
    assert!(beyond <= 72, "{beyond} bytes beyond the data");
}

#[test]
fn removing_most_entries_at_random_gives_memory_back() {
    let seed = 9;
    println!("seed {seed}");
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut tree = number_tree(0..100_000);
    let full = tree.heap_bytes();
    let mut numbers: Vec<u64> = (0..100_000).collect();
    rng.shuffle(&mut numbers);
    for number in &numbers[..95_000] {
        assert!(tree.remove(&number.to_be_bytes(), &mut |_| {}));
    }
    check_invariants(&tree);
    assert!(tree.heap_bytes() < full / 10, "{} of {full} bytes remain", tree.heap_bytes());
}

#[test]
fn entries_larger_than_a_leaf_stand_alone() {
    let mut tree = Tree::new();
    let mut model = Model::new();
    for round in [0usize, 300, 700, 1000, 5000, 100_000, 900, 0] {
        for number in 0..40u8 {
            let len = if number % 3 == 0 { round } else { 20 };
            insert(&mut tree, &mut model, vec![b'k', number], vec![number; len]);
            check_all(&tree, &model);
        }
    }
    insert(&mut tree, &mut model, vec![b'k'; 70_000], Vec::new());
    insert(&mut tree, &mut model, vec![b'k'; 70_001], Vec::new());
    check_all(&tree, &model);
}

#[test]
fn draining_goes_leaf_by_leaf_from_the_end() {
    let mut tree = number_tree(0..MANY);
    assert_eq!(tree.drain_some(0, &mut |_, _| {}), 0);
    let mut left = MANY;
    while left > 0 {
        let mut smallest = u64::MAX;
        let gone = tree.drain_some(1000, &mut |key, _| {
            smallest = smallest.min(u64::from_be_bytes(key.try_into().unwrap_or_default()));
        });
        assert!(gone >= 1000.min(left) && gone < 1000 + LEAF_MAX_BYTES as u64, "{gone} went");
        left -= gone;
        assert_eq!((smallest, tree.len()), (left, left));
        check_invariants(&tree);
    }
    assert_eq!(tree.heap_bytes(), 0);
    assert_eq!(tree.drain_some(10, &mut |_, _| {}), 0);
}

#[test]
fn clear_frees_everything() {
    let mut tree = number_tree(0..5000);
    tree.clear();
    assert_eq!((tree.len(), tree.heap_bytes(), entries_of(tree.iter()).count()), (0, 0, 0));
    assert!(!tree.insert(b"", b"", &mut |_| {}));
    assert_eq!(entries_of(tree.iter()).collect::<Vec<_>>(), [(Vec::new(), b"".as_slice())]);
}

#[test]
fn tree_of_entries_in_order_differs_from_one_of_insertions() {
    let mut random = fastrand::Rng::with_seed(15);
    for count in [0, 1, 2, 30, 40, 200, 3000, 20_000] {
        for longest in [4, 40, 700, 3000] {
            if count * longest > 2_000_000 {
                continue;
            }
            let mut builder = Builder::default();
            let mut model = Model::new();
            for number in 0..count as u32 {
                let mut key = number.to_be_bytes().to_vec();
                key.resize(4 + random.usize(..longest), 7);
                let value = vec![number as u8; random.usize(..longest)];
                builder.push(&key, &value);
                model.insert(key, value);
            }
            let mut tree = builder.finish();
            check_invariants(&tree);
            let entries: Model = entries_of(tree.iter()).map(|(key, value)| (key, value.to_vec())).collect();
            assert_eq!(entries, model);
            // It goes on as any other does.
            for number in 0..500_u32 {
                let key = random.u32(..count as u32 + 10).to_be_bytes();
                let (was_there, expected) = if number % 3 == 0 {
                    (tree.remove(&key, &mut |_| {}), model.remove(key.as_slice()).is_some())
                } else {
                    (
                        tree.insert(&key, b"new", &mut |_| {}),
                        model.insert(key.to_vec(), b"new".to_vec()).is_some(),
                    )
                };
                assert_eq!(was_there, expected);
            }
            check_invariants(&tree);
            let entries: Model = entries_of(tree.iter()).map(|(key, value)| (key, value.to_vec())).collect();
            assert_eq!(entries, model);
        }
    }
}

#[test]
fn values_are_changed_where_they_are() {
    let mut tree = Tree::new();
    let key = |number: u32| format!("key {number:05}").into_bytes();
    for number in 0..10_000 {
        tree.insert(&key(number), &number.to_le_bytes(), &mut |_| {});
    }
    for number in (0..10_000).step_by(7) {
        tree.fetch(&key(number));
        tree.get_mut(&key(number)).expect("it is there").copy_from_slice(&(number + 1).to_le_bytes());
    }
    assert!(tree.get_mut(b"key").is_none());
    for number in 0..10_000u32 {
        let expected = if number % 7 == 0 { number + 1 } else { number };
        assert_eq!(tree.get(&key(number)), Some(expected.to_le_bytes().as_slice()), "{number}");
    }
}
