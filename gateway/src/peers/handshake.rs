//! The beginning of a link: both ends say who they are, and show that they know the secret of the store.
//!
//! ```text
//! who connects    magic 8 | own number 4 | number of the other 4 | nonce 32
//! who accepts     nonce 32 | HMAC-SHA-256 of 'a', both numbers and the first nonce
//! who connects    HMAC-SHA-256 of 'c', both numbers and the second nonce
//! ```

use std::io;

use edgecask_core::server::peers::PeerId;
use ring::hmac;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::stream::Stream;

const MAGIC: &[u8; 8] = b"ecpeer 1";

/// Bytes of a nonce, and of a proof.
const LEN: usize = 32;

/// What both ends of a link know.
pub(super) struct Ends<'e> {
    pub(super) secret: &'e [u8],
    pub(super) own: PeerId,
}

fn refused(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, what)
}

fn nonce() -> io::Result<[u8; LEN]> {
    let mut nonce = [0; LEN];
    getrandom::fill(&mut nonce).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(nonce)
}

fn said(letter: u8, connects: PeerId, accepts: PeerId, nonce: &[u8]) -> Vec<u8> {
    [&[letter][..], &connects.to_le_bytes(), &accepts.to_le_bytes(), nonce].concat()
}

impl Ends<'_> {
    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, self.secret)
    }

    /// Begins a link to a server.
    ///
    /// # Errors
    /// It is another one, does not know the secret, or the stream's.
    pub(super) async fn connect(&self, stream: &mut dyn Stream, peer: PeerId) -> io::Result<()> {
        let own_nonce = nonce()?;
        let hello = [&MAGIC[..], &self.own.to_le_bytes(), &peer.to_le_bytes(), &own_nonce].concat();
        stream.write_all(&hello).await?;
        let mut answer = [0; 2 * LEN];
        stream.read_exact(&mut answer).await?;
        let (its_nonce, proof) = answer.split_at(LEN);
        hmac::verify(&self.key(), &said(b'a', self.own, peer, &own_nonce), proof)
            .map_err(|_| refused("it does not know the secret of the store"))?;
        let proof = hmac::sign(&self.key(), &said(b'c', self.own, peer, its_nonce));
        stream.write_all(proof.as_ref()).await
    }

    /// Takes a link; returns who is at its other end.
    ///
    /// # Errors
    /// It is no server of this store, or looks for another one; or the stream's.
    pub(super) async fn accept(&self, stream: &mut dyn Stream) -> io::Result<PeerId> {
        let mut hello = [0; 8 + 4 + 4 + LEN];
        stream.read_exact(&mut hello).await?;
        let (magic, rest) = hello.split_at(8);
        let (peer, rest) = rest.split_at(4);
        let (wanted, its_nonce) = rest.split_at(4);
        if magic != MAGIC || wanted != self.own.to_le_bytes() {
            return Err(refused("it looks for somebody else"));
        }
        let peer = PeerId::from_le_bytes([peer[0], peer[1], peer[2], peer[3]]);
        let own_nonce = nonce()?;
        let proof = hmac::sign(&self.key(), &said(b'a', peer, self.own, its_nonce));
        stream.write_all(&[&own_nonce[..], proof.as_ref()].concat()).await?;
        let mut proof = [0; LEN];
        stream.read_exact(&mut proof).await?;
        hmac::verify(&self.key(), &said(b'c', peer, self.own, &own_nonce), &proof)
            .map_err(|_| refused("it does not know the secret of the store"))?;
        Ok(peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ends of a handshake between 7 and 3 with these secrets, the second of which looks for `wanted`.
    fn shake(secrets: [&'static [u8]; 2], wanted: PeerId) -> (io::Result<PeerId>, io::Result<()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (mut first, mut second) = tokio::io::duplex(1024);
        let [of_first, of_second] = secrets;
        runtime.block_on(async {
            let accept = async move { Ends { secret: of_first, own: 3 }.accept(&mut first).await };
            let connect =
                async move { Ends { secret: of_second, own: 7 }.connect(&mut second, wanted).await };
            tokio::join!(accept, connect)
        })
    }

    #[test]
    fn stranger_gets_a_link() {
        let (accepted, connected) = shake([b"secret", b"secret"], 3);
        assert_eq!(accepted.expect("a link"), 7);
        assert!(connected.is_ok());
        for (secrets, wanted) in [([&b"secret"[..], b"another"], 3), ([b"secret", b"secret"], 4)] {
            let (accepted, connected) = shake(secrets, wanted);
            assert!(accepted.is_err() && connected.is_err());
        }
    }
}
