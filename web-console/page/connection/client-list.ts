// The reply of CLIENT LIST: one line per connection with `name=value` fields. Names and values have no spaces.

import { number } from '../resp/values.ts';

export interface ClientLine {
  id: string;
  address: string;
  name: string;
  ageS: number;
  idleS: number;
  flags: string;
  db: number;
  command: string;
  user: string;
  /** Name and version of the client library; empty if it has not set them. */
  library: string;
  channels: number;
  patterns: number;
  protocol: string;
}

export function parseClients(text: string): ClientLine[] {
  return text
    .split('\n')
    .map(parseLine)
    .filter((line) => line !== null);
}

function parseLine(line: string): ClientLine | null {
  const fields = new Map<string, string>();
  for (const field of line.trim().split(' ')) {
    const equals = field.indexOf('=');
    if (equals > 0) fields.set(field.slice(0, equals), field.slice(equals + 1));
  }
  const id = fields.get('id');
  if (!id) return null;
  const count = (name: string) => number(fields.get(name)) ?? 0;
  const text = (name: string) => fields.get(name) ?? '';
  return {
    id,
    address: text('addr'),
    name: text('name'),
    ageS: count('age'),
    idleS: count('idle'),
    flags: text('flags'),
    db: count('db'),
    command: text('cmd') === 'NULL' ? '' : text('cmd'),
    user: text('user'),
    library: [text('lib-name'), text('lib-ver')].filter((part) => part !== '').join(' '),
    channels: count('sub') + count('ssub'),
    patterns: count('psub'),
    protocol: text('resp'),
  };
}

/** Whether a shown field of the client contains the text. */
export function matches(client: ClientLine, wanted: string): boolean {
  const shown = [client.id, client.address, client.name, client.command, client.user, client.library];
  return shown.some((text) => text.toLowerCase().includes(wanted.toLowerCase()));
}
