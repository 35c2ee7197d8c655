// Which rows of a long list are in sight, and how far a very long one must be squeezed.
//
// Browsers cap the height of an element (Firefox at some 17 million pixels). Beyond HEIGHT_MAX the scroll bar
// therefore stands for more rows than its pixels, and rows are placed relative to where it is.

export const HEIGHT_MAX = 8_000_000;
/** Rows drawn above and below those in sight, so that a short scroll shows no gap. */
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

/** Where to scroll so that the row is in sight; the present place if it is already. */
export function scrollFor(
  row: number,
  scrollTop: number,
  viewport: number,
  rows: number,
  rowHeight: number,
): number {
  const full = rows * rowHeight;
  const height = Math.min(full, HEIGHT_MAX);
  const inSight = viewport / rowHeight;
  const squeeze = full <= HEIGHT_MAX ? rowHeight : (height - viewport) / (rows - inSight);
  const position = scrollTop / squeeze;
  if (row < position) return row * squeeze;
  if (row + 1 > position + inSight) return (row + 1 - inSight) * squeeze;
  return scrollTop;
}
