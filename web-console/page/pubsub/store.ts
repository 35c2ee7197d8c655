// What the page listens to and what has arrived. It outlives the page: one can look something up elsewhere in the
// console and come back without having missed a message.

import { signal } from '@preact/signals';
import { connection } from '../connection/state.ts';
import { Feed } from '../live/feed.ts';
import { toast } from '../parts/toast.tsx';
import { showBytes } from '../parts/bytes.ts';
import { Listener, type State, type Subscription } from './listener.ts';
import type { Message } from './message.ts';

const MOST_MESSAGES = 10_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** What a message takes beside its bytes, about. */
const MESSAGE_BYTES = 200;

export const feed = new Feed<Message>(
  MOST_MESSAGES,
  MOST_BYTES,
  ({ channel, payload }) => channel.length + payload.length + MESSAGE_BYTES,
);
export const subscriptions = signal<Subscription[]>([]);
export const state = signal<State>('idle');
export const why = signal('');
/** How often the session was lost since listening began: what was published in between is missing from the list. */
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

// Another server or user is listened to from the moment the console turns to it.
connection.settings.subscribe((now) => {
  if (now === settings) return;
  settings = now;
  listener.restart();
});
