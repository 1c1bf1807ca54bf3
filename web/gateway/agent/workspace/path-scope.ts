import type { Area } from '#shared/rpc/scopes.ts';
import { foldPath } from './fold-path.ts';

const FOLDERS: Readonly<Record<string, Area>> = {
  skills: 'instructions',
  prompts: 'instructions',
  memory: 'memory',
  dialog: 'memory',
  wiki: 'memory',
  '.dreams': 'memory',
};
const FILES: Readonly<Record<string, Area>> = { 'memory.md': 'memory', 'dreams.md': 'memory', 'heartbeat.md': 'instructions' };

/**
 * Returns the scope required to change a workspace file: skills, prompts and the heartbeat's checklist instruct later runs, and memory is
 * stored in files too. Also covers spellings that a mirroring file system may treat as the same file.
 */
export function getScopeForPath(path: string): Area {
  const [first = '', ...rest] = foldPath(path).split('/');
  const table = rest.length > 0 ? FOLDERS : { ...FOLDERS, ...FILES };
  return Object.hasOwn(table, first) ? (table[first] ?? 'files') : 'files';
}
