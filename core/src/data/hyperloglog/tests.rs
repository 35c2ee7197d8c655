use proptest::prelude::*;

use super::*;

/// The default of `hll-sparse-max-bytes`.
const SPARSE_MAX_BYTES: u64 = 3000;

fn registers(sketch: &Sketch) -> Registers {
    let mut all = [0; REGISTERS];
    sketch.merge_into(&mut all).expect("a sound sketch");
    all
}

#[test]
fn self_test_fails() {
    assert_eq!(self_test(), Ok(()));
}

#[test]
fn corrupted_sketch_does_harm() {
    for registers in [&b""[..], b"\x00", b"\x7f", b"\xff\xff", b"\x7f\xff\x00", b"\x3f\x80"] {
        let bytes = [b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\x80", registers].concat();
        let sketch = Sketch::read(&bytes).expect("begins like one");
        assert_eq!(sketch.clone().estimate(), Err(Corrupted), "{registers:?}");
        assert_eq!(sketch.clone().make_dense(), Err(Corrupted), "{registers:?}");
        assert_eq!(sketch.merge_into(&mut [0; REGISTERS]), Err(Corrupted), "{registers:?}");
        assert_eq!(sketch.to_bytes(), bytes);
        for index in [0, 63, REGISTERS - 1] {
            // Only the registers that are there can be raised; nothing panics.
            let _ = sketch.clone().raise(index, 1, SPARSE_MAX_BYTES);
            let _ = sketch.clone().raise(index, 40, SPARSE_MAX_BYTES);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Both encodings hold what they were told, whatever the order.
    #[test]
    fn sparse_registers_differ_from_dense_ones(
        raises in prop::collection::vec((prop_oneof![0..REGISTERS, 0..40_usize], 1_u8..40), 0..300),
        sparse_max_bytes in prop::sample::select(vec![0, 20, 60, SPARSE_MAX_BYTES, u64::MAX]),
    ) {
        let mut sketch = Sketch::default();
        let mut wanted = [0; REGISTERS];
        for (index, value) in raises {
            let is_higher = value > wanted[index];
            wanted[index] = wanted[index].max(value);
            prop_assert_eq!(sketch.raise(index, value, sparse_max_bytes), Ok(is_higher));
        }
        prop_assert_eq!(registers(&sketch), wanted);
        let known = sketch.estimate().expect("a sound sketch");
        prop_assert_eq!(known, estimate(&wanted));
        prop_assert_eq!(sketch.known_estimate(), Some(known));
        let mut again = Sketch::read(&sketch.to_bytes()).expect("a sketch");
        prop_assert_eq!(&again, &sketch);
        again.make_dense().expect("a sound sketch");
        prop_assert_eq!(registers(&again), wanted);
    }
}
