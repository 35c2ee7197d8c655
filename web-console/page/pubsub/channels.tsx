// The channels with subscribers, fetched periodically while the page is shown.

import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { bytesOf, itemsOf, numberOf, pairsOf } from '../resp/values.ts';
import { showBytes } from '../parts/bytes.ts';
import type { Argument } from '../resp/reply.ts';
import { keyOf, type Subscription } from './listener.ts';
import { listener, subscriptions } from './store.ts';

interface Active extends Subscription {
  count: number;
}

interface Seen {
  channels: Active[];
  hidden: number;
  patterns: number;
}

/** How many channels are listed with their subscribers. */
const SHOWN_MAX = 200;
const EVERY_MS = 2000;

/** With many channels the list is fetched less often: PUBSUB CHANNELS returns all of them. */
const MANY_CHANNELS = 1000;
const MANY_CHANNELS_EVERY_MS = 15_000;

async function ask(): Promise<Seen & { all: number }> {
  const client = await connection.client();
  const [plain, shard, patterns] = await client.pipeline([
    ['PUBSUB', 'CHANNELS'],
    ['PUBSUB', 'SHARDCHANNELS'],
    ['PUBSUB', 'NUMPAT'],
  ]);
  const named: Subscription[] = [
    ...itemsOf(plain).map((item) => ({ kind: 'channel' as const, name: bytesOf(item) })),
    ...itemsOf(shard).map((item) => ({ kind: 'shard' as const, name: bytesOf(item) })),
  ];
  named.sort((a, b) => keyOf(a).localeCompare(keyOf(b)));
  const shown = named.slice(0, SHOWN_MAX);
  const names = (kind: string) => shown.filter((item) => item.kind === kind).map(({ name }) => name);
  const asked: Argument[][] = [
    ['PUBSUB', 'NUMSUB', ...names('channel')],
    ['PUBSUB', 'SHARDNUMSUB', ...names('shard')],
  ];
  const replies = await client.pipeline(asked);
  const counts = replies.flatMap((reply) => pairsOf(reply).map(([, count]) => numberOf(count) ?? 0));
  // The counts are in the order of the names, channels before shard channels.
  const channels = [...shown].sort((a, b) => Number(a.kind === 'shard') - Number(b.kind === 'shard'));
  return {
    channels: channels.map((item, index) => ({ ...item, count: counts[index] ?? 0 })),
    hidden: named.length - shown.length,
    patterns: numberOf(patterns) ?? 0,
    all: named.length,
  };
}

export function Channels(): VNode {
  const [seen, setSeen] = useState<Seen>({ channels: [], hidden: 0, patterns: 0 });
  useEffect(() => {
    let isGone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const round = async () => {
      let all = 0;
      if (!document.hidden) {
        try {
          const now = await ask();
          all = now.all;
          if (!isGone) setSeen(now);
        } catch {
          // The header shows a lost connection; the next round tries again.
        }
      }
      if (!isGone) timer = setTimeout(round, all > MANY_CHANNELS ? MANY_CHANNELS_EVERY_MS : EVERY_MS);
    };
    void round();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, []);
  const { channels, hidden, patterns } = seen;
  const own = new Set(subscriptions.value.map(keyOf));
  return (
    <section class="live-panel" aria-label="Active channels">
      <header>
        <h2>Active channels</h2>
        <span class="detail">
          {several(channels.length + hidden, 'channel')}, {several(patterns, 'pattern')}
        </span>
      </header>
      {channels.length === 0 ? (
        <p class="nothing">No channel has a subscriber.</p>
      ) : (
        <ul class="channels">
          {channels.map((channel) => (
            <li key={keyOf(channel)}>
              <code>{showBytes(channel.name)}</code>
              {channel.kind === 'shard' && <span class="chip-kind">shard</span>}
              <span class="count">{channel.count}</span>
              <button
                type="button"
                class="button small"
                disabled={own.has(keyOf(channel))}
                aria-label={`Subscribe to ${showBytes(channel.name)}`}
                onClick={() => listener.add(channel)}
              >
                {own.has(keyOf(channel)) ? 'Listening' : 'Listen'}
              </button>
            </li>
          ))}
        </ul>
      )}
      {hidden > 0 && <p class="nothing">… and {hidden} more.</p>}
    </section>
  );
}

function several(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
