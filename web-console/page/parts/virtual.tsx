// A virtual list: all rows have one height, and only the visible ones are in the document.

import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows drawn above and below the visible ones, so that scrolling shows no gaps. */
const SPARE_ROWS = 8;

export function VirtualList<T>(props: {
  rows: T[];
  rowHeight: number;
  render(row: T, index: number): VNode;
  label: string;
  /** Called when the last row becomes visible, once for each length of `rows`. */
  onEnd?(): void;
  /** When this changes, the list scrolls to the row of this number. */
  reveal?: number | undefined;
  role?: 'list' | 'listbox' | 'tree' | 'log';
  class?: string;
  onKeyDown?(event: KeyboardEvent): void;
}): VNode {
  const { rows, rowHeight, onEnd, reveal } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 0 });
  const first = Math.max(0, Math.floor(view.top / rowHeight) - SPARE_ROWS);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + SPARE_ROWS);

  const measure = () => {
    const element = box.current;
    if (element) setView({ top: element.scrollTop, height: element.clientHeight });
  };
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  // Fewer rows move the scroll position without an event in some browsers.
  useLayoutEffect(measure, [rows.length]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || reveal === undefined) return;
    const top = reveal * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
  }, [reveal]);

  const atEnd = view.height > 0 && last >= rows.length;
  useEffect(() => {
    if (atEnd) onEnd?.();
  }, [atEnd, rows.length]);

  return (
    <div
      class={`virtual ${props.class ?? ''}`}
      ref={box}
      onScroll={measure}
      {...(props.onKeyDown && { onKeyDown: props.onKeyDown })}
      role={props.role ?? 'list'}
      aria-label={props.label}
      tabIndex={0}
    >
      <div class="virtual-space" style={{ height: `${rows.length * rowHeight}px` }}>
        <div class="virtual-rows" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {rows.slice(first, last).map((row, at) => props.render(row, first + at))}
        </div>
      </div>
    </div>
  );
}
