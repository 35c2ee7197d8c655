//! The grid, and searches compared with a look at every member.

use super::hash::{integer_of, position_of, score_of, text_of};
use super::*;
use crate::data::testing::with_txn;
use crate::data::zset::{self, ListpackLimits, SortedSet};
use crate::engine::memory::MemoryEngine;

const KEY: &[u8] = b"places";

fn random_position(random: &mut fastrand::Rng) -> Position {
    let degrees = |random: &mut fastrand::Rng, most: f64| (random.f64() * 2.0 - 1.0) * most;
    Position { longitude: degrees(random, 180.0), latitude: degrees(random, LATITUDES.max) }
}

/// Figures of redis-server 7.0.15.
#[test]
fn figures_differ_from_redis() {
    for (longitude, latitude, score, text) in [
        (13.361389, 38.115556, 3479099956230698, "sqc8b49rny0"),
        (15.087269, 37.502669, 3479447370796909, "sqdtr74hyu0"),
        (0.0, 0.0, 3377699720527872, "s0000000000"),
        (-180.0, -85.051_128_78, 0, "00bh0hbj200"),
        (180.0, 85.051_128_78, 13510798882111488, "bp05b5048p0"),
    ] {
        let position = Position { longitude, latitude };
        assert_eq!(score_of(position), score, "{position:?}");
        assert_eq!(text_of(position_of(score as f64)).escape_ascii().to_string(), text);
    }
    let palermo = position_of(3479099956230698.0);
    let catania = position_of(3479447370796909.0);
    assert_eq!(format!("{:.4}", distance_m(palermo, catania)), "166274.1516");
    assert_eq!(distance_m(palermo, palermo), 0.0);
}

#[test]
fn position_moves_further_than_its_cell_is_wide() {
    let seed = 11;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..20_000 {
        let position = random_position(&mut random);
        let kept = position_of(score_of(position) as f64);
        // 26 steps divide 360 degrees into cells of about a half metre.
        assert!(distance_m(position, kept) < 0.5, "{position:?} {kept:?}");
    }
}

#[test]
fn score_that_is_no_position_panics() {
    for score in [f64::INFINITY, f64::NEG_INFINITY, -1.0, -0.0, 1e300, -1e300, 1.5, 9.3e18, 1.9e19, f64::MAX]
    {
        let position = position_of(score);
        assert!(LONGITUDES.contains(position.longitude), "{score}: {position:?}");
        assert!(LATITUDES.contains(position.latitude), "{score}: {position:?}");
        text_of(position);
        integer_of(score);
    }
    assert_eq!((integer_of(-1.9), integer_of(f64::INFINITY), integer_of(1e19)), (-1, i64::MIN, i64::MIN));
}

/// Members that a search leaves out although they are in the area. Around the poles and the line where the longitudes
/// end it may leave some out, as Redis does; so centres and areas keep away from both.
#[test]
fn member_in_the_area_is_not_found() {
    let seed = 12;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let members: Vec<(Vec<u8>, f64)> = (0..3000)
        .map(|number: u32| {
            let mut position = random_position(&mut random);
            if number.is_multiple_of(2) {
                position.longitude /= 60.0;
                position.latitude /= 60.0;
            }
            (number.to_string().into_bytes(), score_of(position) as f64)
        })
        .collect();
    let mut found_in_all = 0;
    with_txn(&MemoryEngine::new(1), |txn| {
        let limits = ListpackLimits { entries: 128, value_bytes: 64 };
        zset::replace(txn, 0, KEY, &members, limits).expect("memory holds it");
        let set = SortedSet::open(txn, 0, KEY).expect("a sorted set");
        for _ in 0..300 {
            let unit_m = [1.0, 1000.0, 0.3048][random.usize(..3)];
            let mut size = || 10_f64.powf(random.f64() * 4.0 + 2.0) / unit_m;
            let extent = match (size(), size()) {
                (width, height) if width > height => Extent::Box { width, height },
                (radius, _) => Extent::Radius(radius),
            };
            let spread = [1.0 / 60.0, 1.0][random.usize(..2)];
            let centre = Position {
                longitude: (random.f64() - 0.5) * 160.0 * spread,
                latitude: (random.f64() - 0.5) * 100.0 * spread,
            };
            let shape = Shape { centre, extent, unit_m };
            let mut found: Vec<_> = search(txn, &set, &shape, None)
                .expect("memory is read")
                .into_iter()
                .map(|f| f.member)
                .collect();
            found.sort();
            let is_inside = |score: f64| shape.distance_m(position_of(score)).is_some();
            let mut wanted: Vec<_> = members
                .iter()
                .filter(|(_, score)| is_inside(*score))
                .map(|(member, _)| member.clone())
                .collect();
            wanted.sort();
            assert_eq!(found, wanted, "{shape:?}");
            let few = search(txn, &set, &shape, Some(3)).expect("memory is read");
            assert_eq!(few.len(), wanted.len().min(3), "{shape:?}");
            found_in_all += found.len();
        }
    });
    assert!(found_in_all > 1000, "only {found_in_all} members were in any area");
}

/// Places as far as these, each with its index as name.
fn places(distances: &[u32]) -> Vec<Found> {
    let place = |(at, distance_m): (usize, &u32)| Found {
        member: at.to_string().into_bytes(),
        score: 0.0,
        position: Position::default(),
        distance_m: f64::from(*distance_m),
    };
    distances.iter().enumerate().map(place).collect()
}

/// Indexes as redis-server 7.0.15 orders them.
#[test]
fn equally_far_places_come_in_another_order() {
    let distances = [6, 4, 4, 2, 2, 2, 0, 1, 3, 3, 5, 5, 5, 7, 7, 7];
    let mut found = places(&distances);
    order::keep_first(&mut found, 6, &|left, right| left.distance_m.total_cmp(&right.distance_m));
    let names: Vec<_> = found.iter().map(|found| found.member.escape_ascii().to_string()).collect();
    assert_eq!(names, ["6", "7", "5", "3", "4", "8"]);
}

#[test]
fn nearer_place_is_left_out() {
    let seed = 13;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..2000 {
        let len = random.usize(1..200);
        let most = random.u32(1..300);
        let distances: Vec<u32> = (0..len).map(|_| random.u32(..most)).collect();
        let count = random.usize(1..=len);
        let mut found = places(&distances);
        order::keep_first(&mut found, count, &|left, right| left.distance_m.total_cmp(&right.distance_m));
        let mut wanted = distances.clone();
        wanted.sort();
        wanted.truncate(count);
        let kept: Vec<_> = found.iter().map(|found| found.distance_m as u32).collect();
        assert_eq!(kept, wanted, "the first {count} of {distances:?}");
        let mut names: Vec<_> = found.into_iter().map(|found| found.member).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "a place stands twice among {distances:?}");
    }
}
