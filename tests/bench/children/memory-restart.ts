// A process that opens the memory of a folder like a restart, and prints its cost as JSON. Arguments: the folder, and `search` to run queries too.
// Run with `--expose-gc`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderWorkspace } from '../../../bridge/library/folder-workspace.ts';
import { SqliteIndex } from '../../../bridge/library/sqlite-index.ts';
import { FileIndex } from '../../../web/gateway/knowledge/memory/index/file-index.ts';
import { computePercentile } from '../stats.ts';

const [folder = '', kind = 'search'] = process.argv.slice(2);
const MB = 2 ** 20;
const { gc } = globalThis;
if (!gc) throw new Error('Run it with --expose-gc');

const memory = (): { rss: number; heap: number } => {
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  return { rss: rss / MB, heap: (heapUsed + arrayBuffers) / MB };
};

gc();
const memoryBefore = memory();
const highestMemory = (): number => process.resourceUsage().maxRSS / 1024;
const highestMemoryBefore = highestMemory();
const startedAt = performance.now();
const store = new SqliteIndex(join(folder, 'memory.db'));
const index = new FileIndex({
  workspace: folderWorkspace(folder),
  longTerm: 'MEMORY.md',
  store,
  warn: (message) => console.error(message),
});
let longestDelay = 0;
let lastTick = performance.now();
const ticks = setInterval(() => {
  longestDelay = Math.max(longestDelay, performance.now() - lastTick);
  lastTick = performance.now();
}, 1);
await index.follow();
const ready = performance.now() - startedAt;
clearInterval(ticks);
const memoryAfter = memory();
const memoryPeak = highestMemory() - highestMemoryBefore;
gc();
const settled = memory();

const conversations = join(import.meta.dirname, '../conversations');
const questions = readdirSync(conversations).flatMap(
  (file) =>
    (JSON.parse(readFileSync(join(conversations, file), 'utf8')) as { questions: { question: string; askedAt: string }[] }).questions,
);
const share = (all: readonly number[], part: number): number => (all.length === 0 ? 0 : computePercentile(all, part));
const samples: number[] = [];
if (kind === 'search') {
  for (const { question, askedAt } of questions) {
    const start = performance.now();
    index.search(question, { limit: 10, now: Date.parse(askedAt) });
    samples.push(performance.now() - start);
  }
}
const followTime: number[] = [];
for (let round = 0; kind === 'search' && round < 20; round++) {
  const start = performance.now();
  await index.follow();
  followTime.push(performance.now() - start);
}
gc();
const searchedMemory = memory();
const closing = performance.now();
await index.close();
store.close();
console.log(
  JSON.stringify({
    size: index.size,
    ready,
    longest: longestDelay,
    rss: memoryAfter.rss - memoryBefore.rss,
    peak: memoryPeak,
    settledRss: settled.rss - memoryBefore.rss,
    heap: settled.heap - memoryBefore.heap,
    searchedRss: searchedMemory.rss - memoryBefore.rss,
    searchedHeap: searchedMemory.heap - memoryBefore.heap,
    first: samples[0] ?? 0,
    p50: share(samples, 0.5),
    p99: share(samples, 0.99),
    follow: share(followTime, 0.5),
    close: performance.now() - closing,
  }),
);
