// One message in full, or as much of it as a page can lay out at once.

import type { VNode } from 'preact';
import { showBytes } from '../parts/bytes.ts';
import * as format from '../live/format.ts';
import { prettyJson } from './json.ts';
import type { Message } from './message.ts';
import { beginning, readable } from './payload.ts';

/** Longer payloads are cut: a text of megabytes in one element takes seconds to lay out. */
const MOST_BYTES = 64 * 1024;

export function Detail({ message, close }: { message: Message; close(): void }): VNode {
  const { payload, channel, pattern, atMs, kind } = message;
  const shown = beginning(payload, MOST_BYTES);
  const json = prettyJson(shown);
  const facts = [
    format.moment(atMs),
    kind === 'shard' ? 'shard channel' : '',
    pattern === null ? '' : `by ${showBytes(pattern)}`,
    format.bytes(payload.length),
    json === null ? '' : 'JSON',
  ];
  return (
    <section class="stream-detail" aria-label="Message">
      <header>
        <code>{showBytes(channel)}</code>
        <span class="detail">{facts.filter((text) => text !== '').join(' · ')}</span>
        <button type="button" class="button small" onClick={close}>
          Close
        </button>
      </header>
      <pre tabIndex={0}>{json ?? readable(shown)}</pre>
      {shown.length < payload.length && (
        <p class="detail">… and {format.bytes(payload.length - shown.length)} more, not shown</p>
      )}
    </section>
  );
}
