// `npm run bench`: measures speed, each figure next to its floor or a peer in the same run (docs/promises.md). `--only rpc,http` runs some
// sections, `--quick` with fewer repetitions. Limits are reported, not asserted: it fails only if something broke, or a proof missed its
// limit.
import { parseArgs } from 'node:util';
import buildOnce from '../e2e/build-once.ts';
import { canvas } from './canvas.ts';
import { chat } from './chat.ts';
import { cluster } from './cluster.ts';
import { deltas } from './deltas.ts';
import { documentRecall } from './document-recall.ts';
import { documents } from './documents.ts';
import { type Figure, table } from './figures.ts';
import { http } from './http.ts';
import { idle } from './idle.ts';
import { injection } from './injection.ts';
import { lighthouseScores } from './lighthouse.ts';
import { messages } from './messages.ts';
import { memorySearch } from './memory-search.ts';
import { load } from './load.ts';
import { open } from './open.ts';
import { prompts } from './prompts.ts';
import { recall } from './recall.ts';
import { rpc } from './rpc.ts';
import { scale } from './scale.ts';
import { search } from './search.ts';
import { sync } from './sync.ts';
import { tokens } from './tokens.ts';
import { tools } from './tools.ts';
import { chats } from './vault/chats.ts';
import { newHost } from './vault/new-host.ts';
import { writes } from './vault/writes.ts';

const SECTIONS: Record<string, (options: { quick: boolean }) => Promise<Figure[]>> = {
  rpc,
  deltas,
  http,
  messages,
  load,
  open,
  lighthouse: lighthouseScores,
  chat,
  canvas,
  writes,
  'new-host': newHost,
  chats,
  sync,
  cluster,
  scale,
  documents,
  'document-recall': documentRecall,
  search,
  memory: memorySearch,
  recall,
  tokens,
  tools,
  prompts,
  idle,
  injection,
};

/** Sections that prove a promise on every machine: a bar that is missed fails the command. They need no built app. */
const PROOFS = new Set(['document-recall', 'injection', 'prompts', 'tools']);

const { values } = parseArgs({ options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } } });
const names = values.only?.split(',') ?? Object.keys(SECTIONS);
const unknown = names.filter((name) => !(name in SECTIONS));
if (unknown.length > 0) {
  console.error(`no such benchmark: ${unknown.join(', ')}; there are ${Object.keys(SECTIONS).join(', ')}`);
  process.exit(2);
}

if (names.some((name) => !PROOFS.has(name))) buildOnce();
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
console.log(`\n${table(figures)}`);
const missed = figures.flatMap(({ what, bar }) => (bar && !bar.met ? what.trim() : []));
if (broken.length > 0) process.exitCode = 1;
console.log();
if (broken.length > 0) console.log(`broke: ${broken.join(', ')}`);
if (missed.length > 0) console.log(`missed: ${missed.join('; ')}`);
if (broken.length + missed.length === 0) console.log('every bar is kept');
