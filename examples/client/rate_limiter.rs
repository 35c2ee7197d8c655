//! A rate limiter: so many requests in a sliding window, decided by a script in one step.
//! `cargo run -p edgecask-client --example rate_limiter [URL]`

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use edgecask_client::{Client, Result, Script};

/// Times of requests are members of a sorted set. Returns how many more are allowed, or -1.
const WINDOW: &str = "
    local now, window, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
    redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
    local used = redis.call('ZCARD', KEYS[1])
    if used >= limit then return -1 end
    redis.call('ZADD', KEYS[1], now, ARGV[4])
    redis.call('PEXPIRE', KEYS[1], window)
    return limit - used - 1
";

struct RateLimiter {
    client: Client,
    script: Script,
    window: Duration,
    limit: u32,
}

impl RateLimiter {
    /// Counts a request of somebody; whether it is allowed. `id` differs from request to request.
    async fn allows(&self, who: &str, id: &str) -> Result<bool> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let window = self.window.as_millis();
        let key = format!("rate:{who}");
        let left: i64 = self.script.call(&self.client, key, (now, window, self.limit, id)).await?;
        Ok(left >= 0)
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "redis://localhost".into());
    let client = Client::connect(&url).await?;
    let window = Duration::from_secs(1);
    let limiter = RateLimiter { client, script: Script::new(WINDOW), window, limit: 3 };
    for request in 1..=5 {
        println!("request {request}: {}", limiter.allows("ann", &request.to_string()).await?);
    }
    Ok(())
}
