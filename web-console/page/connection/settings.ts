// What the connection dialog asks for, and where it is remembered: without the password unless the person wants that.

export interface Settings {
  url: string;
  user: string;
  password: string;
  rememberPassword: boolean;
}

const KEY = 'edgecask.connection';
const DB_KEY = 'edgecask.database';

/** The WebSocket beside the page. */
export function ownUrl(location: Pick<Location, 'protocol' | 'host'>): string {
  return `${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}/resp`;
}

/**
 * What a person types, as the URL of a WebSocket: `host:port` is enough. Undefined if it is none.
 */
export function normalizeUrl(typed: string, tls: boolean): string | undefined {
  const trimmed = typed.trim().replace(/^http(s?):/i, 'ws$1:');
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `${tls ? 'wss' : 'ws'}://${trimmed}`;
  let url: URL;
  try {
    url = new URL(full);
  } catch {
    return undefined;
  }
  if ((url.protocol !== 'ws:' && url.protocol !== 'wss:') || !url.hostname) return undefined;
  url.protocol = tls ? 'wss:' : 'ws:';
  url.hash = '';
  url.username = '';
  url.password = '';
  if (url.pathname === '/') url.pathname = '/resp';
  return url.href;
}

export function loadSettings(storage: Storage, location: Pick<Location, 'protocol' | 'host'>): Settings {
  const settings = { url: ownUrl(location), user: '', password: '', rememberPassword: false };
  try {
    const stored = JSON.parse(storage.getItem(KEY) ?? '{}') as Record<string, unknown>;
    if (typeof stored['url'] === 'string') settings.url = normalizeUrl(stored['url'], stored['url'].startsWith('wss:')) ?? settings.url;
    if (typeof stored['user'] === 'string') settings.user = stored['user'];
    if (typeof stored['password'] === 'string') {
      settings.password = stored['password'];
      settings.rememberPassword = true;
    }
  } catch {
    // Something else wrote there: begin anew.
  }
  return settings;
}

export function saveSettings(storage: Storage, settings: Settings, location: Pick<Location, 'protocol' | 'host'>): void {
  const kept: Record<string, string> = { user: settings.user };
  // The own gateway is the default and may be reached by another name tomorrow.
  if (settings.url !== ownUrl(location)) kept['url'] = settings.url;
  if (settings.rememberPassword && settings.password) kept['password'] = settings.password;
  try {
    storage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Storage is full or forbidden: nothing is remembered.
  }
}

export function loadDatabase(storage: Storage): number {
  const stored = Number(storage.getItem(DB_KEY));
  return Number.isInteger(stored) && stored >= 0 ? stored : 0;
}

export function saveDatabase(storage: Storage, db: number): void {
  try {
    storage.setItem(DB_KEY, String(db));
  } catch {
    // As above.
  }
}
