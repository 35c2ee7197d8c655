// What is known of a node: its properties, its edges as a list, and more of it from the tables of the database.

import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { looksLikeJson, prettyJson } from '../parts/json.ts';
import { problemOf } from '../resp/values.ts';
import { edgesQuery, EXPAND_MAX, type Graph, type GraphNode, type Lookup, nodeQuery, type Property, type Rows } from './graph.ts';
import { shownCell } from './model.ts';
import { lookUp } from './store.ts';

/** Edges in the list; the picture and the table have all of them. */
const EDGES_SHOWN = 50;
/** Characters of a value. */
const VALUE_SHOWN = 2000;

export interface NodeProps {
  graph: Graph;
  node: GraphNode;
  edgesFrom: Lookup | undefined;
  nodesFrom: Lookup | undefined;
  onGo(id: string): void;
  onAdd(rows: Rows): void;
  onClose(): void;
}

export function NodePanel(props: NodeProps): VNode {
  const { node, edgesFrom } = props;
  const stored = useStored(node, props.nodesFrom);
  const [isBusy, setBusy] = useState(false);
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState('');
  const expand = async (): Promise<void> => {
    if (!edgesFrom || isBusy) return;
    setBusy(true);
    setProblem('');
    try {
      const { columns, rows } = await lookUp(edgesQuery(edgesFrom, node.cell));
      props.onAdd({ columns, rows: rows.slice(0, EXPAND_MAX) });
      setSaid(rows.length > EXPAND_MAX ? `The first ${EXPAND_MAX} of its edges in ${edgesFrom.table} were added.` : `All of its edges in ${edgesFrom.table} were added.`);
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const properties = [...node.properties, ...stored.properties];
  return (
    <section
      class="graph-panel" aria-label={`Node ${node.id}`}
      onKeyDown={(event) => {
        if (event.key === 'Escape') props.onClose();
      }}
    >
      <header>
        <h3><bdi>{node.id === '' ? '(empty)' : node.id}</bdi></h3>
        <button type="button" class="button small" onClick={props.onClose}>Close</button>
      </header>
      {edgesFrom ? (
        <p>
          {/* A button that is disabled would lose the focus of the keyboard. */}
          <button type="button" class="button small primary" aria-disabled={isBusy} onClick={() => void expand()}>Expand</button>
        </p>
      ) : (
        <p class="sql-type">No table of this database has the columns source and target, from which it could be expanded.</p>
      )}
      <p class="sql-type" role="status">{said}</p>
      {[problem, stored.problem].filter((each) => each !== '').map((each) => <p key={each} class="sql-bad" role="alert">{each}</p>)}
      {properties.length > 0 && (
        <dl class="graph-properties">
          {properties.map(([name, value], at) => (
            <div key={at}><dt>{name}</dt><dd>{valueText(value)}</dd></div>
          ))}
        </dl>
      )}
      <Edges {...props} />
    </section>
  );
}

function Edges({ node, onGo }: NodeProps): VNode {
  const all = node.edges;
  const outgoing = all.filter((edge) => edge.source === node.id).length;
  return (
    <>
      <h4>{all.length === 1 ? '1 edge' : `${all.length} edges`} <span class="sql-type">{outgoing} out, {all.filter((edge) => edge.target === node.id).length} in</span></h4>
      <ul class="graph-edges">
        {all.slice(0, EDGES_SHOWN).map((edge, at) => {
          const isOut = edge.source === node.id;
          const other = isOut ? edge.target : edge.source;
          return (
            <li key={at}>
              <span aria-label={isOut ? 'to' : 'from'}>{isOut ? '→' : '←'}</span>{' '}
              <span class="sql-type">{[edge.type, edge.weight].filter((text) => text !== '').join(' · ')}</span>{' '}
              <button type="button" class="link" onClick={() => onGo(other)}><bdi>{other === '' ? '(empty)' : other}</bdi></button>
            </li>
          );
        })}
      </ul>
      {all.length > EDGES_SHOWN && <p class="sql-type">and {all.length - EDGES_SHOWN} more</p>}
    </>
  );
}

/** The row of the node in the table of nodes. */
function useStored(node: GraphNode, from: Lookup | undefined): { properties: Property[]; problem: string } {
  const [stored, setStored] = useState<{ properties: Property[]; problem: string }>({ properties: [], problem: '' });
  useEffect(() => {
    let isWanted = true;
    setStored({ properties: [], problem: '' });
    if (!from) return undefined;
    lookUp(nodeQuery(from, node.cell)).then(
      ({ columns, rows: [row] }) => {
        if (!isWanted || !row) return;
        const properties = columns.map((column, at): Property => [column, shownCell(row[at] ?? { kind: 'null' })]);
        setStored({ properties: properties.filter(([name]) => name.toLowerCase() !== 'id'), problem: '' });
      },
      (error: unknown) => isWanted && setStored({ properties: [], problem: problemOf(error) }),
    );
    return () => {
      isWanted = false;
    };
  }, [node.id, from?.table]);
  return stored;
}

function valueText(value: string): string {
  const shown = value.length <= VALUE_SHOWN && looksLikeJson(value) ? prettyJson(value) : value;
  return shown.length > VALUE_SHOWN ? `${shown.slice(0, VALUE_SHOWN)}…` : shown;
}
