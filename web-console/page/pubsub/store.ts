// The subscriptions and their messages. They outlive the page: a person can use another page of the console and come
// back without missing a message.

import { signal } from '@preact/signals';
import { connection } from '../connection/state.ts';
import { Feed } from '../parts/feed.ts';
import { toast } from '../parts/toast.tsx';
import { showBytes } from '../parts/bytes.ts';
import { Listener, type State, type Subscription } from './listener.ts';
import type { Message } from './message.ts';

const MESSAGES_MAX = 10_000;
const KEPT_MAX_BYTES = 64 * 1024 * 1024;

/** About the memory of a message beside its bytes. */
const MESSAGE_BYTES = 200;

export const feed = new Feed<Message>(
  MESSAGES_MAX,
  KEPT_MAX_BYTES,
  ({ channel, payload }) => channel.length + payload.length + MESSAGE_BYTES,
);
export const subscriptions = signal<Subscription[]>([]);
export const state = signal<State>('idle');
export const why = signal('');
/** How often the session was lost since the first subscription: messages in between are missing from the list. */
export const interruptions = signal(0);

export const listener = new Listener(() => connection.dedicated(), {
  onState: (now, reason) => {
    if (now === 'idle') interruptions.value = 0;
    if (now === 'waiting' && state.value === 'open') interruptions.value += 1;
    state.value = now;
    why.value = reason;
  },
  onSubscriptions: (all) => {
    subscriptions.value = all;
  },
  onMessage: ({ kind, channel, pattern, payload }) => {
    feed.push({ serial: feed.total, atMs: Date.now(), kind, channel, pattern, payload });
  },
  onRefused: ({ name }, reason) => toast(`${showBytes(name)}: ${reason}`, 'error'),
});

let settings = connection.settings.peek();

// With another server or user, all subscriptions move there.
connection.settings.subscribe((now) => {
  if (now === settings) return;
  settings = now;
  listener.restart();
});
