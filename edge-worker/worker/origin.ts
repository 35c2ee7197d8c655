// Which pages of a browser may talk to this worker; the rules are those of gateway/src/web/origin.rs. Without a password only
// names that nobody outside can make point here are answered, unless EDGECASK_PROTECTED_MODE is "no".

import type { Env } from './object';

const DENIED =
  'DENIED This worker has no password and is in protected mode, in which it serves only its own machine. Set a password ' +
  '(npx wrangler secret put EDGECASK_PASSWORD).';

export interface Verdict {
  refused?: string;
  // The page on the list that is to be told that it may read the answer.
  origin?: string;
}

export function judge(headers: Headers, host: string, env: Env): Verdict {
  const listed = (env.EDGECASK_ORIGINS ?? '')
    .split(',')
    .map((origin) => origin.trim().replace(/\/$/, '').toLowerCase())
    .filter((origin) => origin.length > 0);
  const isAny = listed.includes('*');
  const isOpen = env.EDGECASK_PROTECTED_MODE === 'no';
  if (!env.EDGECASK_PASSWORD && !isOpen && !isOwnName(host)) return { refused: DENIED };
  const origin = headers.get('origin');
  if (origin === null) {
    const site = headers.get('sec-fetch-site');
    const isForeign = site === 'cross-site' || site === 'same-site';
    return isForeign && !isAny ? { refused: 'this origin is not allowed; see EDGECASK_ORIGINS' } : {};
  }
  const lower = origin.toLowerCase();
  if (lower.includes('://') && lower.split('://')[1] === host.toLowerCase()) return {};
  if (isAny || listed.includes(lower)) return { origin };
  return { refused: 'this origin is not allowed; see EDGECASK_ORIGINS' };
}

// Addresses and names of this machine.
function isOwnName(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '');
  return name === 'localhost' || name.endsWith('.localhost') || /^[\d.]+$/.test(name) || /^\[[0-9a-f:.]+\]$/.test(name);
}
