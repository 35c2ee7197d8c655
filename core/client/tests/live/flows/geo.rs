//! Places on the globe.

use edgecask_client::commands::words::MOrKmOrFtOrMi as Unit;
use edgecask_client::{Client, Commands, Result};

use super::{code, strings};

cases! {
    places_are_added,
    only_new_places_and_changes,
    distances,
    distances_to_nobody,
    hashes_of_places,
    positions,
    places_around_a_point,
    places_around_a_member,
    places_in_a_box,
    what_was_found_is_stored,
}

const PALERMO: (f64, f64, &str) = (13.361_389, 38.115_556, "Palermo");
const CATANIA: (f64, f64, &str) = (15.087_269, 37.502_669, "Catania");
const AGRIGENTO: (f64, f64, &str) = (13.583_333, 37.316_667, "Agrigento");

async fn sicily(client: &Client) -> Result<()> {
    assert_eq!(client.geoadd("sicily", [PALERMO, CATANIA, AGRIGENTO]).await?, 3);
    Ok(())
}

#[track_caller]
fn near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} instead of {expected}");
}

async fn places_are_added(client: &Client) -> Result<()> {
    assert_eq!(client.geoadd("sicily", [PALERMO]).await?, 1);
    assert_eq!(
        client.geoadd("sicily", [("15.087269", "37.502669", "Catania"), ("1", "1", "Palermo")]).await?,
        1
    );
    assert_eq!(client.zcard("sicily").await?, 2, "it is a sorted set");
    let error = client.geoadd("sicily", [(200, 100, "nowhere")]).await.expect_err("no such place");
    assert!(error.to_string().contains("invalid longitude,latitude pair"), "{error}");
    Ok(())
}

async fn only_new_places_and_changes(client: &Client) -> Result<()> {
    sicily(client).await?;
    assert_eq!(client.geoadd("sicily", [(1, 1, "Palermo"), (2, 2, "New")]).nx().await?, 1);
    assert_eq!(client.geoadd("sicily", [(3, 3, "Other")]).xx().ch().await?, 0);
    assert_eq!(client.geoadd("sicily", [(1, 1, "Palermo"), CATANIA_AS_INTEGERS]).ch().await?, 2);
    Ok(())
}

/// Somewhat beside it.
const CATANIA_AS_INTEGERS: (i32, i32, &str) = (15, 37, "Catania");

async fn distances(client: &Client) -> Result<()> {
    sicily(client).await?;
    let distance = || client.geodist("sicily", "Palermo", "Catania");
    near(distance().reply::<f64>().await?, 166_274.151_6, 0.01);
    near(distance().m().reply::<f64>().await?, 166_274.151_6, 0.01);
    near(distance().km().reply::<f64>().await?, 166.274_2, 0.001);
    near(distance().mi().reply::<f64>().await?, 103.318_2, 0.001);
    near(distance().ft().reply::<f64>().await?, 545_518.869_9, 0.1);
    Ok(())
}

async fn distances_to_nobody(client: &Client) -> Result<()> {
    sicily(client).await?;
    assert_eq!(client.geodist("sicily", "Palermo", "none").m().reply::<Option<f64>>().await?, None);
    assert_eq!(client.geodist("missing", "Palermo", "Catania").await?, None);
    Ok(())
}

async fn hashes_of_places(client: &Client) -> Result<()> {
    sicily(client).await?;
    assert_eq!(client.geohash("sicily").members("Palermo").reply::<Vec<String>>().await?, ["sqc8b49rny0"]);
    let hashes: Vec<Option<String>> =
        client.geohash("sicily").members(["Palermo", "Catania", "none"]).reply().await?;
    assert_eq!(hashes, [Some("sqc8b49rny0".to_owned()), Some("sqdtr74hyu0".to_owned()), None]);
    Ok(())
}

