// The reply of INFO: sections of `name:value` lines; some values are lists of `key=value` fields.

import { number } from '../resp/values.ts';

/** Values by section (in lower case) and name. */
export type Info = Map<string, Map<string, string>>;

export function parseInfo(text: string): Info {
  const info: Info = new Map();
  let section = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) {
      const name = line.slice(1).trim().toLowerCase();
      section = info.get(name) ?? new Map();
      info.set(name, section);
      continue;
    }
    const colon = line.indexOf(':');
    if (colon > 0) section.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return info;
}

/** A value of any section: names are unique across sections. */
export function infoText(info: Info, name: string): string | undefined {
  for (const section of info.values()) {
    const value = section.get(name);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** A number of INFO, or null if there is none with this name. */
export function infoNumber(info: Info, name: string): number | null {
  return number(infoText(info, name));
}

/** `keys=1,expires=0` as numbers by name; fields that are not numbers are left out. */
export function fields(text: string): Map<string, number> {
  const all = new Map<string, number>();
  for (const field of text.split(',')) {
    const equals = field.indexOf('=');
    const value = Number(field.slice(equals + 1));
    if (equals > 0 && field.length > equals + 1 && Number.isFinite(value))
      all.set(field.slice(0, equals), value);
  }
  return all;
}

export interface Database {
  db: number;
  keys: number;
  expires: number;
  /** 0 if the server does not report it. */
  averageTtlMs: number;
}

export function databases(info: Info): Database[] {
  const all: Database[] = [];
  for (const [name, value] of info.get('keyspace') ?? []) {
    const db = /^db(\d+)$/.exec(name)?.[1];
    if (db === undefined) continue;
    const counters = fields(value);
    all.push({
      db: Number(db),
      keys: counters.get('keys') ?? 0,
      expires: counters.get('expires') ?? 0,
      averageTtlMs: counters.get('avg_ttl') ?? 0,
    });
  }
  return all.sort((a, b) => a.db - b.db);
}
