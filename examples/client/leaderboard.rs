//! A leaderboard: scores in a sorted set, places in one round trip.
//! `cargo run -p edgecask-client --example leaderboard [URL]`

use edgecask_client::{Build, Client, Commands, Result};

const BOARD: &str = "leaderboard";

/// A player's place, counted from 1, and score.
async fn place_of(client: &Client, player: &str) -> Result<Option<(i64, f64)>> {
    let (rank, score) = client.pipeline((Build.zrevrank(BOARD, player), Build.zscore(BOARD, player))).await?;
    Ok(rank.map(|rank| rank + 1).zip(score))
}

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "redis://localhost".into());
    let client = Client::connect(&url).await?;
    client.del(BOARD).await?;
    client.zadd(BOARD, [(3100, "ann"), (2800, "bob"), (3050, "eve")]).await?;
    client.zincrby(BOARD, 400, "bob").await?;
    let best: Vec<(String, f64)> = client.zrange(BOARD, 0, 9).rev().withscores().reply().await?;
    for (place, (player, score)) in best.iter().enumerate() {
        println!("{}. {player} {score}", place + 1);
    }
    println!("eve: {:?}", place_of(&client, "eve").await?);
    Ok(())
}
