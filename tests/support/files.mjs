// The files of the repository over HTTP, on loopback, for pages of tests and figures.

import { readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };

/** Serves them. Gives `base`, the beginning of their URLs, and `close()`. */
export async function serveFiles() {
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    try {
      const body = await readFile(path.join(ROOT, path.normalize(pathname)));
      response.writeHead(200, { 'content-type': TYPES[path.extname(pathname)] ?? 'application/octet-stream' }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { base: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
