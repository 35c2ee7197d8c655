// The picture of a graph: SVG that is moved and enlarged by mouse, wheel, fingers and keys.
//
// Only the transformation of one group changes while one moves the picture: what it draws is made again when the graph or the selection
// changes. Labels keep their size on the screen, since they take it from that group.

import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Graph, GraphEdge, GraphNode } from './graph.ts';
import { type Frame, fitted, isDirection, moved, nextIn, showing, type Size, strokeOf, zoomed } from './graph-frame.ts';
import type { Point } from './graph-layout.ts';

/** A pointer that moved less than this has clicked. */
const CLICK_REACH = 4;
/** One press of a key. */
const KEY_STEP = 48;
export const ZOOM_STEP = 1.3;
/** A wheel's pixels for a factor of e. */
const WHEEL_REACH = 400;
const LABEL_SIZE = 12;
/** From this scale on, and in small graphs, every label is shown; otherwise those of the nodes with the most edges. */
const NEAR_SCALE = 0.75;
const LABELS_FAR = 30;
const EDGE_LABELS_MAX = 80;
const LABEL_CHARACTERS_MAX = 28;
/** Types of edges that have a colour of their own. */
export const TYPES_COLOURED = 4;

/** What the buttons beside the picture do to it. */
export interface Controls {
  zoom(factor: number): void;
  fit(): void;
  focus(id: string): void;
}

export interface PictureProps {
  graph: Graph;
  places: ReadonlyMap<string, Point>;
  selected: string | undefined;
  onSelect(id: string | undefined): void;
  controls: { current: Controls | undefined };
}

