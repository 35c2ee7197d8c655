//! Finding the master that sentinels name.

use edgecask_core::resp::Value;

use super::Transport;
use super::tcp::{connect_tcp, encrypted};
use crate::connector::Greeting;
use crate::error::{Error, Result};
use crate::options::{Address, Options};
use crate::words::Words;

/// Asks one sentinel after the other where the master is, and connects to it.
///
/// # Errors
/// No sentinel can be reached or knows the master, or the master cannot be reached: an attempt later may find another.
pub(crate) async fn connect(
    master: &str,
    sentinels: &[(String, u16)],
    options: &Options,
) -> Result<Box<dyn Transport>> {
    let mut last = Error::Invalid("no sentinel is named".into());
    for (host, port) in sentinels {
        match ask(master, host, *port, options).await {
            Ok(Some((host, port))) => {
                let stream = connect_tcp(&host, port).await?;
                return encrypted(stream, &host, options).await;
            }
            Ok(None) => last = Error::Invalid(format!("the sentinels know no master {master:?}").into()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The address of the master as one sentinel knows it.
async fn ask(master: &str, host: &str, port: u16, options: &Options) -> Result<Option<(String, u16)>> {
    let mut for_sentinel = Options::new(Address::Tcp { host: host.to_owned(), port });
    for_sentinel.tls = options.tls;
    for_sentinel.tls_authorities = options.tls_authorities.clone();
    if let Some((user, password)) = &options.sentinel_login {
        (for_sentinel.user, for_sentinel.password) = (user.clone(), Some(password.clone()));
    }
    let stream = encrypted(connect_tcp(host, port).await?, host, &for_sentinel).await?;
    let mut sentinel = Greeting::new(stream);
    sentinel.greet(&for_sentinel, &[]).await?;
    let mut request = Words::new("SENTINEL GET-MASTER-ADDR-BY-NAME");
    request.arg(master);
    let Some(Value::Array(address)) = sentinel.ask(&[request]).await?.pop() else { return Ok(None) };
    let text = |value: &Value| value.as_bytes().and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
    let host = address.first().and_then(text);
    let port = address.get(1).and_then(text).and_then(|port| port.parse().ok());
    Ok(host.zip(port))
}
