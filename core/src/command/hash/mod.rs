//! Commands on hashes.

mod read;
mod walk;
mod write;

pub(super) use write::listpack_limits;

use super::Group;

pub(super) const HANDLERS: Group = &[
    ("hdel", write::hdel),
    ("hexists", read::hexists),
    ("hget", read::hget),
    ("hgetall", read::hgetall),
    ("hincrby", write::hincrby),
    ("hincrbyfloat", write::hincrbyfloat),
    ("hkeys", read::hkeys),
    ("hlen", read::hlen),
    ("hmget", read::hmget),
    ("hmset", write::hmset),
    ("hrandfield", walk::hrandfield),
    ("hscan", walk::hscan),
    ("hset", write::hset),
    ("hsetnx", write::hsetnx),
    ("hstrlen", read::hstrlen),
    ("hvals", read::hvals),
];
