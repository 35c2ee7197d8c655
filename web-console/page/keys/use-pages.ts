// Hooks that fetch the pages of a collection as they become visible (by position) or one after another (by cursor).

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Client } from '../connection/client.ts';
import { connection } from '../connection/state.ts';
import type { Name } from './names.ts';
import { IndexedPages, PAGE, ScannedPages } from './paging.ts';
import { problemIn } from './replies.ts';

export type Indexed<T> = {
  at(index: number): T | undefined;
  onWindow(first: number, end: number): void;
  problem: string;
  /** Drops all pages: after a write, positions may have moved. */
  reload(): void;
};

/** `read` fetches the positions from `start` to `stop`, both included. Another `order` drops all pages. */
export function useIndexedPages<T>(
  length: number,
  order: string,
  read: (client: Client, start: number, stop: number) => Promise<T[]>,
): Indexed<T> {
  const [, draw] = useState(0);
  const [problem, setProblem] = useState('');
  const [round, setRound] = useState(0);
  const pages = useRef(new IndexedPages<T>(length));
  const made = useRef('');
  const now = `${length} ${order} ${round}`;
  if (made.current !== now) {
    made.current = now;
    pages.current = new IndexedPages<T>(length);
  }
  const fetchPage = async (into: IndexedPages<T>, page: number): Promise<void> => {
    try {
      into.put(page, await read(await connection.client(), page * PAGE, page * PAGE + PAGE - 1));
      setProblem('');
    } catch (error) {
      // The page still counts as requested, or each drawing would request it again. Reloading does.
      setProblem(problemIn(error));
    }
    draw((count) => count + 1);
  };
  return {
    at: (index) => pages.current.at(index),
    onWindow: (first, end) => {
      const into = pages.current;
      for (const page of into.wanted(first, end)) void fetchPage(into, page);
    },
    problem,
    reload: () => setRound((count) => count + 1),
  };
}

export type Scanned<T> = {
  rows: T[];
  done: boolean;
  full: boolean;
  busy: boolean;
  problem: string;
  more(): void;
  reload(): void;
};

/** `read` takes a cursor and returns the next one and the members found. Another `filter` starts again. */
export function useScannedPages<T>(
  filter: string,
  read: (client: Client, cursor: string) => Promise<{ cursor: string; found: { name: Name; row: T }[] }>,
): Scanned<T> {
  const [pages, setPages] = useState(() => new ScannedPages<T>());
  const [, draw] = useState(0);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const latest = useRef(pages);
  latest.current = pages;
  const fill = async (into: ScannedPages<T>, wanted: number): Promise<void> => {
    setBusy(true);
    setProblem('');
    try {
      const client = await connection.client();
      // A filter may leave batches empty: read on until a page is full.
      do {
        const { cursor, found } = await read(client, into.cursor);
        if (latest.current !== into) return;
        into.put(cursor, found);
        draw((count) => count + 1);
      } while (!into.done && !into.full && into.rows.length < wanted);
    } catch (error) {
      if (latest.current === into) setProblem(problemIn(error));
    } finally {
      if (latest.current === into) setBusy(false);
    }
  };
  const begin = (): void => {
    const fresh = new ScannedPages<T>();
    latest.current = fresh;
    setPages(fresh);
    void fill(fresh, PAGE);
  };
  useEffect(begin, [filter]);
  return {
    rows: pages.rows,
    done: pages.done,
    full: pages.full,
    busy,
    problem,
    more: () => {
      if (!busy && !pages.done && !pages.full && problem === '') void fill(pages, pages.rows.length + PAGE);
    },
    reload: begin,
  };
}
