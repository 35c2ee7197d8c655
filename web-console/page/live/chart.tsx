// A chart over time: lines on a canvas, and a legend with the values under the pointer, or the last ones. The colours are
// read from the legend's computed style, so that the style sheet decides about light and dark.

import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { colours } from '../parts/theme.ts';
import { clock } from '../parts/format.ts';

export interface Line {
  label: string;
  values: (number | null)[];
}

interface Props {
  title: string;
  /** Seconds since 1970 of the values. */
  at: number[];
  lines: Line[];
  show(value: number | null): string;
  /** A shorter format for the axis. */
  axis?(value: number): string;
  windowS: number;
  kind?: 'share' | 'logarithmic';
  note?: string;
}

/** The library and its style sheet are loaded with the first chart. */
const library = () =>
  Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')]).then(([module]) => module.default);

const HEIGHT_PX = 150;
const AXIS_PX = 58;

export function Chart(props: Props): VNode {
  const { title, at, lines, show, windowS, note } = props;
  const place = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const chart = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [hovered, setHovered] = useState<number | null>(null);

  useEffect(() => {
    let isGone = false;
    const stops: (() => void)[] = [];
    void library().then((Plot) => {
      const [target, swatches] = [place.current, legend.current];
      if (isGone || !target || !swatches) return;
      const plot = new Plot(
        options(latest, swatches, target.clientWidth, setHovered),
        columns(latest.current),
        target,
      );
      chart.current = plot;
      fit(plot, latest.current);
      const observer = new ResizeObserver(() =>
        plot.setSize({ width: target.clientWidth, height: HEIGHT_PX }),
      );
      observer.observe(target);
      stops.push(
        () => observer.disconnect(),
        colours.subscribe(() => plot.redraw(false, true)),
        () => plot.destroy(),
      );
    });
    return () => {
      isGone = true;
      chart.current = null;
      for (const stop of stops) stop();
    };
  }, []);

  useEffect(() => {
    if (!chart.current) return;
    chart.current.setData(columns(props), false);
    fit(chart.current, props);
  });

  const shown = hovered !== null && hovered < at.length ? hovered : at.length - 1;
  const valueOf = (line: Line, index: number) => show(line.values[index] ?? null);
  const spoken = lines.map((line) => `${line.label} ${valueOf(line, at.length - 1)}`).join(', ');
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <ul class="chart-legend" ref={legend} aria-hidden="true">
          {lines.map((line, index) => (
            <li key={line.label}>
              <span class={`swatch series-${index + 1}`} />
              {line.label !== '' && <span class="chart-label">{line.label}</span>}
              <span class="chart-value">{valueOf(line, shown)}</span>
            </li>
          ))}
        </ul>
      </figcaption>
      <div
        class="chart-place"
        ref={place}
        role="img"
        aria-label={`${title}, last ${windowS / 60} min: ${spoken}`}
      />
      {note !== undefined && <p class="chart-note">{note}</p>}
    </figure>
  );
}

function columns({ at, lines }: Props): uPlot.AlignedData {
  return [at, ...lines.map((line) => line.values)];
}

/** Shows the window that ends with the last point. */
function fit(plot: uPlot, { at, windowS }: Props): void {
  const last = at[at.length - 1] ?? Date.now() / 1000;
  plot.setScale('x', { min: last - windowS, max: last });
}

function options(
  latest: { current: Props },
  swatches: HTMLElement,
  width: number,
  hover: (index: number | null) => void,
): uPlot.Options {
  const { lines, kind, axis, show } = latest.current;
  const colour = (index: number) => {
    const swatch = swatches.children[index]?.firstElementChild;
    return swatch ? getComputedStyle(swatch).backgroundColor : 'gray';
  };
  const faint = () => getComputedStyle(swatches).borderTopColor;
  const text = () => getComputedStyle(swatches).color;
  const font = `11px ${getComputedStyle(swatches).fontFamily}`;
  const ends: Record<string, (min: number, max: number) => [number, number]> = {
    share: () => [0, 1],
    logarithmic: (min, max) => [
      10 ** Math.floor(Math.log10(min || 0.1)),
      10 ** Math.ceil(Math.log10((max || 10) * 1.01)),
    ],
  };
  const fromZero = (_: number, max: number): [number, number] => [0, max > 0 ? max * 1.12 : 1];
  const range = ends[kind ?? ''] ?? fromZero;
  const tick = (value: number | null) => (value === null ? '' : (axis ?? show)(value));
  const grid = { stroke: faint, width: 1 };
  return {
    width,
    height: HEIGHT_PX,
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: 'live' },
      drag: { x: false, y: false, setScale: false },
      y: false,
      points: { size: 7 },
    },
    hooks: { setCursor: [(plot) => hover((plot.cursor.left ?? -1) < 0 ? null : (plot.cursor.idx ?? null))] },
    scales: {
      x: { time: true },
      y: {
        ...(kind === 'logarithmic' ? { distr: 3 as const } : {}),
        range: (_, min, max) => range(min ?? 0, max ?? 0),
      },
    },
    axes: [
      {
        stroke: text,
        font,
        grid: { show: false },
        ticks: { ...grid, size: 4 },
        size: 26,
        gap: 2,
        values: clockTicks,
      },
      {
        stroke: text,
        font,
        grid,
        ticks: { show: false },
        size: AXIS_PX,
        gap: 6,
        space: 28,
        values: (_, splits) => splits.map(tick),
        ...(kind === 'logarithmic'
          ? { splits: (_: uPlot, __: number, min: number, max: number) => decades(min, max) }
          : {}),
      },
    ],
    series: [
      {},
      ...lines.map((line, index) => ({
        label: line.label,
        stroke: () => colour(index),
        width: 1.5,
        points: { show: false },
        ...(index === 0 && kind !== 'logarithmic' ? { fill: () => faded(colour(index)) } : {}),
      })),
    ],
  };
}

/** `rgb(1, 2, 3)` almost transparent. */
function faded(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.12)');
}

/** At most five powers of ten between two of them. */
function decades(min: number, max: number): number[] {
  const [first, last] = [Math.round(Math.log10(min)), Math.round(Math.log10(max))];
  const step = Math.max(1, Math.ceil((last - first) / 4));
  return Array.from(
    { length: Math.floor((last - first) / step) + 1 },
    (_, index) => 10 ** (first + index * step),
  );
}

/** Hours and minutes, and seconds if ticks are less than a minute apart. */
function clockTicks(_: uPlot, splits: number[], __: number, ___: number, apartS: number): string[] {
  return splits.map((second) => {
    const text = clock(second * 1000);
    return apartS < 60 ? text : text.slice(0, 5);
  });
}
