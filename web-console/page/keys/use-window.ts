// A hook for a scrolled element that draws only its visible rows.

import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import { scrollFor, windowOf, type RowWindow } from './windows.ts';

/** Rows are higher on touch screens. keys.css has the same heights. */
export function rowHeightFor(mousePx: number): number {
  return matchMedia('(pointer: coarse)').matches ? 38 : mousePx;
}

export type Windowed = RowWindow & {
  element: RefObject<HTMLDivElement | null>;
  onScroll(): void;
  show(row: number): void;
  /** How many rows Page Down moves: the whole rows that fit. */
  page: number;
};

export function useWindow(rows: number, rowHeight: number): Windowed {
  const element = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, viewport: 600 });
  const measure = useCallback(() => {
    const at = element.current;
    if (at === null) return;
    setPlace((now) =>
      now.top === at.scrollTop && now.viewport === at.clientHeight
        ? now
        : { top: at.scrollTop, viewport: at.clientHeight },
    );
  }, []);
  useLayoutEffect(() => {
    const at = element.current;
    if (at === null) return undefined;
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(at);
    return () => observer.disconnect();
  }, [measure]);
  // With fewer rows than before, the browser may move the scroll position without an event.
  useLayoutEffect(measure, [rows, measure]);
  const show = useCallback(
    (row: number) => {
      const at = element.current;
      if (at === null) return;
      at.scrollTop = scrollFor(row, at.scrollTop, at.clientHeight, rows, rowHeight);
      measure();
    },
    [rows, rowHeight, measure],
  );
  return {
    ...windowOf(place.top, place.viewport, rows, rowHeight),
    element,
    onScroll: measure,
    show,
    page: Math.max(1, Math.floor(place.viewport / rowHeight) - 1),
  };
}