async fn positions(client: &Client) -> Result<()> {
    sicily(client).await?;
    let found = client.geopos("sicily").members(["Palermo", "none", "Catania"]).await?;
    let [Some(palermo), None, Some(catania)] = found[..] else { panic!("{found:?}") };
    for ((longitude, latitude), (expected_longitude, expected_latitude, _)) in
        [(palermo, PALERMO), (catania, CATANIA)]
    {
        near(longitude, expected_longitude, 0.0001);
        near(latitude, expected_latitude, 0.0001);
    }
    Ok(())
}

async fn places_around_a_point(client: &Client) -> Result<()> {
    client.geoadd("sicily", [PALERMO, CATANIA]).await?;
    let around = || client.georadius("sicily", 15, 37, 200, Unit::Km);
    let mut names: Vec<String> = around().reply().await?;
    names.sort();
    assert_eq!(names, strings(["Catania", "Palermo"]));
    let found: Vec<(String, f64)> = around().withdist().asc().reply().await?;
    assert_eq!((found[0].0.as_str(), found[1].0.as_str()), ("Catania", "Palermo"));
    near(found[0].1, 56.441_3, 0.001);
    near(found[1].1, 190.442_4, 0.001);
    let found: Vec<(String, (f64, f64))> = around().withcoord().count(1).desc().reply().await?;
    assert_eq!((found.len(), found[0].0.as_str()), (1, "Palermo"));
    near(found[0].1.0, PALERMO.0, 0.0001);
    near(found[0].1.1, PALERMO.1, 0.0001);
    let found: Vec<(String, f64, i64, (f64, f64))> =
        around().withdist().withhash().withcoord().count(1).any().reply().await?;
    assert!(found[0].2 > 1 << 50, "{found:?}");
    assert_eq!(client.georadius_ro("sicily", 0, 0, 1, Unit::M).await?, Vec::<Vec<u8>>::new());
    Ok(())
}

async fn places_around_a_member(client: &Client) -> Result<()> {
    sicily(client).await?;
    let names: Vec<String> =
        client.georadiusbymember("sicily", "Agrigento", 100, Unit::Km).asc().reply().await?;
    assert_eq!(names, strings(["Agrigento", "Palermo"]));
    let names: Vec<String> =
        client.georadiusbymember_ro("sicily", "Agrigento", 62, Unit::Mi).desc().reply().await?;
    assert_eq!(names, strings(["Palermo", "Agrigento"]));
    let error = client.georadiusbymember("sicily", "none", 100, Unit::Km).await.expect_err("no such place");
    assert!(error.to_string().contains("could not decode requested zset member"), "{error}");
    Ok(())
}

async fn places_in_a_box(client: &Client) -> Result<()> {
    sicily(client).await?;
    let found = client.geosearch("sicily", ("FROMLONLAT", 15, 37), ("BYBOX", 400, 400, "km")).asc();
    assert_eq!(found.reply::<Vec<String>>().await?, strings(["Catania", "Agrigento", "Palermo"]));
    let found =
        client.geosearch("sicily", ("FROMMEMBER", "Palermo"), ("BYRADIUS", 100, "km")).desc().withdist();
    let found: Vec<(String, f64)> = found.reply().await?;
    assert_eq!((found[0].0.as_str(), found[1].0.as_str()), ("Agrigento", "Palermo"));
    near(found[0].1, 90.976, 0.01);
    Ok(())
}

async fn what_was_found_is_stored(client: &Client) -> Result<()> {
    sicily(client).await?;
    let (from, by) = (("FROMLONLAT", 15, 37), ("BYRADIUS", 200, "km"));
    assert_eq!(client.geosearchstore("near", "sicily", from, by).count(2).asc().await?, 2);
    assert_eq!(client.geopos("near").members("Catania").await?.len(), 1);
    assert_eq!(client.geosearchstore("far", "sicily", from, by).storedist().await?, 3);
    near(client.zscore("far", "Catania").await?.expect("it is near"), 56.441_3, 0.001);
    client.set("foo", "bar").await?;
    assert_eq!(code(&client.geopos("foo").members("x").await), "WRONGTYPE");
    Ok(())
}
