// Rows as a graph: which columns make edges, and the nodes and edges of several results together. Nothing here draws or talks to a server.

import { type Cell, hexOf, shownCell } from './model.ts';

export interface Rows {
  columns: string[];
  rows: Cell[][];
}

/** A name and its value as it is shown. */
export type Property = [name: string, value: string];

export interface GraphNode {
  /** Its value as text: values of different types with one text are one node. */
  id: string;
  /** Its value as it was first seen, for queries. */
  cell: Cell;
  /** Which of its edges come in and go out. */
  edges: GraphEdge[];
  properties: Property[];
}

export interface GraphEdge {
  /** Nodes' ids. */
  source: string;
  target: string;
  type: string;
  weight: string;
  properties: Property[];
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  /** Types of edges, the most frequent first. */
  types: string[];
  /** What was left out, because there are too many. */
  nodesLeft: number;
  edgesLeft: number;
}

/** More nodes are not drawn: nobody can read them, and their layout would take seconds. */
export const NODES_MAX = 500;
export const EDGES_MAX = 2000;

/** The columns of edges: those of `source` and `target`, or of a walk's `previous` and `node`. */
interface Shape {
  source: number;
  target: number;
  type: number | undefined;
  weight: number | undefined;
  others: number[];
  /** What else a row has describes the node that the walk came to, and not the edge. */
  isWalk: boolean;
}

const ENDS: [source: string, target: string, isWalk: boolean][] = [
  ['source', 'target', false],
  ['previous', 'node', true],
];

function shapeOf(columns: string[]): Shape | undefined {
  const names = columns.map((column) => column.toLowerCase());
  const at = (name: string): number | undefined => (names.includes(name) ? names.indexOf(name) : undefined);
  for (const [from, to, isWalk] of ENDS) {
    const [source, target, type, weight] = [at(from), at(to), at('type'), at('weight')];
    if (source === undefined || target === undefined) continue;
    const others = names.map((_, index) => index).filter((index) => ![source, target, type, weight].includes(index));
    return { source, target, type, weight, others, isWalk };
  }
  return undefined;
}

/** Whether the rows of a result make a graph. */
export function isGraph(columns: string[]): boolean {
  return shapeOf(columns) !== undefined;
}

/** The nodes and edges of all results, in the order in which they occur; an edge that occurs again is one. */
export function graphOf(results: Rows[]): Graph {
  const nodes = new Map<string, GraphNode>();
  const edges = new Map<string, GraphEdge>();
  const missed = { nodes: new Set<string>(), edges: new Set<string>() };
  const nodeOf = (cell: Cell): GraphNode | undefined => {
    const id = shownCell(cell);
    const known = nodes.get(id);
    if (known) return known;
    if (nodes.size >= NODES_MAX) {
      missed.nodes.add(id);
      return undefined;
    }
    const node = { id, cell, edges: [], properties: [] };
    nodes.set(id, node);
    return node;
  };
  const addRow = (columns: string[], row: Cell[], shape: Shape): void => {
    const cellAt = (index: number | undefined): Cell => (index === undefined ? undefined : row[index]) ?? { kind: 'null' };
    const textAt = (index: number | undefined): string => (cellAt(index).kind === 'null' ? '' : shownCell(cellAt(index)));
    const properties = shape.others.filter((index) => cellAt(index).kind !== 'null').map((index): Property => [columns[index] ?? '', textAt(index)]);
    const [from, to] = [cellAt(shape.source), cellAt(shape.target)];
    const source = from.kind === 'null' ? undefined : nodeOf(from);
    const target = to.kind === 'null' ? undefined : nodeOf(to);
    if (shape.isWalk && target && target.properties.length === 0) target.properties = properties;
    if (from.kind === 'null' || to.kind === 'null') return;
    const type = textAt(shape.type);
    const key = JSON.stringify([shownCell(from), shownCell(to), type]);
    if (edges.has(key)) return;
    if (!source || !target || edges.size >= EDGES_MAX) {
      missed.edges.add(key);
      return;
    }
    const edge = { source: source.id, target: target.id, type, weight: textAt(shape.weight), properties: shape.isWalk ? [] : properties };
    edges.set(key, edge);
    source.edges.push(edge);
    if (target !== source) target.edges.push(edge);
  };
  for (const { columns, rows } of results) {
    const shape = shapeOf(columns);
    if (shape) for (const row of rows) addRow(columns, row, shape);
  }
  const all = [...edges.values()];
  return { nodes: [...nodes.values()], edges: all, types: typesOf(all), nodesLeft: missed.nodes.size, edgesLeft: missed.edges.size };
}

function typesOf(edges: GraphEdge[]): string[] {
  const counts = new Map<string, number>();
  for (const { type } of edges) if (type !== '') counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one).map(([type]) => type);
}

/** A table that a node is looked up in: as an end of edges, or as a row of its own. */
export interface Lookup {
  table: string;
  columns: string[];
}

/** Columns by which a table of nodes is known, besides `id`. */
const OF_NODES = ['label', 'properties'];

/** The tables and views that have edges, and those that have nodes; the ones that are named so come first. */
export function lookupsOf(tables: { name: string; columns: { name: string }[] }[]): { edges: Lookup[]; nodes: Lookup[] } {
  const all = tables.map((table): Lookup => ({ table: table.name, columns: table.columns.map((column) => column.name) }));
  const has = (lookup: Lookup, name: string): boolean => lookup.columns.some((column) => column.toLowerCase() === name);
  const named = (word: string) => (one: Lookup, other: Lookup) => Number(other.table.toLowerCase().includes(word)) - Number(one.table.toLowerCase().includes(word));
  return {
    edges: all.filter((each) => has(each, 'source') && has(each, 'target')).sort(named('edge')),
    nodes: all.filter((each) => has(each, 'id') && OF_NODES.some((name) => has(each, name))).sort(named('node')),
  };
}

/** Edges that one expansion adds. */
export const EXPAND_MAX = 200;

/** The edges of a node, both ways; one more than are shown, so that one knows whether there are more. */
export function edgesQuery(lookup: Lookup, node: Cell): string {
  const value = literalOf(node);
  return `SELECT * FROM ${quoted(lookup.table)} WHERE source = ${value} OR target = ${value} LIMIT ${EXPAND_MAX + 1}`;
}

export function nodeQuery(lookup: Lookup, node: Cell): string {
  return `SELECT * FROM ${quoted(lookup.table)} WHERE id = ${literalOf(node)} LIMIT 1`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The value as SQL. A text with a zero character has no literal of its own. */
function literalOf(cell: Cell): string {
  switch (cell.kind) {
    case 'null':
      return 'NULL';
    case 'integer':
      return String(cell.value);
    case 'blob':
      return `x'${hexOf(cell.bytes)}'`;
    case 'real':
      // Infinities are no literals either.
      return /^[-+]?\d/.test(cell.text) ? cell.text : `${cell.text.startsWith('-') ? '-' : ''}9e999`;
    case 'text':
      return cell.text.includes('\0') ? `CAST(x'${hexOf(new TextEncoder().encode(cell.text))}' AS TEXT)` : `'${cell.text.replaceAll("'", "''")}'`;
  }
}
