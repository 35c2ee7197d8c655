// A list of what arrives, newest first. It stands still while paused and while one has scrolled away from its top;
// what arrives meanwhile is counted.

import type { ComponentChild, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { VirtualList } from '../parts/virtual.tsx';
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

/** How many arrive a second. */
export function useRate<T>(feed: Feed<T>): number {
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
