// Loopback ports for servers that are told their port before they start.

import net from 'node:net';

// Below the ports that the system gives to outgoing connections, which could take one before its server binds it.
const [FIRST, COUNT] = [10_000, 20_000];

// Processes begin at different places, so that two that run side by side rarely ask for the same ports.
let next = process.pid * 7919;

/** A port that nobody listens on, another one with every call. */
export async function freePort() {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + (next++ % COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
}

function isFree(port) {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
