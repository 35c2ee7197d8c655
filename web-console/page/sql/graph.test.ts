import { expect, test } from 'vitest';
import { EDGES_MAX, edgesQuery, graphOf, isGraph, lookupsOf, nodeQuery, NODES_MAX } from './graph.ts';
import { fitted, nextIn, showing, strokeOf, zoomed } from './graph-frame.ts';
import { layout } from './graph-layout.ts';
import type { Cell } from './model.ts';

const cell = (value: string | number | null): Cell => {
  if (value === null) return { kind: 'null' };
  return typeof value === 'number' ? { kind: 'integer', value: BigInt(value) } : { kind: 'text', text: value };
};
const rows = (columns: string, ...values: (string | number | null)[][]) => ({ columns: columns.split(' '), rows: values.map((row) => row.map(cell)) });

test('rows with two ends are edges', () => {
  expect(isGraph(['a', 'Source', 'TARGET'])).toBe(true);
  expect(isGraph(['node', 'previous'])).toBe(true);
  expect(isGraph(['source', 'node'])).toBe(false);
  const graph = graphOf([
    rows('source type target weight since', ['a', 'knows', 'b', 2, 1999], ['b', 'likes', 'a', null, null], ['a', 'knows', 'b', 3, 2000], ['c', null, null, null, null]),
  ]);
  expect(graph.nodes.map((node) => [node.id, node.edges.length])).toEqual([['a', 2], ['b', 2], ['c', 0]]);
  expect(graph.edges).toEqual([
    { source: 'a', target: 'b', type: 'knows', weight: '2', properties: [['since', '1999']] },
    { source: 'b', target: 'a', type: 'likes', weight: '', properties: [] },
  ]);
  expect(graph.types).toEqual(['knows', 'likes']);
});

test('a step of a walk is an edge from the node before, and describes the node that it came to', () => {
  const graph = graphOf([rows('node depth type previous path', ['a', 0, null, null, 'a'], ['b', 1, 'knows', 'a', 'a>b'])]);
  expect(graph.edges).toEqual([{ source: 'a', target: 'b', type: 'knows', weight: '', properties: [] }]);
  expect(graph.nodes[1]?.properties).toEqual([['depth', '1'], ['path', 'a>b']]);
  expect(graph.nodes[0]?.properties).toEqual([['depth', '0'], ['path', 'a']]);
});

test('results are one graph, a loop is one edge of its node', () => {
  const graph = graphOf([rows('source target', [1, 2]), rows('target source', [3, '2'], [3, 3], [2, 1])]);
  expect(graph.nodes.map((node) => node.id)).toEqual(['1', '2', '3']);
  expect(graph.edges.map((edge) => `${edge.source}>${edge.target}`)).toEqual(['1>2', '2>3', '3>3']);
  expect(graph.nodes[2]?.edges.length).toBe(2);
});

test('no more are drawn than one can read, and the others are counted', () => {
  const many = graphOf([rows('source target', ...Array.from({ length: NODES_MAX + 10 }, (_, at) => [at, at + 1]))]);
  expect([many.nodes.length, many.nodesLeft, many.edges.length, many.edgesLeft]).toEqual([NODES_MAX, 11, NODES_MAX - 1, 11]);
  const dense = graphOf([rows('source target', ...Array.from({ length: EDGES_MAX + 5 }, (_, at) => [at % 60, Math.floor(at / 60)]))]);
  expect([dense.edges.length, dense.edgesLeft]).toEqual([EDGES_MAX, 5]);
});

test('a node is looked up by its value as SQL', () => {
  const table = { table: 'my "edge"', columns: [] };
  expect(edgesQuery(table, cell("O'Hara"))).toBe(`SELECT * FROM "my ""edge""" WHERE source = 'O''Hara' OR target = 'O''Hara' LIMIT 201`);
  expect(nodeQuery(table, cell(7))).toContain('WHERE id = 7 LIMIT 1');
  expect(nodeQuery(table, { kind: 'blob', bytes: Uint8Array.of(255) })).toContain("WHERE id = x'ff' ");
  expect(nodeQuery(table, { kind: 'real', text: '-inf' })).toContain('WHERE id = -9e999 ');
  expect(nodeQuery(table, { kind: 'text', text: 'a\0' })).toContain("WHERE id = CAST(x'6100' AS TEXT) ");
});

