// A process that opens the memory of a folder as a restart does, and tells what that took as JSON. Arguments: the folder, and `search` to ask questions too.
// Run with `--expose-gc`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderWorkspace } from '../../../bridge/library/folder-workspace.ts';
import { SqliteIndex } from '../../../bridge/library/sqlite-index.ts';
import { FileIndex } from '../../../web/gateway/core/memory/index/file-index.ts';
import { percentile } from '../stats.ts';

const [folder = '', kind = 'search'] = process.argv.slice(2);
const MB = 2 ** 20;
const { gc } = globalThis;
if (!gc) throw new Error('Run it with --expose-gc');

const memory = (): { rss: number; heap: number } => {
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  return { rss: rss / MB, heap: (heapUsed + arrayBuffers) / MB };
};

gc();
const before = memory();
const highest = (): number => process.resourceUsage().maxRSS / 1024;
const highestBefore = highest();
const began = performance.now();
const store = new SqliteIndex(join(folder, 'memory.db'));
const index = new FileIndex({
  workspace: folderWorkspace(folder),
  longTerm: 'MEMORY.md',
  store,
  warn: (message) => console.error(message),
});
let longest = 0;
let last = performance.now();
const ticks = setInterval(() => {
  longest = Math.max(longest, performance.now() - last);
  last = performance.now();
}, 1);
await index.follow();
const ready = performance.now() - began;
clearInterval(ticks);
const after = memory();
const peak = highest() - highestBefore;
gc();
const settled = memory();

const conversations = join(import.meta.dirname, '../conversations');
const questions = readdirSync(conversations).flatMap(
  (file) => (JSON.parse(readFileSync(join(conversations, file), 'utf8')) as { questions: { question: string; asked: string }[] }).questions,
);
const share = (all: readonly number[], part: number): number => (all.length === 0 ? 0 : percentile(all, part));
const samples: number[] = [];
if (kind === 'search') {
  for (const { question, asked } of questions) {
    const start = performance.now();
    index.search(question, { limit: 10, now: Date.parse(asked) });
    samples.push(performance.now() - start);
  }
}
const follows: number[] = [];
for (let round = 0; kind === 'search' && round < 20; round++) {
  const start = performance.now();
  await index.follow();
  follows.push(performance.now() - start);
}
gc();
const searched = memory();
const closing = performance.now();
await index.close();
store.close();
console.log(
  JSON.stringify({
    size: index.size,
    ready,
    longest,
    rss: after.rss - before.rss,
    peak,
    settledRss: settled.rss - before.rss,
    heap: settled.heap - before.heap,
    searchedRss: searched.rss - before.rss,
    searchedHeap: searched.heap - before.heap,
    first: samples[0] ?? 0,
    p50: share(samples, 0.5),
    p99: share(samples, 0.99),
    follow: share(follows, 0.5),
    close: performance.now() - closing,
  }),
);
