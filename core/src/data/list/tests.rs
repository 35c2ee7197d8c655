use super::*;
use crate::data::testing::with_txn;
use crate::engine::memory::MemoryEngine;

fn default_fill() -> i64 {
    -2
}

fn contents(list: &mut List<'_, '_>) -> Vec<Vec<u8>> {
    let mut elements = Vec::new();
    let len = list.len().expect("a length");
    list.range(0, len, &mut |element| elements.push(element.to_vec())).expect("elements");
    elements
}

fn longest_position(list: &mut List<'_, '_>) -> usize {
    let mut longest = 0;
    list.scan(SubWalk::all(Want::Subkeys), &mut |position, _| {
        longest = longest.max(position.encode().len());
        ControlFlow::Continue(())
    })
    .expect("positions");
    longest
}

#[test]
fn insertions_at_one_place_lose_order() {
    // Always behind the first element, always before the last one, and by turns on both sides of the newest.
    for pattern in 0..3 {
        let engine = MemoryEngine::new(1);
        let mut model: Vec<Vec<u8>> = vec![b"first".to_vec(), b"last".to_vec()];
        with_txn(&engine, |txn| {
            let mut list = List::open_or_make(txn, 0, b"l").expect("a list");
            list.push(End::Tail, &[b"first", b"last"], &default_fill).expect("pushed");
        });
        let mut newest = b"first".to_vec();
        for round in 0..20_u32 {
            with_txn(&engine, |txn| {
                let mut list = List::open(txn, 0, b"l").expect("no error").expect("a list");
                for step in 0..40_u32 {
                    let element = (round * 40 + step).to_string().into_bytes();
                    let (side, pivot) = match pattern {
                        0 => (Side::After, b"first".to_vec()),
                        1 => (Side::Before, b"last".to_vec()),
                        _ if step % 2 == 0 => (Side::After, newest.clone()),
                        _ => (Side::Before, newest.clone()),
                    };
                    let at = model.iter().position(|other| *other == pivot).expect("the pivot");
                    let at = at + usize::from(side == Side::After);
                    // The first insertion must not leave the two bounds.
                    let at = at.clamp(1, model.len() - 1);
                    model.insert(at, element.clone());
                    let len = list.insert(side, &pivot, &element, &default_fill).expect("inserted");
                    assert_eq!(len, Some(model.len() as u64));
                    newest = element;
                }
                assert_eq!(contents(&mut list), model, "pattern {pattern} round {round}");
                assert!(longest_position(&mut list) <= 17, "one lead and at most 16 bytes of fraction");
            });
        }
    }
}

#[test]
fn room_is_made_with_too_many_moves() {
    let engine = MemoryEngine::new(1);
    with_txn(&engine, |txn| {
        let mut list = List::open_or_make(txn, 0, b"l").expect("a list");
        list.push(End::Tail, &[b"first", b"last"], &default_fill).expect("pushed");
    });
    let (mut moves, mut before) = (0_u64, Vec::new());
    let insertions = 600;
    for step in 0..insertions {
        with_txn(&engine, |txn| {
            let mut list = List::open(txn, 0, b"l").expect("no error").expect("a list");
            let element = format!("{step}").into_bytes();
            list.insert(Side::After, b"first", &element, &default_fill).expect("inserted");
            let mut after = Vec::new();
            list.scan(SubWalk::all(Want::Values), &mut |position, element| {
                after.push((position, element.to_vec()));
                ControlFlow::Continue(())
            })
            .expect("positions");
            moves += before.iter().filter(|pair| !after.contains(pair)).count() as u64;
            before = after;
        });
    }
    assert!(moves > 0, "the adversary never used up the space between two");
    assert!(moves < 8 * insertions, "{moves} moves for {insertions} insertions");
}

