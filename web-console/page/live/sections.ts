// The sections of INFO that the page shows something of. Sections that a server does not have are left out by it.

import { SECTION as clusterSection } from './cluster.ts';
import { SECTION as diskSection } from './disk.ts';

export const SECTIONS: readonly string[] = [
  ...['server', 'clients', 'memory', 'persistence', 'stats', 'cpu', 'commandstats', 'keyspace'],
  diskSection,
  clusterSection,
];