export function GraphPicture(props: PictureProps): VNode {
  const { graph, places, selected, onSelect, controls } = props;
  const svg = useRef<SVGSVGElement>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [frame, setFrame] = useState<Frame>({ x: 0, y: 0, scale: 1 });
  /** The node that Tab goes to. */
  const [active, setActive] = useState<string | undefined>(undefined);
  /** A person has chosen the frame: it stays when nodes are added. */
  const isChosen = useRef(false);
  const change = (next: (frame: Frame) => Frame): void => {
    isChosen.current = true;
    setFrame(next);
  };
  const fit = (): void => {
    isChosen.current = false;
    setFrame(fitted(places.values(), size));
  };
  const middle = { x: size.width / 2, y: size.height / 2 };
  const focus = (id: string): void => {
    const place = places.get(id);
    if (!place) return;
    setActive(id);
    setFrame((now) => showing(now, place, size));
    // The attribute that lets it have the focus is there after the next drawing; it takes it by script before, too.
    svg.current?.querySelectorAll<SVGGElement>('.graph-node')[graph.nodes.findIndex((node) => node.id === id)]?.focus({ preventScroll: true });
  };
  controls.current = { zoom: (factor) => change((now) => zoomed(now, factor, middle)), fit, focus };

  useLayoutEffect(() => {
    const element = svg.current;
    if (!element) return undefined;
    const measure = (): void => setSize({ width: element.clientWidth, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (!isChosen.current) fit();
  }, [places, size]);
  const pointers = usePointers(svg, change);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const isNode = event.target !== svg.current && active !== undefined;
    if (isDirection(event.key)) {
      const [dx, dy] = { ArrowLeft: [KEY_STEP, 0], ArrowRight: [-KEY_STEP, 0], ArrowUp: [0, KEY_STEP], ArrowDown: [0, -KEY_STEP] }[event.key] as [number, number];
      const next = isNode ? nextIn(event.key, active, places) : undefined;
      if (next !== undefined) focus(next);
      else if (!isNode) change((now) => moved(now, dx, dy));
    } else if (event.key === '+' || event.key === '=') change((now) => zoomed(now, ZOOM_STEP, middle));
    else if (event.key === '-') change((now) => zoomed(now, 1 / ZOOM_STEP, middle));
    else if (event.key === '0') fit();
    else if (event.key === 'Escape') {
      onSelect(undefined);
      svg.current?.focus({ preventScroll: true });
    } else if (event.key === 'Enter' || event.key === ' ') {
      if (isNode) onSelect(active);
      else if (graph.nodes[0]) focus(active ?? graph.nodes[0].id);
    } else return;
    event.preventDefault();
  };

  const tabStop = active !== undefined && places.has(active) ? active : graph.nodes[0]?.id;
  const drawing = useMemo(
    () => (
      <Drawing
        graph={graph} places={places} selected={selected} tabStop={tabStop}
        onFocus={(id, isByKey) => {
          setActive(id);
          const place = places.get(id);
          if (isByKey && place) setFrame((now) => showing(now, place, { width: svg.current?.clientWidth ?? 0, height: svg.current?.clientHeight ?? 0 }));
        }}
        onChoose={(id) => {
          if (!pointers.hasMoved()) onSelect(id);
        }}
      />
    ),
    [graph, places, selected, tabStop],
  );
  const isNear = frame.scale >= NEAR_SCALE || graph.nodes.length <= LABELS_FAR;
  return (
    <svg
      ref={svg} class="graph-picture" role="application" tabindex={0} aria-label={`Graph: ${graph.nodes.length} nodes, ${graph.edges.length} edges`}
      aria-describedby="graph-keys"
      onKeyDown={onKeyDown}
      onClick={(event) => {
        if (event.target === svg.current && !pointers.hasMoved()) onSelect(undefined);
        pointers.rest();
      }}
      {...pointers.handlers}
    >
      <g transform={`translate(${frame.x} ${frame.y}) scale(${frame.scale})`} font-size={LABEL_SIZE / frame.scale} class={isNear ? '' : 'is-far'}>
        {drawing}
      </g>
    </svg>
  );
}

interface DrawingProps {
  graph: Graph;
  places: ReadonlyMap<string, Point>;
  selected: string | undefined;
  tabStop: string | undefined;
  onFocus(id: string, isByKey: boolean): void;
  onChoose(id: string): void;
}

function Drawing(props: DrawingProps): VNode {
  const { graph, places, selected, tabStop } = props;
  const near = new Set<string>();
  if (selected !== undefined) {
    near.add(selected);
    for (const { source, target } of graph.nodes.find((node) => node.id === selected)?.edges ?? []) near.add(source).add(target);
  }
  const main = new Set([...graph.nodes].sort((one, other) => other.edges.length - one.edges.length).slice(0, LABELS_FAR).map((node) => node.id));
  const radii = new Map(graph.nodes.map((node) => [node.id, radiusOf(node)]));
  const sides = sidesOf(graph.edges);
  const isOn = (id: string): boolean => selected === undefined || near.has(id);
  return (
    <>
      {graph.edges.map((edge, index) => {
        const [from, to] = [places.get(edge.source), places.get(edge.target)];
        if (!from || !to) return null;
        const { position, count } = sides[index] ?? { position: 0, count: 1 };
        const stroke = strokeOf(from, to, radii.get(edge.target) ?? 0, position, count);
        const touches = edge.source === selected || edge.target === selected;
        const label = cut([edge.type, edge.weight].filter((text) => text !== '').join(' · '));
        const colour = graph.types.indexOf(edge.type);
        return (
          <g
            key={index}
            class={`graph-edge ${colour >= 0 && colour < TYPES_COLOURED ? `sql-series-${colour + 1}` : ''} ${selected === undefined || touches ? '' : 'is-off'}`}
          >
            <title>{titleOf(edge)}</title>
            <path class="graph-line" d={stroke.line} />
            <path class="graph-head" d={stroke.head} />
            {label !== '' && (touches || (selected === undefined && graph.edges.length <= EDGE_LABELS_MAX)) && (
              <text class={touches ? 'graph-edge-label is-main' : 'graph-edge-label'} x={stroke.label.x} y={stroke.label.y} dy="0.35em" text-anchor="middle">{label}</text>
            )}
          </g>
        );
      })}
      {graph.nodes.map((node) => {
        const place = places.get(node.id);
        if (!place) return null;
        const radius = radii.get(node.id) ?? 0;
        const isSelected = node.id === selected;
        return (
          <g
            key={node.id}
            class={`graph-node${isSelected ? ' is-selected' : ''}${isOn(node.id) ? '' : ' is-off'}`}
            transform={`translate(${place.x.toFixed(1)} ${place.y.toFixed(1)})`}
            role="button" aria-pressed={isSelected} aria-label={`${node.id}, ${node.edges.length === 1 ? '1 edge' : `${node.edges.length} edges`}`}
            tabindex={node.id === tabStop ? 0 : -1}
            onFocus={(event) => props.onFocus(node.id, event.currentTarget.matches(':focus-visible'))}
            onClick={() => props.onChoose(node.id)}
          >
            <title>{node.id}</title>
            <circle class="graph-reach" r={radius + 8} />
            <circle class="graph-dot" r={radius} />
            <text class={`graph-label${main.has(node.id) || near.has(node.id) ? ' is-main' : ''}`} y={radius} dy="1.15em" text-anchor="middle">{cut(node.id)}</text>
          </g>
        );
      })}
    </>
  );
}

/** Nodes with many edges are larger. */
function radiusOf(node: GraphNode): number {
  return 7 + Math.min(11, 1.6 * Math.sqrt(node.edges.length));
}

/** The position of each edge among those between its nodes, whichever way they go. */
function sidesOf(edges: GraphEdge[]): { position: number; count: number }[] {
  const between = new Map<string, number>();
  const positions = edges.map((edge) => {
    const key = JSON.stringify([edge.source, edge.target].sort());
    const position = between.get(key) ?? 0;
    between.set(key, position + 1);
    return { key, position, isBack: edge.source > edge.target };
  });
  return positions.map(({ key, position, isBack }) => {
    const count = between.get(key) ?? 1;
    // The other way round left is right.
    return { position: isBack ? count - 1 - position : position, count };
  });
}

function titleOf({ source, target, type, weight, properties }: GraphEdge): string {
  const all = [...(type === '' ? [] : [['type', type]]), ...(weight === '' ? [] : [['weight', weight]]), ...properties];
  return [`${source} → ${target}`, ...all.map(([name, value]) => `${name}: ${cut(value ?? '')}`)].join('\n');
}

function cut(text: string): string {
  return text.length > LABEL_CHARACTERS_MAX ? `${text.slice(0, LABEL_CHARACTERS_MAX - 1)}…` : text;
}

/** Moves the frame by one pointer, and enlarges it by two or by the wheel. */
function usePointers(svg: { current: SVGSVGElement | null }, change: (next: (frame: Frame) => Frame) => void) {
  const held = useRef(new Map<number, Point>());
  const way = useRef(0);
  const latest = useRef(change);
  latest.current = change;
  const placeOf = (event: { clientX: number; clientY: number }): Point => {
    const box = svg.current?.getBoundingClientRect();
    return { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) };
  };
  useEffect(() => {
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      const pixels = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : event.deltaY * 16;
      latest.current((frame) => zoomed(frame, Math.exp(-pixels / WHEEL_REACH), placeOf(event)));
    };
    // The page must not scroll meanwhile: a listener that Preact adds could not prevent it.
    svg.current?.addEventListener('wheel', onWheel, { passive: false });
    return () => svg.current?.removeEventListener('wheel', onWheel);
  }, []);
  const onPointerMove = (event: PointerEvent): void => {
    const before = held.current.get(event.pointerId);
    if (!before) return;
    const now = placeOf(event);
    way.current += Math.hypot(now.x - before.x, now.y - before.y);
    held.current.set(event.pointerId, now);
    if (way.current < CLICK_REACH) return;
    // Before it moves, the click still belongs to the node below the pointer.
    svg.current?.setPointerCapture(event.pointerId);
    const other = [...held.current].find(([id]) => id !== event.pointerId)?.[1];
    if (!other) {
      latest.current((frame) => moved(frame, now.x - before.x, now.y - before.y));
      return;
    }
    const factor = Math.hypot(now.x - other.x, now.y - other.y) / Math.max(Math.hypot(before.x - other.x, before.y - other.y), 1);
    const at = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    // Half of the movement: the middle between both fingers moves so far.
    latest.current((frame) => zoomed(moved(frame, (now.x - before.x) / 2, (now.y - before.y) / 2), factor, at));
  };
  const onPointerEnd = (event: PointerEvent): void => void held.current.delete(event.pointerId);
  return {
    hasMoved: (): boolean => way.current >= CLICK_REACH,
    /** After a click: the next one may come from a screen reader, without a pointer. */
    rest: (): void => void (way.current = 0),
    handlers: {
      onPointerDown: (event: PointerEvent): void => {
        if (held.current.size === 0) way.current = 0;
        if (event.button === 0) held.current.set(event.pointerId, placeOf(event));
      },
      onPointerMove,
      onPointerUp: onPointerEnd,
      onPointerCancel: onPointerEnd,
      onPointerLeave: (event: PointerEvent): void => {
        if (!svg.current?.hasPointerCapture(event.pointerId)) onPointerEnd(event);
      },
    },
  };
}
