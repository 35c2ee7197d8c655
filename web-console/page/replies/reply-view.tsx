// A reply on the screen: its first lines and the first part of each string, more on demand. Everything is a text node:
// bytes of a server are never markup.

import './replies.css';
import { useMemo, useState } from 'preact/hooks';
import { beginning, quoteText, showSize } from '../parts/bytes.ts';
import type { Reply } from '../resp/reply.ts';
import { type Line, lines, plainText, type Span } from './lines.ts';

const LINES_FIRST = 200;
const LINES_MORE = 1000;
const BYTES_FIRST = 2000;
/** The size of a piece that a browser lays out without a pause, and the number of pieces per click. */
const PIECE_BYTES = 8_000;
const PIECES_MORE = 16;

export function ReplyView(props: { reply: Reply }) {
  const [limit, setLimit] = useState(LINES_FIRST);
  const { shown, more } = useMemo(() => {
    const generator = lines(props.reply);
    const taken: Line[] = [];
    let next = generator.next();
    while (!next.done && taken.length < limit) {
      taken.push(next.value);
      next = generator.next();
    }
    return { shown: taken, more: !next.done };
  }, [props.reply, limit]);
  return (
    <div class="reply">
      {shown.map((line, at) => (
        <div class="reply-line" key={at}>
          {line.lead && <span class="reply-lead">{line.lead}</span>}
          <span class="reply-value">{line.spans.map((span, index) => <SpanView span={span} key={index} />)}</span>
        </div>
      ))}
      {more && (
        <button type="button" class="link reply-more" onClick={() => setLimit(limit + LINES_MORE)}>
          Show more ({limit.toLocaleString('en')} lines shown{topCount(props.reply)})
        </button>
      )}
    </div>
  );
}

function topCount(reply: Reply): string {
  const count = reply.type === 'map' ? reply.pairs.length : 'items' in reply ? reply.items.length : 0;
  return count > 0 ? `, ${count.toLocaleString('en')} elements` : '';
}

function SpanView(props: { span: Span }) {
  const { span } = props;
  return 'text' in span ? <span class={`v-${span.kind}`}>{span.text}</span> : <BytesView kind={span.kind} bytes={span.bytes} />;
}

/** A string: its beginning, then more pieces on demand. The browser lays a piece out only when it is visible. */
function BytesView(props: { kind: 'string' | 'text'; bytes: Uint8Array }) {
  const { kind, bytes } = props;
  const [more, setMore] = useState(0);
  const pieces = useMemo(() => cut(bytes, more), [bytes, more]);
  const shownBytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const whole = shownBytes === bytes.length;
  return (
    <>
      {pieces.map((piece, at) => (
        <PieceView key={at} kind={kind} bytes={piece} first={at === 0} last={whole && at === pieces.length - 1} />
      ))}
      {!whole && (
        <>
          <span class="v-type">… </span>
          <button type="button" class="link reply-more" onClick={() => setMore(more + PIECES_MORE)}>
            Show more ({showSize(shownBytes)} of {showSize(bytes.length)})
          </button>
        </>
      )}
    </>
  );
}

function cut(bytes: Uint8Array, more: number): Uint8Array[] {
  const pieces = [beginning(bytes, BYTES_FIRST)];
  let at = pieces[0]!.length;
  for (let count = 0; count < more && at < bytes.length; count += 1) {
    const piece = beginning(bytes.subarray(at), PIECE_BYTES);
    pieces.push(piece);
    at += piece.length;
  }
  return pieces;
}

function PieceView(props: { kind: 'string' | 'text'; bytes: Uint8Array; first: boolean; last: boolean }) {
  const { kind, bytes, first, last } = props;
  const text = useMemo(() => (kind === 'string' ? quoteText(bytes) : plainText(bytes)), [kind, bytes]);
  const inner = kind === 'string' ? text.slice(first ? 0 : 1, last ? undefined : -1) : text;
  return <span class={`v-${kind} ${first ? '' : 'piece'}`}>{inner}</span>;
}
