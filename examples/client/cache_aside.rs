//! A web handler with a cache: what is expensive to find out is kept for a minute, and what many ask for stays in this
//! process until the server says that it has changed. `cargo run -p edgecask-client --example cache_aside [URL]`, then
//! `curl http://127.0.0.1:3000/users/7`.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use edgecask_client::{Cache, Client, Commands};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct User {
    id: u64,
    name: String,
}

#[derive(Clone)]
struct App {
    client: Client,
    cache: Cache,
}

/// Stands for a query of a slow database.
fn find_user(id: u64) -> User {
    User { id, name: format!("user {id}") }
}

async fn user(State(app): State<App>, Path(id): Path<u64>) -> Result<Json<User>, StatusCode> {
    let unavailable = |_| StatusCode::SERVICE_UNAVAILABLE;
    let key = format!("user:{id}");
    if let Some(text) = app.cache.get(&key).await.map_err(unavailable)?
        && let Ok(user) = serde_json::from_slice(&text)
    {
        return Ok(Json(user));
    }
    let user = find_user(id);
    app.client.set(&key, edgecask_client::Json(&user)).ex(60).await.map_err(unavailable)?;
    Ok(Json(user))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "redis://localhost".into());
    let client = Client::connect(&url).await?;
    let app = App { cache: client.cache(16 << 20), client };
    let router = Router::new().route("/users/{id}", get(user)).with_state(app);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, router).await?;
    Ok(())
}
