//! Bytes of RESP3 replies.

use crate::engine::memory::MemoryEngine;
use crate::resp::Protocol;
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};

const NOW_MS: u64 = 1_700_000_000_000;

#[test]
fn resp3_shape_is_not_redis_own() {
    let shared = Shared::new(Settings::default(), Box::new(NoFacts), NOW_MS);
    let server = Server { engine: MemoryEngine::new(1), shared };
    let mut session = Session::new(&server.shared, Peer::default(), 1, NOW_MS);
    session.reply().set_protocol(Protocol::Resp3);
    for (request, reply) in [
        ("GEOADD g 13.361389 38.115556 p 15.087269 37.502669 c", ":2"),
        ("GEOPOS g p nobody", "*2 *2 ,13.36138933897018433 ,38.11555639549629859 _"),
        ("GEOHASH g p nobody", "*2 $11 sqc8b49rny0 _"),
        ("GEODIST g p c KM", "$8 166.2742"),
        ("GEODIST g p nobody", "_"),
        ("GEODIST nothing p c", "_"),
        ("GEOSEARCH g FROMMEMBER p BYRADIUS 1 m", "*1 $1 p"),
        (
            "GEOSEARCH g FROMMEMBER p BYRADIUS 1 m WITHHASH WITHCOORD WITHDIST",
            "*1 *4 $1 p $6 0.0000 :3479099956230698 *2 ,13.36138933897018433 ,38.11555639549629859",
        ),
        ("GEOSEARCH nothing FROMMEMBER p BYRADIUS 1 m", "*0"),
        ("GEOSEARCHSTORE d g FROMMEMBER p BYRADIUS 1 m", ":1"),
    ] {
        session.input().extend_from_slice(request.as_bytes());
        session.input().extend_from_slice(b"\r\n");
        session.process(&server, NOW_MS);
        let shown = String::from_utf8(session.reply().take().expect("memory is read")).expect("text");
        assert_eq!(shown.trim_end().replace("\r\n", " "), reply, "{request}");
    }
}
