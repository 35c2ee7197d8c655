import { expect, test } from 'vitest';
import type { Argument, Reply } from '../resp/reply.ts';
import { Listener, type Session, type State, type Subscription } from './listener.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);
const channel = (name: string): Subscription => ({ kind: 'channel', name: utf8(name) });

/** A session that notes what it is sent. */
class Fake implements Session {
  sent: string[] = [];
  isClosed = false;
  push: (items: Reply[]) => void = () => undefined;
  end: (why: string) => void = () => undefined;
  readonly closed = new Promise<string>((resolve) => {
    this.end = resolve;
  });
  private readonly answer: (command: string) => Reply;
  constructor(answer: (command: string) => Reply = () => ({ type: 'null' })) {
    this.answer = answer;
  }
  send(args: Argument[]): Promise<Reply> {
    const command = args
      .map((part) => (typeof part === 'string' ? part : new TextDecoder().decode(part)))
      .join(' ');
    this.sent.push(command);
    return Promise.resolve(this.answer(command));
  }
  onPush(listener: (items: Reply[]) => void): () => void {
    this.push = listener;
    return () => undefined;
  }
  close(): void {
    this.isClosed = true;
    this.end('closed');
  }
}

function listening(...sessions: (Fake | Error)[]) {
  const seen = {
    states: [] as State[],
    messages: [] as string[],
    refused: [] as string[],
    names: 0,
    waits: [] as number[],
  };
  let retry: () => void = () => undefined;
  const listener = new Listener(
    () => {
      const next = sessions.shift();
      return next instanceof Fake
        ? Promise.resolve(next)
        : Promise.reject(next ?? new Error('no more sessions'));
    },
    {
      onState: (state) => seen.states.push(state),
      onSubscriptions: (all) => {
        seen.names = all.length;
      },
      onMessage: (message) => seen.messages.push(new TextDecoder().decode(message.payload)),
      onRefused: (_, why) => seen.refused.push(why),
    },
    (run, ms) => {
      retry = run;
      seen.waits.push(ms);
    },
  );
  return { listener, seen, retry: () => retry() };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));
const message = (text: string): Reply[] =>
  ['message', 'c', text].map((part) => ({ type: 'bulk', bytes: utf8(part) }));

test('the session opens with the first subscription and closes with the last', async () => {
  const session = new Fake();
  const { listener, seen } = listening(session);
  listener.add(channel('a'));
  listener.add({ kind: 'pattern', name: utf8('b*') });
  await settled();
  listener.add({ kind: 'shard', name: utf8('c') });
  listener.add(channel('a'));
  listener.remove(channel('a'));
  expect(session.sent).toEqual(['SUBSCRIBE a', 'PSUBSCRIBE b*', 'SSUBSCRIBE c', 'UNSUBSCRIBE a']);
  listener.remove({ kind: 'pattern', name: utf8('b*') });
  listener.remove({ kind: 'shard', name: utf8('c') });
  expect(session.isClosed).toBe(true);
  await settled();
  expect(seen.states).toEqual(['connecting', 'open', 'idle']);
});

test('a session that ends is opened again with growing waits and subscribes again', async () => {
  const [first, second] = [new Fake(), new Fake()];
  const { listener, seen, retry } = listening(first, new Error('refused'), second);
  listener.add(channel('a'));
  await settled();
  first.end('gone');
  await settled();
  retry();
  await settled();
  retry();
  await settled();
  expect(seen.waits).toEqual([500, 1000]);
  expect(second.sent).toEqual(['SUBSCRIBE a']);
  first.push(message('old'));
  second.push(message('new'));
  expect(seen.messages).toEqual(['new']);
  expect(seen.states).toEqual([
    'connecting',
    'open',
    'waiting',
    'connecting',
    'waiting',
    'connecting',
    'open',
  ]);
});

test('a session that opens after the last subscription went is closed', async () => {
  const session = new Fake();
  const { listener, seen } = listening(session);
  listener.add(channel('a'));
  listener.remove(channel('a'));
  await settled();
  expect(session.isClosed).toBe(true);
  expect(session.sent).toEqual([]);
  expect(seen.states).toEqual(['connecting', 'idle']);
});

test('a subscription that is refused goes, the others stay', async () => {
  const session = new Fake((command) =>
    command.endsWith('secret') ? { type: 'error', text: 'NOPERM' } : { type: 'null' },
  );
  const { listener, seen } = listening(session);
  listener.add(channel('a'));
  listener.add(channel('secret'));
  await settled();
  expect(seen.refused).toEqual(['NOPERM']);
  expect(seen.names).toBe(1);
  expect(session.isClosed).toBe(false);
});
