import { expect, it } from 'vitest';
import { loadDatabase, loadSettings, normalizeUrl, ownUrl, saveSettings } from './settings.ts';

const here = { protocol: 'http:', host: 'localhost:8080' };

function memory(): Storage {
  const map = new Map<string, string>();
  return {
    getItem: (key: string) => map.get(key) ?? null,
    setItem: (key: string, value: string) => void map.set(key, value),
  } as Storage;
}

it('an address is completed', () => {
  expect(normalizeUrl('localhost:8080', false)).toBe('ws://localhost:8080/resp');
  expect(normalizeUrl(' store.example ', true)).toBe('wss://store.example/resp');
  expect(normalizeUrl('https://store.example/db/resp?x=1#y', true)).toBe('wss://store.example/db/resp?x=1');
  expect(normalizeUrl('ws://user:secret@a/', false)).toBe('ws://a/resp');
});

it('a text that is not the address of a WebSocket is refused', () => {
  for (const typed of ['', '   ', 'http://', 'javascript:alert(1)', 'file:///etc/passwd', 'ws://a b']) {
    expect(normalizeUrl(typed, false), typed).toBeUndefined();
  }
});

it('the WebSocket beside the page is the default', () => {
  expect(ownUrl({ protocol: 'https:', host: 'a.example' })).toBe('wss://a.example/resp');
  expect(loadSettings(memory(), here).url).toBe('ws://localhost:8080/resp');
});

it('the password is remembered only if that is wanted', () => {
  const storage = memory();
  const settings = { url: 'ws://a/resp', user: 'u', password: 'secret', rememberPassword: false };
  saveSettings(storage, settings, here);
  expect(loadSettings(storage, here)).toEqual({ ...settings, password: '' });
  saveSettings(storage, { ...settings, rememberPassword: true }, here);
  expect(loadSettings(storage, here)).toEqual({ ...settings, rememberPassword: true });
});

it('rubbish in storage is ignored', () => {
  const storage = memory();
  storage.setItem('edgecask.connection', '{"url": 5, "user": ["x"]');
  storage.setItem('edgecask.database', '-1.5');
  expect(loadSettings(storage, here).user).toBe('');
  expect(loadDatabase(storage)).toBe(0);
});