test('tables of edges and nodes are known by their columns', () => {
  const table = (name: string, ...columns: string[]) => ({ name, columns: columns.map((column) => ({ name: column })) });
  const found = lookupsOf([table('road', 'source', 'target'), table('sale', 'id', 'total'), table('graph_node', 'id', 'label', 'properties'), table('graph_edge', 'SOURCE', 'type', 'TARGET')]);
  expect(found.edges.map((each) => each.table)).toEqual(['graph_edge', 'road']);
  expect(found.nodes.map((each) => each.table)).toEqual(['graph_node']);
});

test('the same rows are the same picture, and nodes that stand stay close', () => {
  const ring = rows('source target', ...Array.from({ length: 40 }, (_, at) => [at, (at + 1) % 40]));
  const first = layout(graphOf([ring]), new Map());
  expect(layout(graphOf([ring]), new Map())).toEqual(first);
  const places = [...first.values()];
  const distances = places.flatMap((one, at) => places.slice(at + 1).map((other) => Math.hypot(one.x - other.x, one.y - other.y)));
  expect(Math.min(...distances)).toBeGreaterThan(30);
  const grown = layout(graphOf([ring, rows('source target', [0, 'new'])]), first);
  const moves = [...first].map(([id, { x, y }]) => Math.hypot(x - grown.get(id)!.x, y - grown.get(id)!.y));
  expect(Math.max(...moves)).toBeLessThan(120);
  expect(grown.get('new')).toBeDefined();
});

test('what is under the pointer stays there while one zooms', () => {
  const frame = { x: 10, y: 20, scale: 1 };
  const near = zoomed(frame, 2, { x: 110, y: 70 });
  expect(near).toEqual({ scale: 2, x: -90, y: -30 });
  expect(zoomed(frame, 1e9, { x: 0, y: 0 }).scale).toBe(8);
  expect(zoomed(frame, 1e-9, { x: 0, y: 0 }).scale).toBe(0.05);
});

test('everything fits, and a single node stands in the middle', () => {
  const size = { width: 600, height: 400 };
  expect(fitted([{ x: 5, y: 5 }], size)).toEqual({ scale: 1.6, x: 292, y: 192 });
  expect(fitted([], size)).toEqual({ scale: 1, x: 300, y: 200 });
  const wide = fitted([{ x: -1000, y: 0 }, { x: 1000, y: 100 }], size);
  expect(-1000 * wide.scale + wide.x).toBeCloseTo(56);
  expect(1000 * wide.scale + wide.x).toBeCloseTo(544);
  expect(showing({ x: 0, y: 0, scale: 1 }, { x: 700, y: 100 }, size)).toEqual({ x: -156, y: 0, scale: 1 });
});

test('arrows go to the nearest node that way', () => {
  const places = new Map([['a', { x: 0, y: 0 }], ['right', { x: 50, y: 10 }], ['far', { x: 100, y: 0 }], ['up', { x: 5, y: -80 }]]);
  expect(nextIn('ArrowRight', 'a', places)).toBe('right');
  expect(nextIn('ArrowUp', 'a', places)).toBe('up');
  expect(nextIn('ArrowLeft', 'a', places)).toBeUndefined();
});

test('a single edge is straight and ends at the rim of its node', () => {
  const stroke = strokeOf({ x: 0, y: 0 }, { x: 100, y: 0 }, 10, 0, 1);
  expect(stroke.line).toBe('M0.0 0.0Q50.0 0.0 90.0 0.0');
  expect(stroke.label).toEqual({ x: 50, y: 0 });
  expect(strokeOf({ x: 0, y: 0 }, { x: 100, y: 0 }, 10, 0, 2).label.y).toBe(-15);
  expect(strokeOf({ x: 0, y: 0 }, { x: 100, y: 0 }, 10, 1, 2).label.y).toBe(15);
  expect(strokeOf({ x: 5, y: 5 }, { x: 5, y: 5 }, 10, 0, 1).line).toMatch(/^M.*C/);
});
