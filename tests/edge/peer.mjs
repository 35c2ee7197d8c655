// A WebSocket that speaks RESP by the line, for tests of what comes back to the letter.

import { createRequire } from 'node:module';

export const WebSocket = createRequire(new URL('../../edge-worker/package.json', import.meta.url))('ws');

const PATIENCE_MS = 5000;

/**
 * Connects to a path of a worker; `say(line)` sends a line, `expect(text)` waits until exactly this has come, `hear()` gives what
 * has come, once something has.
 */
export async function connect(base, path = '/resp', options = {}) {
  const socket = new WebSocket(base.replace('http', 'ws') + path, ['resp'], options);
  let received = '';
  let wanted = () => {};
  socket.on('message', (data) => {
    received += data;
    wanted();
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const expect = (text) =>
    new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${JSON.stringify(received)} came`)), PATIENCE_MS);
      wanted = () => {
        if (received.length < text.length) return;
        clearTimeout(late);
        const got = received;
        received = '';
        wanted = () => {};
        if (got === text) resolve();
        else reject(new Error(`${JSON.stringify(got)} came`));
      };
      wanted();
    });
  const hear = async () => {
    while (received === '') await new Promise((resolve) => socket.once('message', resolve));
    const got = received;
    received = '';
    return got;
  };
  return { socket, expect, hear, say: (line) => socket.send(`${line}\r\n`) };
}
