// RESP over TCP in front of RESP over WebSocket, so that clients and tests that know only TCP meet the edge worker. A connection
// here is a socket there; bytes are passed on as they come, and neither side is read faster than the other takes.

import { createRequire } from 'node:module';
import net from 'node:net';

const FOLDER = new URL('../../edge-worker/', import.meta.url).pathname;
const { WebSocket } = createRequire(`${FOLDER}package.json`)('ws');

// What may wait in one socket before the TCP side is not read for a while.
const WAITING_MAX_BYTES = 4 * 1024 * 1024;
const LOOK_AGAIN_MS = 5;

/** Listens on a port of this machine, 0 for any, and gives the listener. `url` is that of the worker's WebSocket. */
export function bridge(url, port = 0) {
  const listener = net.createServer((tcp) => join(tcp, new WebSocket(url, 'resp', { perMessageDeflate: false })));
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(port, '127.0.0.1', () => resolve(listener));
  });
}

function join(tcp, web) {
  tcp.setNoDelay(true);
  web.on('open', () => {
    tcp.on('data', (bytes) => {
      web.send(bytes);
      if (web.bufferedAmount > WAITING_MAX_BYTES) {
        tcp.pause();
        const timer = setInterval(() => {
          if (web.bufferedAmount > WAITING_MAX_BYTES) return;
          clearInterval(timer);
          tcp.resume();
        }, LOOK_AGAIN_MS);
      }
    });
    tcp.on('end', () => web.close(1000));
  });
  web.on('message', (bytes) => {
    if (!tcp.write(bytes)) {
      web.pause();
      tcp.once('drain', () => web.resume());
    }
  });
  web.on('close', () => tcp.end());
  // Its close follows.
  web.on('error', () => tcp.destroy());
  tcp.on('error', () => web.terminate());
  tcp.on('close', () => web.readyState === WebSocket.CONNECTING && web.terminate());
}
