//! The store in this program, without a server: `cargo run -p edgecask-client --features embedded --example embedded`.

use edgecask_client::{Client, Commands, Result};

#[tokio::main]
async fn main() -> Result<()> {
    let client = Client::connect("edgecask:./data").await?;
    client.set("greeting", "hello").await?;
    println!("{:?}", client.get("greeting").reply::<Option<String>>().await?);
    let bytes = client.fold(0, |sum, _key, value| sum + value.len()).await?;
    println!("{bytes} bytes of strings");
    client.del("greeting").await?;
    client.merge().await?;
    client.sync().await
}
