//! The same over TLS: servers whose certificates an authority of the test has signed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use edgecask_client::{Build, Client, Commands, Error, Options, Result};
use tempfile::TempDir;

use crate::server::{Server, free_port, wait_for};

/// Certificates of a server on this machine, and of an authority that has signed nothing.
struct Certificates(TempDir);

fn openssl(directory: &Path, arguments: &str) {
    let mut command = Command::new("openssl");
    command.current_dir(directory).args(arguments.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().expect("openssl is installed").success(), "openssl {arguments}");
}

impl Certificates {
    fn make() -> Certificates {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
        for name in ["ca", "other"] {
            let subject = format!("-days 2 -keyout {name}.key -out {name}.crt -subj /CN={name}");
            openssl(path, &format!("req -x509 {key} {subject}"));
        }
        std::fs::write(path.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1").expect("a file");
        for name in ["server", "client"] {
            openssl(path, &format!("req {key} -keyout {name}.key -out {name}.csr -subj /CN={name}"));
            let signed = "-CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names";
            openssl(path, &format!("x509 -req -in {name}.csr {signed} -out {name}.crt"));
        }
        Certificates(directory)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("text").to_owned()
    }

    fn options(&self, url: &str, authority: &str) -> Options {
        let mut options = Options::from_url(url).expect("a URL");
        options.tls_authorities = Some(std::fs::read(self.path(authority)).expect("a certificate"));
        options
    }
}

/// Options of a server under TLS, the same for both.
fn under_tls<'a>(port: &'a str, paths: &'a [String; 3], auth_clients: &'a str) -> Vec<&'a str> {
    let [certificate, key, authority] = paths;
    vec![
        "--tls-port",
        port,
        "--tls-cert-file",
        certificate,
        "--tls-key-file",
        key,
        "--tls-ca-cert-file",
        authority,
        "--tls-auth-clients",
        auth_clients,
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flows_over_tls_against_redis() {
    let (certificates, port) = (Certificates::make(), free_port());
    let paths = ["server.crt", "server.key", "ca.crt"].map(|name| certificates.path(name));
    let _server = Server::redis(&under_tls(&port.to_string(), &paths, "no"));
    wait_for(port);
    check(&certificates, &format!("rediss://localhost:{port}")).await;
    check(&certificates, &format!("rediss://127.0.0.1:{port}")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flows_over_tls_against_edgecask() {
    let (certificates, port, web_port) = (Certificates::make(), free_port(), free_port());
    let paths = ["server.crt", "server.key", "ca.crt"].map(|name| certificates.path(name));
    let (port_text, web_port_text) = (port.to_string(), web_port.to_string());
    let mut options = under_tls(&port_text, &paths, "no");
    options.extend(["--https-port", &web_port_text]);
    let _server = Server::edgecask_with(&options);
    wait_for(port);
    wait_for(web_port);
    check(&certificates, &format!("rediss://localhost:{port}")).await;
    check(&certificates, &format!("rediss://127.0.0.1:{port}")).await;
    check(&certificates, &format!("wss://localhost:{web_port}/resp")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flows_show_their_certificate_to_a_server_that_asks() {
    let certificates = Certificates::make();
    let paths = ["server.crt", "server.key", "ca.crt"].map(|name| certificates.path(name));
    let (port, other_port) = (free_port(), free_port());
    let _redis = Server::redis(&under_tls(&port.to_string(), &paths, "yes"));
    let _edgecask = Server::edgecask_with(&under_tls(&other_port.to_string(), &paths, "yes"));
    for port in [port, other_port] {
        wait_for(port);
        let mut options = certificates.options(&format!("rediss://localhost:{port}"), "ca.crt");
        let error = Client::with_options(options.clone()).await.err().expect("it must show one");
        assert!(matches!(error, Error::Io { may_have_run: false, .. }), "{error:?}");
        let pem = |name: &str| std::fs::read(certificates.path(name)).expect("a file");
        options.tls_identity = Some((pem("client.crt"), pem("client.key")));
        let client = Client::with_options(options.clone()).await.expect("it is known");
        flow(&client).await.unwrap_or_else(|error| panic!("port {port}: {error}"));
        options.tls_identity = Some((pem("client.crt"), pem("server.key")));
        let error = Client::with_options(options).await.err().expect("the key is of another");
        assert!(matches!(error, Error::Invalid(_)), "{error:?}");
    }
}

async fn check(certificates: &Certificates, url: &str) {
    let client = Client::with_options(certificates.options(url, "ca.crt")).await;
    let client = client.unwrap_or_else(|error| panic!("{url}: {error}"));
    flow(&client).await.unwrap_or_else(|error| panic!("{url}: {error}"));
    let foreign = Client::with_options(certificates.options(url, "other.crt")).await;
    let error = foreign.err().unwrap_or_else(|| panic!("{url}: a foreign authority is trusted"));
    assert!(error.to_string().contains("UnknownIssuer"), "{url}: {error}");
    assert!(!error.may_have_run(), "{url}: {error:?}");
    // The system's authorities have not signed it either.
    let error = Client::connect(url).await.err().unwrap_or_else(|| panic!("{url}: anybody is trusted"));
    assert!(matches!(error, Error::Io { .. } | Error::Invalid(_)), "{url}: {error:?}");
    let mut options = certificates.options(url, "ca.crt");
    options.tls_authorities = Some(b"no certificate".to_vec());
    let error = Client::with_options(options).await.err().expect("nobody is trusted");
    assert!(matches!(error, Error::Invalid(_)), "{url}: {error:?}");
}

async fn flow(client: &Client) -> Result<()> {
    client.flushall().await?;
    client.set("key1", "foo").await?;
    assert_eq!(client.get("key1").reply::<String>().await?, "foo");
    let replies = client
        .pipeline((Build.set("key2", 42), Build.mget(["key1", "key2"]).reply::<(String, i64)>()))
        .await?;
    assert_eq!(replies.1, ("foo".to_owned(), 42));
    assert_eq!(client.transaction((Build.incr("key2"), Build.incr("key2"))).await?, (43, 44));
    let mut messages = client.subscribe(["channel"]).await?;
    assert_eq!(client.publish("channel", "hello").await?, 1);
    assert_eq!(messages.message().await.expect("a message").payload, b"hello");
    let large: Vec<u8> = (0..10_000_000_u32).map(|place| (place % 251) as u8).collect();
    client.set_from("large", &large).await?;
    let mut buffer = Vec::with_capacity(large.len());
    assert!(client.get_into("large", &mut buffer).await? && buffer == large, "10 MB come back as they went");
    let (popped, _) = tokio::join!(client.blpop("queue", 10.0).reply::<(String, i64)>(), async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        client.rpush("queue", 7).await
    });
    assert_eq!(popped?.1, 7);
    Ok(())
}
