// Iterating over keys, and over the members of a key, with SCAN, HSCAN and SSCAN, one batch after another.
//
// Each batch waits for the network, so that the page can draw between two of them. The caller keeps the cursor.

import type { Argument } from '../resp/reply.ts';
import type { Client } from '../connection/client.ts';
import { PAGE } from './paging.ts';
import { filterPattern } from './pattern.ts';
import { bytesIn, itemsOf, textIn } from './replies.ts';

/**
 * Keys that the server visits for one batch: 100,000 keys take 100 batches, and the page draws between them.
 */
export const SCAN_COUNT = 1000;

/** The command for the next members of a hash or a set. */
export function scanPage(
  name: 'HSCAN' | 'SSCAN',
  keyBytes: Uint8Array,
  cursor: string,
  filter: string,
): Argument[] {
  const command: Argument[] = [name, keyBytes, cursor, 'COUNT', String(PAGE)];
  const pattern = filterPattern(filter);
  if (pattern !== undefined) command.push('MATCH', pattern);
  return command;
}

export type ScanFilter = { pattern: Argument | undefined; type: string | undefined };
export type ScanBatch = { cursor: string; keys: Uint8Array[] };

export async function scanBatch(client: Client, filter: ScanFilter, cursor: string): Promise<ScanBatch> {
  const command: Argument[] = ['SCAN', cursor];
  if (filter.pattern !== undefined) command.push('MATCH', filter.pattern);
  command.push('COUNT', String(SCAN_COUNT));
  if (filter.type !== undefined) command.push('TYPE', filter.type);
  const [next, keys] = itemsOf(await client.call(command));
  return { cursor: textIn(next), keys: itemsOf(keys).map(bytesIn) };
}
