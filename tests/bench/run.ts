// `npm run bench`: how fast it is, each figure beside its floor or a peer in the same run (quality.md, "Speed").
// `--only rpc,deltas,http,open,chat,vault,idle` measures some of it, `--quick` with fewer repetitions. Bars are reported, not asserted: it
// fails only where something broke.
import { parseArgs } from 'node:util';
import buildOnce from '../e2e/build-once.ts';
import { chat } from './chat.ts';
import { deltas } from './deltas.ts';
import { type Figure, table } from './figures.ts';
import { http } from './http.ts';
import { idle } from './idle.ts';
import { open } from './open.ts';
import { rpc } from './rpc.ts';
import { vault } from './vault.ts';

const SECTIONS: Record<string, (options: { quick: boolean }) => Promise<Figure[]>> = { rpc, deltas, http, open, chat, vault, idle };

const { values } = parseArgs({ options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } } });
const names = values.only?.split(',') ?? Object.keys(SECTIONS);
const unknown = names.filter((name) => !(name in SECTIONS));
if (unknown.length > 0) {
  console.error(`no such benchmark: ${unknown.join(', ')}; there are ${Object.keys(SECTIONS).join(', ')}`);
  process.exit(2);
}

buildOnce();
const figures: Figure[] = [];
for (const name of names) {
  const since = performance.now();
  try {
    const found = (await SECTIONS[name]?.({ quick: values.quick })) ?? [];
    figures.push(...found);
    console.error(`${name}: ${((performance.now() - since) / 1000).toFixed(1)} s`);
  } catch (error) {
    console.error(`${name} broke:`, error);
    process.exitCode = 1;
  }
}
console.log(`\n${table(figures)}`);
const missed = figures.filter(({ bar }) => bar && !bar.met);
console.log(missed.length === 0 ? '\nevery bar is kept' : `\nmissed: ${missed.map(({ what }) => what.trim()).join('; ')}`);
