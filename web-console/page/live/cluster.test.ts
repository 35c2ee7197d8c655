import { expect, test } from 'vitest';
import { SECTIONS } from './sections.ts';
import { clusterFigures, clusterName, silentSeconds } from './cluster.ts';
import { parseInfo } from './info.ts';

test('a server with a store of its own shows a cluster', () => {
  const info = parseInfo('# Bitcask\ndatafiles:2\n');
  expect([clusterName(info), silentSeconds(info), clusterFigures(info)]).toEqual([null, null, []]);
});

test('a cluster that is gone shows as there', () => {
  const section = (...lines: string[]) => parseInfo(`# Cluster-store\ncluster_store:shop\n${lines.join('\n')}\n`);
  const info = section('cluster_pd:10.0.0.1:2379', 'cluster_silent_ms:7000', 'cluster_leads:1', 'peers:2');
  expect(clusterName(info)).toBe('shop at 10.0.0.1:2379');
  expect(silentSeconds(info)).toBe(7);
  expect(clusterFigures(info)).toEqual([
    { label: 'Other servers', value: '2' },
    { label: 'Looked after by', value: 'this server' },
  ]);
  expect(silentSeconds(section('cluster_silent_ms:0'))).toBeNull();
});

test('the page asks for no figures of a cluster', () => {
  expect(SECTIONS).toContain('cluster-store');
});
