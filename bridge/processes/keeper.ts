// A separate program that runs while there are processes started by the bridge, and kills them if the bridge dies for any reason.
import { createInterface } from 'node:readline';
import { endTree, type ProcessTree } from './process-tree.ts';

/**
 * Running processes by mark. The bridge sends `+<mark>` before a program starts, `+<mark> <pid>` once it has, and `-<mark>` when its whole
 * tree has ended.
 */
const running = new Map<string, ProcessTree>();

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const [mark = '', pid] = line.slice(1).split(' ');
  if (line.startsWith('-')) running.delete(mark);
  else running.set(mark, { mark, ...(pid === undefined ? {} : { pid: Number(pid) }) });
});
// The input ends when the bridge has ended.
lines.on('close', () => void Promise.all([...running.values()].map((tree) => endTree(tree))).then(() => process.exit(0)));
