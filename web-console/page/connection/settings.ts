// The settings of the connection dialog, and their storage in the browser: without the password unless the person
// wants it stored.

export interface Settings {
  url: string;
  user: string;
  password: string;
  rememberPassword: boolean;
}

const KEY = 'edgecask.connection';
const DB_KEY = 'edgecask.database';

/** The WebSocket of the server that the page came from. */
export function ownUrl(location: Pick<Location, 'protocol' | 'host'>): string {
  return `${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}/resp`;
}

/** The URL of a WebSocket for a typed address: `host:port` is enough. Undefined if the text is not an address. */
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
    // Another program wrote there: the defaults apply.
  }
  return settings;
}

export function saveSettings(storage: Storage, settings: Settings, location: Pick<Location, 'protocol' | 'host'>): void {
  const stored: Record<string, string> = { user: settings.user };
  // The page's own server is the default and is not stored: tomorrow it may have another name.
  if (settings.url !== ownUrl(location)) stored['url'] = settings.url;
  if (settings.rememberPassword && settings.password) stored['password'] = settings.password;
  try {
    storage.setItem(KEY, JSON.stringify(stored));
  } catch {
    // Storage is full or forbidden: the settings end with the page.
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
    // Storage is full or forbidden: the choice ends with the page.
  }
}
