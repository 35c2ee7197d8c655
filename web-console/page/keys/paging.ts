// The cache of a large collection's pages: the pages in memory, and those to fetch.
//
// A list or sorted set is read by position, so that any page can be fetched alone and old ones evicted. A hash or set
// is read with a cursor: its pages come one after another, and the same member may come twice.

import type { Name } from './names.ts';

/** Elements per page. */
export const PAGE = 100;
/** Pages in memory of a collection that is read by position: some screens in both directions. */
const PAGES_MAX = 40;
/** Members in memory of a collection that is read with a cursor. Beyond them, the filter finds the wanted ones. */
export const MEMBERS_MAX = 50_000;

/** Pages by position. */
export class IndexedPages<T> {
  /** In the order of their last use, the oldest first. */
  private pages = new Map<number, T[]>();
  private awaited = new Set<number>();

  constructor(public length: number) {}

  at(index: number): T | undefined {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /**
   * The pages to fetch for the rows from `first` to `end`, `end` excluded. They count as requested even if reading
   * fails: otherwise each drawing would request them again.
   */
  wanted(first: number, end: number): number[] {
    const wanted: number[] = [];
    const last = Math.floor((Math.min(end, this.length) - 1) / PAGE);
    for (let page = Math.floor(Math.max(0, first) / PAGE); page <= last; page += 1) {
      const held = this.pages.get(page);
      if (held !== undefined) {
        this.pages.delete(page);
        this.pages.set(page, held);
      } else if (!this.awaited.has(page)) {
        this.awaited.add(page);
        wanted.push(page);
      }
    }
    return wanted;
  }

  put(page: number, rows: T[]): void {
    this.awaited.delete(page);
    this.pages.set(page, rows);
    for (const oldest of this.pages.keys()) {
      if (this.pages.size <= PAGES_MAX) break;
      this.pages.delete(oldest);
    }
  }
}

/** Members read with a cursor, each once. */
export class ScannedPages<T> {
  rows: T[] = [];
  cursor = '0';
  done = false;
  private places = new Map<Name, number>();

  /** A member that comes again stays in its row and takes the newer value. */
  put(cursor: string, found: { name: Name; row: T }[]): void {
    for (const { name, row } of found) {
      const place = this.places.get(name);
      if (place === undefined) {
        this.places.set(name, this.rows.length);
        this.rows.push(row);
      } else {
        this.rows[place] = row;
      }
    }
    this.cursor = cursor;
    this.done = cursor === '0';
  }

  get full(): boolean {
    return this.rows.length >= MEMBERS_MAX;
  }
}
