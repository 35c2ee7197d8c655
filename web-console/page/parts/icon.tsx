// The icons: paths in a box of 16 by 16, in the colour of the text.

const PATHS = {
  add: 'M8 3v10M3 8h10',
  check: 'M3 8.5l3.2 3.2L13 5',
  clear: 'M3 13h10M5 10l6-6 2.5 2.5-4 4H6.5z',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M6 6h7v7H6zM10 6V3H3v7h3',
  down: 'M4 6l4 4 4-4',
  edit: 'M3 13l.6-2.7L10.9 3l2.1 2.1-7.3 7.3z',
  functions: 'M4.5 3h1.6l4.9 10M7.6 7L4 13',
  live: 'M2 9h2.5L6.5 4l3 8 2-5H14',
  keys: 'M2.5 4h4v3h-4zM9.5 9h4v3h-4zM4.5 7v3.5h5',
  menu: 'M3 4h10M3 8h10M3 12h10',
  monitor: 'M2 3.5h12v7H2zM6 13.5h4M8 10.5v3',
  moon: 'M12.6 9.7A5.2 5.2 0 0 1 6.3 3.4a5.2 5.2 0 1 0 6.3 6.3z',
  play: 'M5 3.5v9l7-4.5z',
  plug: 'M6 2v3M10 2v3M4 5h8v2.5a4 4 0 0 1-8 0zM8 11.5V14',
  pubsub: 'M8 9.2a1.2 1.2 0 1 0 0-2.4 1.2 1.2 0 0 0 0 2.4M4.8 4.8a4.5 4.5 0 0 0 0 6.4M11.2 4.8a4.5 4.5 0 0 1 0 6.4M2.7 2.7a7.5 7.5 0 0 0 0 10.6M13.3 2.7a7.5 7.5 0 0 1 0 10.6',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.5M13 2.5V5h-2.5',
  right: 'M6 4l4 4-4 4',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.3 10.3l3.2 3.2',
  stop: 'M4.5 4.5h7v7h-7z',
  sun: 'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1',
  table: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M2.5 9.5h11M6.5 3.5v9',
  terminal: 'M3 4l4 4-4 4M8 12h5',
  trash: 'M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5',
  upload: 'M8 11V3M5 6l3-3 3 3M3 13h10',
  users: 'M6 7.5a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5M2 13c0-2.2 1.8-3.5 4-3.5s4 1.3 4 3.5M10.5 7.2a2 2 0 0 0 0-3.9M11.5 9.7c1.5.4 2.5 1.6 2.5 3.3',
  auto: 'M8 13a5 5 0 1 0 0-10 5 5 0 0 0 0 10M8 3v10M10.5 4v8',
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration only: the text or label beside it carries the meaning. */
export function Icon(props: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[props.name]} fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
