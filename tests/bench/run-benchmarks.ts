// `npm run bench`: measures speed, each figure next to its floor or a peer in the same run (docs/promises.md). `--only rpc,http` runs some
// sections, `--quick` with fewer repetitions. Limits are reported, not asserted: it fails only if something broke, or a proof missed its
// limit.
import { parseArgs } from 'node:util';
import buildOnce from '../e2e/build-once.ts';
import { benchCanvas } from './canvas-bench.ts';
import { benchChat } from './chat-bench.ts';
import { benchCitations } from './citations-bench.ts';
import { benchCluster } from './cluster-bench.ts';
import { benchCollections } from './collections/collections-bench.ts';
import { benchDeltas } from './deltas-bench.ts';
import { benchDreaming } from './dreaming-bench.ts';
import { benchDocumentRecall } from './document-recall-bench.ts';
import { benchDocuments } from './documents-bench.ts';
import { type Figure, formatTable } from './figures.ts';
import { benchHttp } from './http-bench.ts';
import { benchIdle } from './idle-bench.ts';
import { benchInjection } from './injection-bench.ts';
import { benchLighthouse } from './lighthouse-bench.ts';
import { benchMessages } from './messages-bench.ts';
import { benchMemorySearch, benchRestartOfConversations } from './memory-search-bench.ts';
import { benchLoad } from './load-bench.ts';
import { benchOpen } from './open-bench.ts';
import { benchPassages } from './passages-bench.ts';
import { benchPrompts } from './prompts-bench.ts';
import { benchRecall } from './recall-bench.ts';
import { benchRecallQuality } from './recall-quality-bench.ts';
import { benchRpc } from './rpc-bench.ts';
import { benchScale } from './scale-bench.ts';
import { benchSearch } from './search-bench.ts';
import { benchSubAgents } from './sub-agents-bench.ts';
import { benchSync } from './sync-bench.ts';
import { benchTokens } from './tokens-bench.ts';
import { benchTools } from './tools-bench.ts';
import { benchChats } from './vault/chats-bench.ts';
import { benchNewHost } from './vault/new-host-bench.ts';
import { benchWrites } from './vault/writes-bench.ts';

const SECTIONS: Record<string, (options: { quick: boolean }) => Promise<Figure[]>> = {
  rpc: benchRpc,
  deltas: benchDeltas,
  http: benchHttp,
  messages: benchMessages,
  load: benchLoad,
  open: benchOpen,
  lighthouse: benchLighthouse,
  chat: benchChat,
  canvas: benchCanvas,
  writes: benchWrites,
  'new-host': benchNewHost,
  chats: benchChats,
  sync: benchSync,
  cluster: benchCluster,
  scale: benchScale,
  documents: benchDocuments,
  'document-recall': benchDocumentRecall,
  passages: benchPassages,
  search: benchSearch,
  collections: benchCollections,
  memory: benchMemorySearch,
  'memory-restart': benchRestartOfConversations,
  recall: benchRecall,
  dreaming: benchDreaming,
  'recall-quality': benchRecallQuality,
  tokens: benchTokens,
  tools: benchTools,
  prompts: benchPrompts,
  idle: benchIdle,
  injection: benchInjection,
  citations: benchCitations,
  'sub-agents': benchSubAgents,
};

/** Sections that prove a promise on every machine: a missed limit fails the command. */
const PROOFS = new Set(['citations', 'document-recall', 'dreaming', 'injection', 'prompts', 'sub-agents', 'tools']);
/** Sections that need no built app. */
const UNBUILT = new Set([...PROOFS, 'passages', 'collections', 'memory', 'memory-restart', 'recall-quality']);

const { values } = parseArgs({ options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } } });
const names = values.only?.split(',') ?? Object.keys(SECTIONS);
const unknown = names.filter((name) => !(name in SECTIONS));
if (unknown.length > 0) {
  console.error(`no such benchmark: ${unknown.join(', ')}; there are ${Object.keys(SECTIONS).join(', ')}`);
  process.exit(2);
}

if (names.some((name) => !UNBUILT.has(name))) buildOnce();
const figures: Figure[] = [];
const broken: string[] = [];
for (const name of names) {
  const since = performance.now();
  try {
    const found = (await SECTIONS[name]?.({ quick: values.quick })) ?? [];
    figures.push(...found);
    if (PROOFS.has(name) && found.some(({ bar }) => bar && !bar.met)) process.exitCode = 1;
    console.error(`${name}: ${((performance.now() - since) / 1000).toFixed(1)} s`);
  } catch (error) {
    console.error(`${name} broke:`, error);
    broken.push(name);
  }
}
console.log(`\n${formatTable(figures)}`);
const missed = figures.flatMap(({ what, bar }) => (bar && !bar.met ? what.trim() : []));
if (broken.length > 0) process.exitCode = 1;
console.log();
if (broken.length > 0) console.log(`broke: ${broken.join(', ')}`);
if (missed.length > 0) console.log(`missed: ${missed.join('; ')}`);
if (broken.length + missed.length === 0) console.log('every bar is kept');