#[test]
fn insertions_at_random_differ_from_a_vector() {
    let seed = 5;
    let mut random = fastrand::Rng::with_seed(seed);
    let engine = MemoryEngine::new(1);
    let mut model: Vec<Vec<u8>> = Vec::new();
    for step in 0..1500_u32 {
        let element = step.to_string().into_bytes();
        let pivot = if model.is_empty() { None } else { Some(random.usize(..model.len())) };
        with_txn(&engine, |txn| {
            let mut list = List::open_or_make(txn, 0, b"l").expect("a list");
            match (pivot, random.u8(..8)) {
                (None, _) | (_, 0) => {
                    list.push(End::Head, &[&element], &default_fill).expect("pushed");
                    model.insert(0, element);
                }
                (_, 1) => {
                    list.push(End::Tail, &[&element], &default_fill).expect("pushed");
                    model.push(element);
                }
                (Some(at), 2) if model.len() > 1 => {
                    let removed = model.remove(at);
                    list.remove(End::Head, 1, &removed, &default_fill).expect("removed");
                }
                (Some(at), choice) => {
                    let side = if choice % 2 == 0 { Side::Before } else { Side::After };
                    list.insert(side, &model[at], &element, &default_fill).expect("inserted");
                    model.insert(at + usize::from(side == Side::After), element);
                }
            }
            assert_eq!(list.len().expect("a length"), model.len() as u64, "seed {seed} step {step}");
            if step % 100 == 99 {
                assert_eq!(contents(&mut list), model, "seed {seed} step {step}");
            }
        });
    }
}

#[test]
fn damaged_position_is_shown_as_an_element() {
    let engine = MemoryEngine::new(1);
    with_txn(&engine, |txn| {
        txn.put(0, b"l", NewRoot::of(Kind::List), &[]).expect("put");
        txn.sub_put(0, b"l", b"\x83a", b"value").expect("put");
        let mut list = List::open(txn, 0, b"l").expect("no error").expect("a list");
        let popped = list.pop(End::Head, 1, &default_fill, &mut |_| {});
        // The only element goes with its list, so no position is needed; an end to push at is.
        assert_eq!(popped, Ok(1));
        txn.put(0, b"l", NewRoot::of(Kind::List), &[]).expect("put");
        txn.sub_put(0, b"l", b"\x83a", b"value").expect("put");
        let mut list = List::open(txn, 0, b"l").expect("no error").expect("a list");
        let pushed = list.push(End::Head, &[b"x"], &default_fill);
        assert_eq!(pushed, Err(no_position().into()));
    });
}

#[test]
fn used_up_end_takes_a_push() {
    let engine = MemoryEngine::new(1);
    with_txn(&engine, |txn| {
        let mut list = List::open_or_make(txn, 0, b"l").expect("a list");
        list.put(Position::whole(i64::MAX), b"x").expect("put");
        assert_eq!(list.push(End::Tail, &[b"y"], &default_fill), Err(positions_used_up().into()));
        assert_eq!(list.push(End::Head, &[b"y"], &default_fill), Ok(2));
    });
}

/// Pushes elements to a new list and gives the name of its encoding, and that after `body`.
fn names(fill: i64, elements: &[&[u8]], body: impl FnOnce(&mut List<'_, '_>)) -> [&'static str; 2] {
    let engine = MemoryEngine::new(1);
    with_txn(&engine, |txn| {
        let mut list = List::open_or_make(txn, 0, b"l").expect("a list");
        list.push(End::Tail, elements, &|| fill).expect("pushed");
        let before = list.encoding_name(fill).expect("a name");
        body(&mut list);
        let mut list = List::open(txn, 0, b"l").expect("no error").expect("a list");
        [before, list.encoding_name(fill).expect("a name")]
    })
}

