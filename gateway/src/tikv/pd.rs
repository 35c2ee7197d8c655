//! What is asked of PD beside the client, which keeps to itself where its regions are: the part of PD's protocol for it
//! (pdpb.proto, keyspacepb.proto and metapb.proto of pingcap/kvproto).

use std::fs;
use std::time::Duration;

use prost::Message;
use tonic::client::Grpc;
use tonic::codec::ProstCodec;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Status};

use super::client::Access;

const GET_MEMBERS: &str = "/pdpb.PD/GetMembers";
const GET_REGION: &str = "/pdpb.PD/GetRegion";
const LOAD_KEYSPACE: &str = "/keyspacepb.Keyspace/LoadKeyspace";

#[derive(Clone, PartialEq, Message)]
struct Header {
    #[prost(uint64, tag = "1")]
    cluster_id: u64,
}

#[derive(Clone, PartialEq, Message)]
struct GetMembers {
    #[prost(message, optional, tag = "1")]
    header: Option<Header>,
}

#[derive(Clone, PartialEq, Message)]
struct Members {
    #[prost(message, optional, tag = "1")]
    header: Option<Header>,
    #[prost(message, optional, tag = "3")]
    leader: Option<Member>,
}

#[derive(Clone, PartialEq, Message)]
struct Member {
    #[prost(string, repeated, tag = "4")]
    client_urls: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct GetRegion {
    #[prost(message, optional, tag = "1")]
    header: Option<Header>,
    #[prost(bytes = "vec", tag = "2")]
    key: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Found {
    #[prost(message, optional, tag = "2")]
    region: Option<Region>,
}

/// A region: its number and its range of keys as they are stored. An end without a byte is the end of all keys.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Region {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) first: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    pub(super) end: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct LoadKeyspace {
    #[prost(message, optional, tag = "1")]
    header: Option<Header>,
    #[prost(string, tag = "2")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Loaded {
    #[prost(message, optional, tag = "2")]
    keyspace: Option<Keyspace>,
}

#[derive(Clone, PartialEq, Message)]
struct Keyspace {
    #[prost(uint32, tag = "1")]
    id: u32,
}

/// A connection to the leader of PD.
pub(super) struct Pd {
    channel: Channel,
    cluster_id: u64,
    timeout: Duration,
}

/// Why PD was not asked: for the log.
pub(super) type Failed = Box<dyn std::error::Error + Send + Sync>;

impl Pd {
    /// Connects to the leader, by whatever member answers first.
    pub(super) async fn connect(access: &Access) -> Result<Pd, Failed> {
        let mut failed: Failed = "no member of PD is named".into();
        for member in &access.pd {
            match Pd::connect_by(access, member).await {
                Ok(pd) => return Ok(pd),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    async fn connect_by(access: &Access, member: &str) -> Result<Pd, Failed> {
        let timeout = access.timeout;
        let some = Pd { channel: connect(access, member).await?, cluster_id: 0, timeout };
        let members: Members = some.call(GET_MEMBERS, GetMembers { header: None }).await?;
        let cluster_id = members.header.ok_or("an answer without a cluster")?.cluster_id;
        let leader = members.leader.and_then(|leader| leader.client_urls.into_iter().next());
        let channel = connect(access, &leader.ok_or("PD has no leader")?).await?;
        Ok(Pd { channel, cluster_id, timeout })
    }

    async fn call<Q, A>(&self, path: &'static str, asked: Q) -> Result<A, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let mut grpc = Grpc::new(self.channel.clone());
        let call = async {
            grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
            grpc.unary(Request::new(asked), PathAndQuery::from_static(path), ProstCodec::default()).await
        };
        let answered = tokio::time::timeout(self.timeout, call).await;
        answered
            .map_err(|_| Status::deadline_exceeded("no answer in time"))?
            .map(|answer| answer.into_inner())
    }

    fn header(&self) -> Option<Header> {
        Some(Header { cluster_id: self.cluster_id })
    }

    /// The region of a key as it is stored.
    pub(super) async fn region(&self, key: &[u8]) -> Result<Option<Region>, Status> {
        let found: Found =
            self.call(GET_REGION, GetRegion { header: self.header(), key: key.to_vec() }).await?;
        Ok(found.region)
    }

    /// The number of a keyspace.
    pub(super) async fn keyspace(&self, name: &str) -> Result<Option<u32>, Status> {
        let asked = LoadKeyspace { header: self.header(), name: name.to_owned() };
        let loaded: Loaded = self.call(LOAD_KEYSPACE, asked).await?;
        Ok(loaded.keyspace.map(|keyspace| keyspace.id))
    }
}

async fn connect(access: &Access, address: &str) -> Result<Channel, Failed> {
    let bare = address.trim_start_matches("http://").trim_start_matches("https://");
    let scheme = if access.tls.is_some() { "https" } else { "http" };
    let mut endpoint = Endpoint::from_shared(format!("{scheme}://{bare}"))?.connect_timeout(access.timeout);
    if let Some((ca, certificate, key)) = &access.tls {
        let (ca, certificate, key) = (fs::read(ca)?, fs::read(certificate)?, fs::read(key)?);
        let tls = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(ca))
            .identity(Identity::from_pem(certificate, key));
        endpoint = endpoint.tls_config(tls)?;
    }
    Ok(endpoint.connect().await?)
}
