//! Input that is wrong, hostile or only unlucky: the server says so in Redis' words and goes on, or refuses to start and
//! says why.

mod directory;
mod disk;
mod login;
mod memory;
mod protocol;
