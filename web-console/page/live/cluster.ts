// The figures of a store in a cluster, from INFO. A server with a store of its own has none of them.

import * as format from '../parts/format.ts';
import { infoNumber, infoText, type Info } from './info.ts';

export interface ClusterFigure {
  label: string;
  value: string;
}

/** The section of INFO about the cluster. */
export const SECTION = 'cluster-store';

type Show = (value: number) => string;

const time: Show = (ms) => (ms > 0 ? new Date(ms).toLocaleTimeString() : 'not by this server');
const yes: Show = (value) => (value === 1 ? 'this server' : 'another server');

const reaches: Show = (value) => (value === 1 ? 'no: it stands apart' : 'yes');

/** In the order of the page. */
const KNOWN: readonly [name: string, label: string, show: Show][] = [
  ['cluster_reads', 'Rounds of reading', format.count],
  ['cluster_read_usec_mean', 'A round takes', format.micros],
  ['cluster_read_usec_p99', '99 of 100 within', format.micros],
  ['cluster_writes', 'Writes', format.count],
  ['cluster_write_usec_mean', 'A write takes', format.micros],
  ['cluster_write_usec_p99', '99 of 100 writes within', format.micros],
  ['cluster_conflicts', 'Conflicts', format.count],
  ['cluster_unavailable', 'Without an answer', format.count],
  ['cluster_unknown_writes', 'Writes with unknown end', format.count],
  ['peers', 'Other servers', format.count],
  ['peers_linked', 'Linked', format.count],
  ['peers_stands_apart', 'Reaches the others', reaches],
  ['peer_requests_forwarded', 'Requests forwarded', format.count],
  ['peer_requests_run_for_others', 'Run for others', format.count],
  ['cluster_hints_pending', 'Expiring soon', format.count],
  ['cluster_hints_written', 'Hints written', format.count],
  ['cluster_expired_found', 'Expired keys found', format.count],
  ['cluster_collect_pending', 'To collect', format.count],
  ['cluster_collected_entries', 'Collected entries', format.count],
  ['cluster_destroyed_databases', 'Emptied databases removed', format.count],
  ['cluster_sweeps', 'Walks over the store', format.count],
  ['cluster_sweep_found', 'Lost things found', format.count],
  ['cluster_notes_lost', 'Notes without room', format.count],
  ['cluster_leads', 'Looked after by', yes],
  ['cluster_gc_safe_point_ms', 'Old versions gone until', time],
  ['cluster_gc_failures', 'Failed to let them go', format.count],
];

/** The store's name and where its cluster is; null if the data is in no cluster. */
export function clusterName(info: Info): string | null {
  const store = infoText(info, 'cluster_store');
  return store === undefined ? null : `${store} at ${infoText(info, 'cluster_pd') ?? 'an unknown place'}`;
}

/** For how long the cluster has not answered, in seconds; null while it does. */
export function silentSeconds(info: Info): number | null {
  const ms = infoNumber(info, 'cluster_silent_ms');
  return ms === null || ms === 0 ? null : ms / 1000;
}

export function clusterFigures(info: Info): ClusterFigure[] {
  return KNOWN.flatMap(([name, label, show]) => {
    const value = infoNumber(info, name);
    return value === null ? [] : [{ label, value: show(value) }];
  });
}
