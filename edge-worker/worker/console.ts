// The console's files, from the assets that are deployed with the worker; the header fields are those of gateway/src/web/console.rs.

// The page may load and run only its own files, and connect to any server that the user names.
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; " +
  "font-src 'self'; connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// GET and HEAD of these never are commands.
const PATH = /^\/(index\.html|favicon\.[a-z]+|assets\/.*)?$/;
// The build gives these files names that change with their contents.
const HASHED_FOLDER = '/assets/';

export function isOfConsole(pathname: string): boolean {
  return PATH.test(pathname);
}

export async function file(assets: Fetcher, request: Request, pathname: string): Promise<Response> {
  const found = await assets.fetch(request);
  const response = new Response(found.body, found);
  const isForever = pathname.startsWith(HASHED_FOLDER) && (found.ok || found.status === 304);
  const fields = {
    'cache-control': isForever ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': POLICY,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
  for (const [name, value] of Object.entries(fields)) response.headers.set(name, value);
  return response;
}
