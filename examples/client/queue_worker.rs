//! A queue on a stream: a group of workers, each job done by one of them, and those of a worker that died taken over.
//! `cargo run -p edgecask-client --example queue_worker [URL]`

use edgecask_client::{Client, Commands, Entry, HandMade, Result, Trim, TrimTo};

const JOBS: &str = "jobs";
const GROUP: &str = "workers";

/// A worker that has not confirmed a job for so long is taken for dead.
const DEAD_AFTER_MS: i64 = 60_000;

async fn work(client: &Client, name: &str, job: &Entry) -> Result<()> {
    println!("{name} does {:?}", job.get("what").map(String::from_utf8_lossy));
    client.xack(JOBS, GROUP, &job.id).await?;
    Ok(())
}

/// Does jobs until none comes for a second.
async fn worker(client: Client, name: &str) -> Result<()> {
    let left = client.xautoclaim(JOBS, GROUP, name, DEAD_AFTER_MS.to_string(), "0").await?;
    for job in &left.1 {
        work(&client, name, job).await?;
    }
    loop {
        let request = client.xreadgroup(GROUP, name, JOBS, ">").count(10).block(1000);
        let Some(streams) = request.await? else { return Ok(()) };
        for job in streams.iter().flat_map(|(_, jobs)| jobs) {
            work(&client, name, job).await?;
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "redis://localhost".into());
    let client = Client::connect(&url).await?;
    match client.xgroup_create(JOBS, GROUP, "0").mkstream().await {
        Err(error) if error.code() != Some("BUSYGROUP") => return Err(error),
        _ => {}
    }
    let trim = Trim { to: TrimTo::MaxLen(10_000), roughly: true, limit: None };
    for number in 0..20 {
        client.xadd(JOBS, "*", [("what", format!("job {number}"))]).trim(trim).await?;
    }
    tokio::try_join!(worker(client.clone(), "ann"), worker(client.clone(), "bob"))?;
    Ok(())
}
