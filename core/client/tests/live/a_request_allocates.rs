//! A warm client allocates nothing for GET and SET into the caller's buffers, whatever the size.

use edgecask_client::Client;

use super::server::Server;

#[test]
fn nothing_is_allocated_for_a_warm_get_or_set() {
    let server = Server::redis(&[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let client = runtime.block_on(Client::connect(&server.url())).expect("a connection");
    for size_bytes in [3, 1_000, 10_000, 100_000, 10_000_000] {
        let value: Vec<u8> = (0..size_bytes).map(|place| (place % 251) as u8).collect();
        let mut buffer = Vec::new();
        let mut round = |rounds: usize| {
            runtime.block_on(async {
                for _ in 0..rounds {
                    client.set_from("key", &value).await.expect("SET");
                    assert!(client.get_into("key", &mut buffer).await.expect("GET"));
                    assert!(buffer == value, "{size_bytes} bytes come back as they went");
                    // Its buffer is the client's, which keeps none of megabytes.
                    if size_bytes <= 100_000 {
                        let length = client.get_with("key", <[u8]>::len).await.expect("GET");
                        assert_eq!(length, Some(value.len()));
                    }
                }
            });
        };
        round(20);
        let rounds = if size_bytes > 1_000_000 { 5 } else { 50 };
        let counted = allocation_counter::measure(|| round(rounds));
        assert_eq!(counted.count_total, 0, "allocations in {rounds} SET and GET of {size_bytes} bytes");
    }
}
