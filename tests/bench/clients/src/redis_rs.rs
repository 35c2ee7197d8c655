//! redis-rs, in both of its versions: one multiplexed connection, alone or inside a `ConnectionManager`, which reconnects.

/// The functions of both versions have the same names, but for an empty pipeline with room for some requests.
macro_rules! version {
    ($module:ident, $redis:ident, $pipeline:expr) => {
        pub mod $module {
            use std::net::SocketAddr;

            use ::$redis::aio::{
                ConnectionLike, ConnectionManager, ConnectionManagerConfig, MultiplexedConnection,
            };
            use ::$redis::io::tcp::TcpSettings;
            use ::$redis::{AsyncCommands, AsyncConnectionConfig, ConnectionInfo, IntoConnectionInfo};

            use crate::client::{Client, Entries, Entry, Result, check_all};

            pub type Multiplexed = Shared<MultiplexedConnection>;

            /// One connection for all tasks.
            #[derive(Clone)]
            pub struct Shared<T>(T);

            /// Where to connect. Nagle's algorithm is on unless settings say otherwise.
            pub fn address(server: SocketAddr) -> Result<ConnectionInfo> {
                let info = (server.ip().to_string(), server.port()).into_connection_info()?;
                Ok(info.set_tcp_settings(TcpSettings::default().set_nodelay(true)))
            }

            /// Without the usual deadline of 500 ms, which pipelines of 100 kB miss.
            pub fn settings() -> AsyncConnectionConfig {
                AsyncConnectionConfig::new().set_response_timeout(None)
            }

            pub async fn get<T: AsyncCommands + Sync>(
                connection: &mut T,
                entry: &Entry<Vec<u8>>,
            ) -> Result<()> {
                let value: Vec<u8> = connection.get(&entry.key).await?;
                entry.check(&value)
            }

            pub async fn set<T: AsyncCommands + Sync>(
                connection: &mut T,
                entry: &Entry<Vec<u8>>,
            ) -> Result<()> {
                Ok(connection.set::<_, _, ()>(&entry.key, &entry.value).await?)
            }

            pub async fn get_all<T: ConnectionLike + Send>(
                connection: &mut T,
                entries: &Entries<Multiplexed>,
            ) -> Result<()> {
                let mut pipeline = $pipeline(entries.len());
                for entry in entries {
                    pipeline.get(&entry.key);
                }
                let values: Vec<Vec<u8>> = pipeline.query_async(connection).await?;
                check_all(entries, values.iter())
            }

            pub async fn set_all<T: ConnectionLike + Send>(
                connection: &mut T,
                entries: &Entries<Multiplexed>,
            ) -> Result<()> {
                let mut pipeline = $pipeline(entries.len());
                for entry in entries {
                    pipeline.set(&entry.key, &entry.value).ignore();
                }
                Ok(pipeline.query_async::<()>(connection).await?)
            }

            pub trait Open: Sized {
                fn open(server: ::$redis::Client) -> impl Future<Output = Result<Self>> + Send;
            }

            impl Open for MultiplexedConnection {
                async fn open(server: ::$redis::Client) -> Result<Self> {
                    Ok(server.get_multiplexed_async_connection_with_config(&settings()).await?)
                }
            }

            impl Open for ConnectionManager {
                async fn open(server: ::$redis::Client) -> Result<Self> {
                    let settings = ConnectionManagerConfig::new().set_response_timeout(None);
                    Ok(server.get_connection_manager_with_config(settings).await?)
                }
            }

            impl<T: Open + AsyncCommands + Clone + Sync + 'static> Client for Shared<T> {
                type Value = Vec<u8>;

                async fn connect(server: SocketAddr, _tasks: usize) -> Result<Self> {
                    T::open(::$redis::Client::open(address(server)?)?).await.map(Self)
                }

                fn value(bytes: &[u8]) -> Vec<u8> {
                    bytes.to_vec()
                }

                async fn get(&mut self, entry: &Entry<Vec<u8>>) -> Result<()> {
                    get(&mut self.0, entry).await
                }

                async fn set(&mut self, entry: &Entry<Vec<u8>>) -> Result<()> {
                    set(&mut self.0, entry).await
                }

                async fn get_all(&mut self, entries: &Entries<Self>) -> Result<()> {
                    get_all(&mut self.0, entries).await
                }

                async fn set_all(&mut self, entries: &Entries<Self>) -> Result<()> {
                    set_all(&mut self.0, entries).await
                }
            }
        }
    };
}

version!(one, redis, ::redis::Pipeline::with_capacity);
version!(two, redis_next, |_| ::redis_next::Pipeline::new());

pub type Managed = one::Shared<redis::aio::ConnectionManager>;
