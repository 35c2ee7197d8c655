// The reply of SLOWLOG GET: entries of id, time, duration, arguments and (since Redis 4) the client's address and name.

import type { Reply } from '../resp/reply.ts';
import { bytesOf, itemsOf, numberOf, textOf } from '../resp/values.ts';

export interface SlowEntry {
  id: string;
  atMs: number;
  tookUs: number;
  args: Uint8Array[];
  address: string;
  name: string;
}

export function parseSlowLog(reply: Reply): SlowEntry[] {
  return itemsOf(reply).map((entry) => {
    const [id, at, took, args, address, name] = itemsOf(entry);
    return {
      id: textOf(id),
      atMs: (numberOf(at) ?? 0) * 1000,
      tookUs: numberOf(took) ?? 0,
      args: itemsOf(args).map(bytesOf),
      address: textOf(address),
      name: textOf(name),
    };
  });
}