#[test]
fn encoding_differs_from_redis() {
    const SMALL: &str = "listpack";
    const LARGE: &str = "quicklist";
    let long = [b'x'; 5000];
    let pop = |count, fill| {
        move |list: &mut List<'_, '_>| {
            list.pop(End::Tail, count, &|| fill, &mut |_| {}).expect("popped");
        }
    };
    let push = |fill| {
        move |list: &mut List<'_, '_>| {
            list.push(End::Head, &[b"y"], &|| fill).expect("pushed");
        }
    };
    // By count: one too many is a quicklist, and it is one until half of the limit is left.
    assert_eq!(names(3, &[b"a", b"b", b"c"], push(3)), [SMALL, LARGE]);
    assert_eq!(names(3, &[b"a", b"b", b"c", b"d"], pop(1, 3)), [LARGE, LARGE]);
    assert_eq!(names(3, &[b"a", b"b", b"c", b"d"], pop(3, 3)), [LARGE, SMALL]);
    assert_eq!(names(0, &[b"a"], push(0)), [SMALL, LARGE]);
    assert_eq!(names(3, &[b"a", &[b'x'; 9000]], |_| {}), [LARGE, LARGE]);
    // By size: 4 KiB with -1 and 8 KiB with -2.
    assert_eq!(names(-1, &[b"a", &long], pop(1, -1)), [LARGE, SMALL]);
    assert_eq!(names(-2, &[b"a", &long], push(-2)), [SMALL, SMALL]);
    assert_eq!(names(-2, &[&long, &long], pop(1, -2)), [LARGE, LARGE]);
    assert_eq!(names(-5, &[&long, &long], push(-5)), [SMALL, SMALL]);
    let trim = |list: &mut List<'_, '_>| list.trim(Some((0, 1)), &default_fill).expect("trimmed");
    assert_eq!(names(-2, &[b"a", &long, &long], trim), [LARGE, SMALL]);
    let set = |element: &'static [u8]| {
        move |list: &mut List<'_, '_>| {
            assert!(list.set(-1, element, &default_fill).expect("set"));
        }
    };
    assert_eq!(names(-2, &[b"a", &[b'x'; 9000]], set(b"short")), [LARGE, SMALL]);
    assert_eq!(names(-2, &[b"a", b"b"], set(&[b'x'; 9000])), [SMALL, LARGE]);
    let insert = |list: &mut List<'_, '_>| {
        list.insert(Side::Before, b"a", &[b'x'; 9000], &default_fill).expect("inserted");
    };
    assert_eq!(names(-2, &[b"a", b"b"], insert), [SMALL, LARGE]);
    let remove = |list: &mut List<'_, '_>| {
        list.remove(End::Head, 3, b"a", &|| 3).expect("removed");
    };
    assert_eq!(names(3, &[b"a", b"a", b"a", b"d"], remove), [LARGE, SMALL]);
    // Many small pushes add up without any of them looking at the others: 2 bytes for a digit, 7 for the listpack.
    let digits: Vec<&[u8]> = vec![b"1"; 4093];
    assert_eq!(names(-2, &digits[..4092], push(-2)), [SMALL, LARGE]);
    // 12 bytes for a text of ten.
    let texts: Vec<&[u8]> = vec![b"123456789a"; 683];
    assert_eq!(names(-2, &texts[..682], push(-2)), [SMALL, LARGE]);
    assert_eq!(names(-2, &texts, pop(1, -2)), [LARGE, SMALL]);
}

/// Redis 7.2 makes a quicklist a listpack again when half of the limit is left, whatever removes the rest.
#[test]
fn list_that_shrank_stays_a_quicklist() {
    const SMALL: &str = "listpack";
    const LARGE: &str = "quicklist";
    let long: &[u8] = &[b'x'; 5000];
    let few = [b"a", b"b", b"c", long];
    let pop = |count| {
        move |list: &mut List<'_, '_>| {
            list.pop(End::Tail, count, &|| -1, &mut |_| {}).expect("popped");
        }
    };
    assert_eq!(names(-1, &few, pop(1)), [LARGE, SMALL]);
    let remove = |list: &mut List<'_, '_>| {
        list.remove(End::Head, 1, long, &|| -1).expect("removed");
    };
    assert_eq!(names(-1, &few, remove), [LARGE, SMALL]);
    let trim = |list: &mut List<'_, '_>| list.trim(Some((0, 3)), &|| -1).expect("trimmed");
    assert_eq!(names(-1, &few, trim), [LARGE, SMALL]);
    // A limit of 4096 bytes; 12 bytes for each of these elements.
    let texts: Vec<&[u8]> = vec![b"123456789a"; 500];
    assert_eq!(names(-1, &texts, pop(330)), [LARGE, SMALL]);
    assert_eq!(names(-1, &texts, pop(329)), [LARGE, LARGE]);
    // It stays a listpack when it grows again.
    let grow = |list: &mut List<'_, '_>| {
        pop(1)(list);
        list.push(End::Tail, &[&[b'x'; 3000]], &|| -1).expect("pushed");
    };
    assert_eq!(names(-1, &few, grow), [LARGE, SMALL]);
    // What passed a limit in elements does not become small because the setting changes.
    let ask_by_bytes = |list: &mut List<'_, '_>| assert_eq!(list.encoding_name(-2), Ok(LARGE));
    assert_eq!(names(1, &[b"a", b"b"], ask_by_bytes), [LARGE, LARGE]);
}
