// A scrolled element that draws only the rows in sight.

import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import { scrollFor, windowOf, type RowWindow } from './windows.ts';

/** Rows are higher where fingers are used; keys.css knows the same heights. */
export function rowHeightFor(mousePx: number): number {
  return matchMedia('(pointer: coarse)').matches ? 38 : mousePx;
}

export type Windowed = RowWindow & {
  element: RefObject<HTMLDivElement | null>;
  onScroll(): void;
  show(row: number): void;
  /** Whole rows that fit: how far Page Down goes. */
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
  // Fewer rows than before may leave the place beyond the end; the browser moves it without an event.
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
