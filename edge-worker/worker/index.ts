// The worker in front of the objects: checks the origin, routes a path to an object, and answers requests that need none.
//
//   /resp, /db/NAME/resp      RESP over WebSocket
//   /, /db/NAME/…             the REST dialect; GET / is the console, where it is deployed
//   /health                   ok

import { discard } from './body';
import { file, isOfConsole } from './console';
import { ADDRESS, type Env } from './object';
import { decide } from './origin';

export { Database } from './object';

const DEFAULT_DATABASE = 'default';
const NAME_MAX_LENGTH = 128;
const PREFLIGHT_SECONDS = '86400';

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const url = new URL(request.url);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    // Clients of search ask at the same path, with their own form of answer.
    if (isRead && url.pathname === '/health' && !request.headers.has('x-meilisearch-client')) return new Response('ok\n');
    if (isRead && env.ASSETS !== undefined && isOfConsole(url.pathname)) return file(env.ASSETS, request, url.pathname);
    const verdict = decide(request.headers, url.host, env);
    if (verdict.refused !== undefined) {
      await discard(request);
      return Response.json({ error: verdict.refused.text }, { status: verdict.refused.status });
    }
    if (request.method === 'OPTIONS') return allow(preflight(request), verdict.origin);
    const { name, path } = route(url.pathname);
    if (name === undefined) {
      await discard(request);
      return Response.json({ error: 'ERR no such database name' }, { status: 400 });
    }
    url.pathname = path;
    const forwarded = new Request(url, request);
    forwarded.headers.set(ADDRESS, address(request));
    const database = env.DATABASE.get(env.DATABASE.idFromName(name));
    try {
      const response = await database.fetch(forwarded);
      return response.webSocket === null ? allow(response, verdict.origin) : response;
    } catch (error) {
      // The object ended, and nothing of the request was written.
      console.error(error);
      return allow(Response.json({ error: 'ERR the database was restarted; nothing of this request was kept' }, { status: 500 }), verdict.origin);
    }
  },
};

function route(pathname: string): { name?: string; path: string } {
  const named = /^\/db\/([^/]*)(\/.*)?$/.exec(pathname);
  if (named === null) return { name: DEFAULT_DATABASE, path: pathname };
  try {
    const name = decodeURIComponent(named[1]!);
    const path = named[2] ?? '/';
    return name.length > 0 && name.length <= NAME_MAX_LENGTH ? { name, path } : { path };
  } catch {
    return { path: '/' };
  }
}

function address(request: Request): string {
  const peer = request.headers.get('cf-connecting-ip') ?? '127.0.0.1';
  return peer.includes(':') ? `[${peer}]:0` : `${peer}:0`;
}

function preflight(request: Request): Response {
  const headers = new Headers({
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    'access-control-max-age': PREFLIGHT_SECONDS,
  });
  const wanted = request.headers.get('access-control-request-headers');
  if (wanted !== null) headers.set('access-control-allow-headers', wanted);
  return new Response(null, { status: 204, headers });
}

// Allows a page on the list, whose origin this is, to read the response.
function allow(response: Response, origin: string | undefined): Response {
  const allowed = new Response(response.body, response);
  allowed.headers.append('vary', 'origin');
  if (origin !== undefined) {
    allowed.headers.set('access-control-allow-origin', origin);
    allowed.headers.set('access-control-expose-headers', 'upstash-sync-token, etag');
  }
  return allowed;
}
