// The list of a feed, newest first. It does not move while it is paused or scrolled away from its top; items that arrive
// meanwhile are counted.

import type { ComponentChild, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { VirtualList } from './virtual.tsx';
import type { Feed } from './feed.ts';
import * as format from './format.ts';

interface Props<T> {
  feed: Feed<T>;
  isPaused: boolean;
  isWanted(item: T): boolean;
  /** Changes when `isWanted` does. */
  filter: string;
  render(item: T): VNode;
  label: string;
  nothing: ComponentChild;
}

const ROW_PX = 28;

export function Stream<T>({ feed, isPaused, isWanted, filter, render, label, nothing }: Props<T>): VNode {
  const place = useRef<HTMLDivElement>(null);
  const [isAway, setAway] = useState(false);
  const held = useRef<{ rows: T[]; filter: string; total: number } | null>(null);
  void feed.changed.value;
  const wantsHold = (isPaused || isAway) && feed.ring.length > 0;
  if (!wantsHold || held.current?.filter !== filter) {
    held.current = { rows: feed.ring.newestFirst(isWanted), filter, total: feed.total };
  }
  const { rows, total } = held.current;
  const missed = feed.total - total;
  const toTop = () => {
    const scrolled = [...(place.current?.querySelectorAll('*') ?? [])].filter(
      (element) => element.scrollTop > 0,
    );
    for (const element of scrolled) element.scrollTop = 0;
    setAway(false);
  };
  const onScroll = (event: Event) => setAway((event.target as HTMLElement).scrollTop > ROW_PX);
  return (
    <div class="stream" ref={place} onScrollCapture={onScroll}>
      {missed > 0 && (
        <button type="button" class="stream-missed" onClick={toTop} disabled={isPaused}>
          {format.whole(missed)} new{isPaused ? ' while paused' : ' ↑'}
        </button>
      )}
      {rows.length === 0 ? (
        <div class="nothing">{nothing}</div>
      ) : (
        <VirtualList
          rows={rows}
          rowHeight={ROW_PX}
          label={label}
          render={(row) => <div role="listitem">{render(row)}</div>}
        />
      )}
    </div>
  );
}

interface ToolsProps<T> {
  feed: Feed<T>;
  /** The noun for the items, in the plural. */
  of: string;
  /** The placeholder of the filter. */
  hint: string;
  isPaused: boolean;
  setPaused(is: boolean): void;
  wanted: string;
  setWanted(text: string): void;
  /** More controls, after the filter. */
  children?: ComponentChild;
}

/** The bar above the list: a filter, the number of items, and buttons to pause and to clear. */
export function StreamTools<T>(props: ToolsProps<T>): VNode {
  const { feed, isPaused } = props;
  const rate = useRate(feed);
  void feed.changed.value;
  const { length, dropped } = feed.ring;
  return (
    <div class="stream-tools">
      <input
        type="search"
        class="input"
        placeholder={props.hint}
        aria-label={`Filter ${props.of}`}
        value={props.wanted}
        onInput={(event) => props.setWanted(event.currentTarget.value)}
      />
      {props.children}
      <span class="detail">
        {format.whole(length)} kept{dropped > 0 ? `, ${format.whole(dropped)} dropped` : ''} ·{' '}
        {format.count(rate)}/s
      </span>
      <span class="tools">
        <button type="button" class="button" aria-pressed={isPaused} onClick={() => props.setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
        <button type="button" class="button" disabled={length === 0} onClick={() => feed.clear()}>
          Clear
        </button>
      </span>
    </div>
  );
}

/** How many items arrive per second. */
function useRate<T>(feed: Feed<T>): number {
  const [rate, setRate] = useState(0);
  useEffect(() => {
    let before = feed.total;
    let atMs = performance.now();
    const timer = setInterval(() => {
      const nowMs = performance.now();
      setRate(((feed.total - before) * 1000) / Math.max(1, nowMs - atMs));
      before = feed.total;
      atMs = nowMs;
    }, 1000);
    return () => clearInterval(timer);
  }, [feed]);
  return rate;
}
