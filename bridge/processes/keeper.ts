// A program of its own beside the bridge, for as long as something runs that the bridge has started: it ends that when the bridge dies, by whatever death.
import { createInterface } from 'node:readline';
import { endTree, type Tree } from './process-tree.ts';

/** What runs, by mark. The bridge says `+<mark>` before one starts, `+<mark> <pid>` when it has, and `-<mark>` when all of it has ended. */
const running = new Map<string, Tree>();

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const [mark = '', pid] = line.slice(1).split(' ');
  if (line.startsWith('-')) running.delete(mark);
  else running.set(mark, { mark, ...(pid === undefined ? {} : { pid: Number(pid) }) });
});
// The end of the input is the end of the bridge.
lines.on('close', () => void Promise.all([...running.values()].map((tree) => endTree(tree))).then(() => process.exit(0)));
