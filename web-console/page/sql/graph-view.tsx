// A result as a graph: the picture, what is known of the chosen node, and where more of it comes from.

import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import * as format from '../parts/format.ts';
import { EDGES_MAX, type Graph, graphOf, type Lookup, lookupsOf, NODES_MAX, type Rows } from './graph.ts';
import type { Point } from './graph-layout.ts';
import { NodePanel } from './graph-node.tsx';
import { type Controls, GraphPicture, TYPES_COLOURED, ZOOM_STEP } from './graph-picture.tsx';
import { tables } from './store.ts';
import './graph.css';

interface Placed {
  graph: Graph;
  places: ReadonlyMap<string, Point>;
}

/** `result.columns` is another array for each text that runs; more rows of the same text add to the picture. */
export function GraphView({ result }: { result: Rows }): VNode {
  const { columns } = result;
  const [expanded, setExpanded] = useState<{ of: string[]; results: Rows[] }>({ of: columns, results: [] });
  const added = expanded.of === columns ? expanded.results : [];
  const graph = useMemo(() => graphOf([result, ...added]), [result, expanded]);
  const placed = usePlaces(graph, columns);
  const [chosen, choose] = useState<string | undefined>(undefined);
  const controls = useRef<Controls>(undefined);
  const lookups = lookupsOf(tables.value);
  const [edgesTable, setEdgesTable] = useState('');
  const [nodesTable, setNodesTable] = useState('');
  const edgesFrom = lookups.edges.find((each) => each.table === edgesTable) ?? lookups.edges[0];
  const nodesFrom = lookups.nodes.find((each) => each.table === nodesTable) ?? lookups.nodes[0];
  const close = (id: string): void => {
    choose(undefined);
    controls.current?.focus(id);
  };
  const node = placed?.graph.nodes.find((each) => each.id === chosen);
  return (
    <figure class="graph" aria-label="Graph">
      <figcaption>
        <span role="status">{summaryOf(graph)}</span>
        <Legend types={graph.types} />
        <span class="tools">
          <LookupChoice label="Edges" all={lookups.edges} chosen={edgesFrom} onChoose={setEdgesTable} />
          <LookupChoice label="Nodes" all={lookups.nodes} chosen={nodesFrom} onChoose={setNodesTable} />
          <button type="button" class="button small" aria-label="Enlarge" title="Enlarge (+)" onClick={() => controls.current?.zoom(ZOOM_STEP)}>+</button>
          <button type="button" class="button small" aria-label="Reduce" title="Reduce (-)" onClick={() => controls.current?.zoom(1 / ZOOM_STEP)}>−</button>
          <button type="button" class="button small" title="Show all of it (0)" onClick={() => controls.current?.fit()}>Fit</button>
        </span>
      </figcaption>
      {graph.nodesLeft + graph.edgesLeft > 0 && <p class="graph-note">{leftText(graph)}</p>}
      <div class={node ? 'graph-columns has-node' : 'graph-columns'}>
        {placed ? (
          <GraphPicture {...placed} selected={node?.id} onSelect={choose} controls={controls} />
        ) : (
          <div class="graph-picture" aria-busy="true" />
        )}
        {node && placed && (
          <NodePanel
            key={node.id} graph={placed.graph} node={node} edgesFrom={edgesFrom} nodesFrom={nodesFrom}
            onGo={(id) => {
              choose(id);
              controls.current?.focus(id);
            }}
            onAdd={(rows) => setExpanded({ of: columns, results: [...added, rows] })}
            onClose={() => close(node.id)}
          />
        )}
      </div>
      <p id="graph-keys" class="graph-keys">
        Drag or arrows move, the wheel or + and − zoom, 0 shows all. Enter goes to the nodes; there arrows go from node to node, Enter shows one.
      </p>
    </figure>
  );
}

/** The graph with its places, once they are computed; those of another text are no beginning for them. */
function usePlaces(graph: Graph, of: string[]): Placed | undefined {
  const [placed, setPlaced] = useState<(Placed & { of: string[] }) | undefined>(undefined);
  useEffect(() => {
    let isWanted = true;
    void import('./graph-layout.ts').then(({ layout }) => {
      if (!isWanted) return;
      setPlaced((before) => ({ graph, of, places: layout(graph, before?.of === of ? before.places : new Map()) }));
    });
    return () => {
      isWanted = false;
    };
  }, [graph]);
  return placed?.of === of ? placed : undefined;
}

function summaryOf({ nodes, edges }: Graph): string {
  return `${countOf(nodes.length, 'node')}, ${countOf(edges.length, 'edge')}`;
}

function countOf(count: number, unit: string): string {
  return `${format.whole(count)} ${unit}${count === 1 ? '' : 's'}`;
}

function leftText({ nodesLeft, edgesLeft }: Graph): string {
  const left = [nodesLeft > 0 ? countOf(nodesLeft, 'node') : '', edgesLeft > 0 ? countOf(edgesLeft, 'edge') : ''].filter((text) => text !== '').join(' and ');
  return `${left} more are not drawn: a picture has up to ${format.whole(NODES_MAX)} nodes and ${format.whole(EDGES_MAX)} edges. WHERE or LIMIT choose others.`;
}

function Legend({ types }: { types: string[] }): VNode {
  const others = types.length - TYPES_COLOURED;
  return (
    <>
      {types.slice(0, TYPES_COLOURED).map((type, at) => (
        <span key={type} class="graph-type"><span class={`sql-swatch sql-series-${at + 1}`} /> {type}</span>
      ))}
      {others > 0 && <span class="graph-type"><span class="sql-swatch graph-other" /> {countOf(others, 'other type')}</span>}
    </>
  );
}

/** Which table, if there are several. */
function LookupChoice(props: { label: string; all: Lookup[]; chosen: Lookup | undefined; onChoose(table: string): void }): VNode | null {
  if (props.all.length < 2) return null;
  return (
    <label class="graph-choice">
      <span>{props.label} from</span>
      <select class="select" value={props.chosen?.table ?? ''} onChange={(event) => props.onChoose(event.currentTarget.value)}>
        {props.all.map(({ table }) => <option key={table} value={table}>{table}</option>)}
      </select>
    </label>
  );
}
