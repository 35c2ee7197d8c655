// The part of a picture that is in sight: moved, enlarged around a point, and fitted to what is drawn. Screen = place × scale + offset.

import type { Point } from './graph-layout.ts';

export interface Frame {
  x: number;
  y: number;
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

const SCALE_MIN = 0.05;
const SCALE_MAX = 8;
/** A small graph is not blown up beyond this when it is fitted. */
const FIT_SCALE_MAX = 1.6;
/** Room at the edges, for labels. */
const MARGIN = 56;

export function moved(frame: Frame, dx: number, dy: number): Frame {
  return { ...frame, x: frame.x + dx, y: frame.y + dy };
}

/** Enlarges by a factor; what is at this point of the screen stays there. */
export function zoomed(frame: Frame, factor: number, at: Point): Frame {
  const scale = Math.min(SCALE_MAX, Math.max(SCALE_MIN, frame.scale * factor));
  const by = scale / frame.scale;
  return { scale, x: at.x - (at.x - frame.x) * by, y: at.y - (at.y - frame.y) * by };
}

/** All of the places in sight, in the middle. */
export function fitted(places: Iterable<Point>, size: Size): Frame {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y } of places) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  if (left > right) return { x: size.width / 2, y: size.height / 2, scale: 1 };
  const room = (length: number): number => Math.max(length - 2 * MARGIN, MARGIN);
  const wanted = Math.min(room(size.width) / Math.max(right - left, 1), room(size.height) / Math.max(bottom - top, 1), FIT_SCALE_MAX);
  const scale = Math.max(SCALE_MIN, wanted);
  return { scale, x: size.width / 2 - ((left + right) / 2) * scale, y: size.height / 2 - ((top + bottom) / 2) * scale };
}

/** The frame moved as little as needed so that a place is well in sight. */
export function showing(frame: Frame, place: Point, size: Size): Frame {
  const [x, y] = [place.x * frame.scale + frame.x, place.y * frame.scale + frame.y];
  const into = (at: number, length: number): number => Math.min(Math.max(at, Math.min(MARGIN, length / 2)), Math.max(length - MARGIN, length / 2)) - at;
  return moved(frame, into(x, size.width), into(y, size.height));
}

export type Direction = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown';

const WAYS: Record<Direction, [x: number, y: number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function isDirection(key: string): key is Direction {
  return Object.hasOwn(WAYS, key);
}

/** The nearest place in a direction: what is aside counts twice. Undefined if nothing is there. */
export function nextIn(direction: Direction, from: string, places: ReadonlyMap<string, Point>): string | undefined {
  const here = places.get(from);
  if (!here) return undefined;
  const [wx, wy] = WAYS[direction];
  let best: { id: string; far: number } | undefined;
  for (const [id, { x, y }] of places) {
    const ahead = (x - here.x) * wx + (y - here.y) * wy;
    const aside = Math.abs((x - here.x) * wy) + Math.abs((y - here.y) * wx);
    if (id === from || ahead <= 0 || aside > 2 * ahead) continue;
    const far = ahead + 2 * aside;
    if (!best || far < best.far) best = { id, far };
  }
  return best?.id;
}

/** How an edge is drawn: its line, the place of its label, and the head of its arrow. */
export interface Stroke {
  line: string;
  head: string;
  label: Point;
}

/** Edges between the same nodes bend apart by this. */
const BEND = 30;
const HEAD_LENGTH = 9;
const HEAD_WIDTH = 4;
const LOOP = 26;

/** `position` is that of the edge among `count` edges between its nodes. `radius` is of the node that the arrow points to. */
export function strokeOf(from: Point, to: Point, radius: number, position: number, count: number): Stroke {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  if (length < 1) return loopOf(from, radius, position);
  const bend = (position - (count - 1) / 2) * BEND;
  // The control point of a quadratic curve stands twice as far aside as its middle.
  const control = { x: (from.x + to.x) / 2 - (dy / length) * 2 * bend, y: (from.y + to.y) / 2 + (dx / length) * 2 * bend };
  const angle = Math.atan2(to.y - control.y, to.x - control.x);
  const tip = { x: to.x - Math.cos(angle) * radius, y: to.y - Math.sin(angle) * radius };
  const label = { x: (from.x + to.x) / 4 + control.x / 2, y: (from.y + to.y) / 4 + control.y / 2 };
  return { line: `M${text(from)}Q${text(control)} ${text(tip)}`, head: headOf(tip, angle), label };
}

function loopOf(at: Point, radius: number, position: number): Stroke {
  const far = LOOP + position * BEND;
  const start = { x: at.x - radius * 0.6, y: at.y - radius * 0.8 };
  const tip = { x: at.x + radius * 0.6, y: at.y - radius * 0.8 };
  const line = `M${text(start)}C${text({ x: at.x - far, y: at.y - 2 * far })} ${text({ x: at.x + far, y: at.y - 2 * far })} ${text(tip)}`;
  return { line, head: headOf(tip, Math.atan2(2 * far - radius, -far)), label: { x: at.x, y: at.y - 1.6 * far } };
}

function headOf(tip: Point, angle: number): string {
  const corner = (side: number): Point => ({
    x: tip.x - Math.cos(angle) * HEAD_LENGTH + Math.sin(angle) * side * HEAD_WIDTH,
    y: tip.y - Math.sin(angle) * HEAD_LENGTH - Math.cos(angle) * side * HEAD_WIDTH,
  });
  return `M${text(tip)}L${text(corner(1))}L${text(corner(-1))}Z`;
}

function text({ x, y }: Point): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
