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
const FILES: Readonly<Record<string, Area>> = { 'memory.md': 'memory', 'dreams.md': 'memory' };

/**
 * Returns the scope that changing a workspace file needs: skills and prompts tell later chats what to do, and memory is in files too. Spellings count that a
 * file system which mirrors the workspace may take for the same.
 */
export function scopeForPath(path: string): Area {
  const [first = '', ...rest] = foldPath(path).split('/');
  const table = rest.length > 0 ? FOLDERS : { ...FOLDERS, ...FILES };
  return Object.hasOwn(table, first) ? (table[first] ?? 'files') : 'files';
}
