// A chart of a result: bars of a few rows, lines of many. Drawn as SVG in the text's own size, so that it needs no library.

import type { VNode } from 'preact';
import { axisOf, type ChartData } from './model.ts';

const [WIDTH, HEIGHT] = [720, 240];
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 12, 10, 28];
/** More rows than this are lines. */
const BARS_MAX = 24;
const LABELS_MAX = 8;
const LABEL_CHARACTERS_MAX = 14;

export function ResultChart(props: { data: ChartData }): VNode | null {
  const { labels, lines } = props.data;
  const values = lines.flatMap((line) => line.values.filter((value) => value !== null));
  if (values.length === 0) return null;
  const { low, high, ticks } = axisOf([...values, ...(labels.length <= BARS_MAX ? [0] : [])]);
  const y = (value: number) => TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const slot = (WIDTH - LEFT - RIGHT) / labels.length;
  const middle = (at: number) => LEFT + slot * (at + 0.5);
  const every = Math.ceil(labels.length / LABELS_MAX);
  return (
    <figure class="sql-chart">
      <figcaption>
        {lines.map((line, at) => (
          <span key={at}><span class={`sql-swatch sql-series-${at + 1}`} /> {line.name}</span>
        ))}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${lines.map((line) => line.name).join(', ')} of ${labels.length} rows`}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="sql-grid" x1={LEFT} x2={WIDTH - RIGHT} y1={y(tick)} y2={y(tick)} />
            <text class="sql-tick" x={LEFT - 8} y={y(tick) + 4} text-anchor="end">{shortNumber(tick)}</text>
          </g>
        ))}
        {labels.map((text, at) =>
          at % every === 0 ? (
            <text key={at} class="sql-tick" x={middle(at)} y={HEIGHT - 8} text-anchor="middle">{shortLabel(text)}</text>
          ) : null,
        )}
        {lines.map((line, number) =>
          labels.length <= BARS_MAX ? (
            <g key={number} class={`sql-series-${number + 1}`}>
              {line.values.map((value, at) => {
                if (value === null) return null;
                const width = (slot * 0.8) / lines.length;
                const [top, bottom] = [y(Math.max(value, 0)), y(Math.min(value, 0))];
                return (
                  <rect key={at} x={middle(at) - slot * 0.4 + width * number} y={top} width={width} height={Math.max(bottom - top, 1)}>
                    <title>{`${labels[at]}: ${line.name} ${value}`}</title>
                  </rect>
                );
              })}
            </g>
          ) : (
            <path key={number} class={`sql-line sql-series-${number + 1}`} d={pathOf(line.values, middle, y)} />
          ),
        )}
      </svg>
    </figure>
  );
}

/** A line with a gap where a value is missing. */
function pathOf(values: (number | null)[], x: (at: number) => number, y: (value: number) => number): string {
  let isDown = false;
  return values
    .map((value, at) => {
      const step = value === null ? '' : `${isDown ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = value !== null;
      return step;
    })
    .join('');
}

function shortNumber(value: number): string {
  return Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(1) : value.toLocaleString('en-US');
}

function shortLabel(text: string): string {
  return text.length > LABEL_CHARACTERS_MAX ? `${text.slice(0, LABEL_CHARACTERS_MAX - 1)}…` : text;
}
