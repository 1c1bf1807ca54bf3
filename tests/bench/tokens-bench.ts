import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { estimateTokens } from '#shared/estimate-tokens.ts';
import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { countTokens } from '../../web/gateway/providers/tokens/count-tokens.ts';
import { loadTokenizer } from '../../web/gateway/providers/tokens/tokenizers.ts';
import { toMaxBar, type Figure } from './figures.ts';

const ROOT = join(import.meta.dirname, '../..');
const MODEL = 'openai/gpt-5';
/** Maximum delay of other work, in milliseconds. */
const MAX_DELAY_MS = 50;

interface SampleText {
  kind: string;
  text: string;
}

const listFiles = (folder: string, ending: string, maxChars: number): string =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .sort()
    .slice(0, maxChars)
    .map((file) => readFileSync(join(ROOT, folder, file), 'utf8'))
    .join('\n');

/** Texts written by people, models and tools: the repository's texts, and the conversations of the memory benchmark. */
const sampleTexts = (): SampleText[] => [
  ...readdirSync(join(ROOT, 'tests/bench/conversations')).map((file) => ({
    kind: `talk ${file.replace('.json', '')}`,
    text: readFileSync(join(ROOT, 'tests/bench/conversations', file), 'utf8'),
  })),
  { kind: 'TypeScript', text: listFiles('web/gateway/agent', '.ts', 200) },
  { kind: 'Markdown', text: listFiles('docs/decisions', '.md', 100) },
  { kind: 'Svelte', text: listFiles('web/features', '.svelte', 40) },
  { kind: 'JSON', text: readFileSync(join(ROOT, 'package-lock.json'), 'utf8') },
];

function measureMs(work: () => void, times: number): number {
  const runs = Array.from({ length: times }, () => {
    const since = performance.now();
    work();
    return performance.now() - since;
  });
  return runs.sort((a, b) => a - b)[Math.floor(times / 2)] ?? 0;
}

/** Returns the longest delay of other tasks while `work` runs. */
async function measureLongestDelay(work: () => Promise<unknown>): Promise<number> {
  let [longest, last] = [0, performance.now()];
  const tick = (): void => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const beat = setInterval(tick, 1);
  await work();
  tick();
  clearInterval(beat);
  return longest;
}

/** Speed of counting tokens, error of estimates, and the longest delay of other work. */
export async function benchTokens({ quick }: { quick: boolean }): Promise<Figure[]> {
  const since = performance.now();
  const longestDelay = await measureLongestDelay(() => loadTokenizer('o200k'));
  const ready = performance.now() - since;
  const all = sampleTexts();
  const exact = new Map<SampleText, number>();
  for (const each of all) exact.set(each, await countTokens(each.text, MODEL));
  const computeErrors = (count: (text: string) => number) =>
    all.map((each) => Math.abs(count(each.text) / (exact.get(each) ?? 1) - 1) * 100);
  const [byFamily, byCharacters] = [computeErrors((text) => estimateForFamily(text, 'o200k')), computeErrors(estimateTokens)];
  const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
  const joined = all.map(({ text }) => text).join('\n');
  const megabytes = joined.length / 1e6;
  const times = quick ? 5 : 20;
  const family = measureMs(() => estimateForFamily(joined, 'o200k'), times) / megabytes;
  const characters = measureMs(() => estimateTokens(joined), times) / megabytes;
  const counted: number[] = [];
  let longest = 0;
  for (let run = 0; run < (quick ? 2 : 5); run++) {
    const from = performance.now();
    longest = Math.max(longest, await measureLongestDelay(() => countTokens(joined, MODEL)));
    counted.push((performance.now() - from) / megabytes);
  }
  return [
    { what: 'tokenizer of o200k made ready, once', unit: 'ms', ours: ready },
    {
      what: '  longest wait of anything else meanwhile, the table as one module (a build reads it in pieces)',
      unit: 'ms',
      ours: longestDelay,
    },
    { what: 'counting a million characters', unit: 'ms', ours: Math.min(...counted), floor: { name: 'by characters', value: characters } },
    { what: '  longest wait of anything else meanwhile', unit: 'ms', ours: longest, bar: toMaxBar(longest, MAX_DELAY_MS, 'ms') },
    { what: 'estimating a million characters', unit: 'ms', ours: family, floor: { name: 'by characters', value: characters } },
    { what: '  error of the estimate, mean', unit: '%', ours: mean(byFamily), floor: { name: 'by characters', value: mean(byCharacters) } },
    {
      what: '  error, worst kind of text',
      unit: '%',
      ours: Math.max(...byFamily),
      floor: { name: 'by characters', value: Math.max(...byCharacters) },
    },
  ];
}
