// Virtual scrolling: the visible rows of a long list, and the scale of a very long one.
//
// Browsers limit the height of an element (Firefox to some 17 million pixels). Beyond HEIGHT_MAX one pixel of the scroll
// bar therefore stands for more than one pixel of rows, and rows are placed relative to the scroll position.

export const HEIGHT_MAX = 8_000_000;
/** Rows drawn above and below the visible ones, so that a short scroll shows no gap. */
const OVERSCAN = 8;

export type RowWindow = {
  first: number;
  end: number;
  /** Pixels from the top of the scrolled content to row `first`. */
  top: number;
  /** Pixels of the scrolled content. */
  height: number;
};

export function windowOf(scrollTop: number, viewport: number, rows: number, rowHeight: number): RowWindow {
  const full = rows * rowHeight;
  const height = Math.min(full, HEIGHT_MAX);
  const position =
    full <= HEIGHT_MAX
      ? scrollTop / rowHeight
      : (scrollTop / Math.max(1, height - viewport)) * (rows - viewport / rowHeight);
  const first = Math.max(0, Math.min(Math.floor(position) - OVERSCAN, rows));
  const end = Math.max(first, Math.min(rows, Math.ceil(position + viewport / rowHeight) + OVERSCAN));
  return { first, end, top: scrollTop - (position - first) * rowHeight, height };
}

/** The scroll position that makes the row visible; the present one if it is visible already. */
export function scrollFor(
  row: number,
  scrollTop: number,
  viewport: number,
  rows: number,
  rowHeight: number,
): number {
  const full = rows * rowHeight;
  const height = Math.min(full, HEIGHT_MAX);
  const visibleRows = viewport / rowHeight;
  const scale = full <= HEIGHT_MAX ? rowHeight : (height - viewport) / (rows - visibleRows);
  const position = scrollTop / scale;
  if (row < position) return row * scale;
  if (row + 1 > position + visibleRows) return (row + 1 - visibleRows) * scale;
  return scrollTop;
}
