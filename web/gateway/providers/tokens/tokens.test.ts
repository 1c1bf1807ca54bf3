import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import cl100kRanks from 'gpt-tokenizer/bpeRanks/cl100k_base';
import o200kRanks from 'gpt-tokenizer/bpeRanks/o200k_base';
import { countTokens as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it, vi } from 'vitest';
import { splitRankTables } from '../../../split-rank-tables.ts';
import { z } from 'zod';
import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { getTokenFamily, TOKEN_FAMILIES } from '#shared/tokens/token-family.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { countTokens, tokenCounter } from './count-tokens.ts';
import { splitSlices } from './split-slices.ts';

const AS_TEXT = { disallowedSpecial: new Set<string>() };
const root = join(import.meta.dirname, '../../../..');
const conversationsFolder = join(root, 'tests/bench/conversations');

verifies('tokens/families', 'a model’s name says whose tokenizer it has', () => {
  const families = {
    'openai/gpt-5.4-mini': 'o200k',
    'mine/gpt-4o': 'o200k',
    'openai/o3-pro': 'o200k',
    'ollama/gpt-oss:20b': 'o200k',
    'openai/gpt-4-turbo': 'cl100k',
    'azure/gpt-35-turbo': 'cl100k',
    'openai/text-embedding-3-small': 'cl100k',
    'openai/whatever-comes': 'o200k',
    'openrouter/anthropic/claude-opus-4.5': 'claude',
    'google/gemini-3-pro': 'gemini',
    'ollama/gemma3:4b': 'gemini',
    'gguf/bartowski/Llama-3.2-3B-Instruct-GGUF': 'llama',
    'ollama/deepseek-r1-distill-llama-70b': 'llama',
    'deepseek/deepseek-chat': 'deepseek',
    'lmstudio/qwen3-coder': 'qwen',
    'mistral/codestral-latest': 'mistral',
    'test/foo3': 'other',
    'gpt-4.1': 'o200k',
    constructor: 'other',
    '': 'other',
  };
  for (const [model, family] of Object.entries(families)) expect([model, getTokenFamily(model)]).toEqual([model, family]);
});

verifies('tokens/families', 'OpenAI’s models are counted exactly, and estimates come near', async () => {
  const texts = [
    ...readdirSync(conversationsFolder).map((name) => readFileSync(join(conversationsFolder, name), 'utf8')),
    ...['ARCHITECTURE.md', 'web/gateway/agent/runs/run.ts', 'web/features/chat/ReplyView.svelte'].map((name) =>
      readFileSync(join(root, name), 'utf8'),
    ),
    'Special <|endoftext|> and <|im_start|> are text',
    '',
  ];
  for (const text of texts) {
    const [exact, older] = [o200k(text, AS_TEXT), cl100k(text, AS_TEXT)];
    expect(await countTokens(text, 'openai/gpt-5')).toBe(exact);
    expect(await countTokens(text, 'openai/gpt-4')).toBe(older);
    expect((await tokenCounter('openai/gpt-5'))(text)).toBe(exact);
    expect(await countTokens(text, 'anthropic/claude-opus-4.5')).toBe(estimateForFamily(text, 'claude'));
    if (text.length < 1000) continue;
    expect(Math.abs(estimateForFamily(text, 'o200k') / exact - 1)).toBeLessThan(0.15);
    expect(Math.abs(estimateForFamily(text, 'cl100k') / older - 1)).toBeLessThan(0.15);
  }
});

verifies('tokens/slices', 'slices are the text, short, and count as much', async () => {
  const word = fc.oneof(
    fc.stringMatching(/^[a-zäöß]{1,12}$/),
    fc.constantFrom('字字字', '\n\n', '  ', '😀😀', '2026', '{"a":', '\r\n', 'é'),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 60 }), fc.nat(3), async (words, spaces) => {
      const text = words.join(' '.repeat(spaces));
      expect([...splitSlices(text)].join('')).toBe(text);
      const longest = Math.max(0, ...text.split(/\s+/).map(({ length }) => length));
      const exact = o200k(text, AS_TEXT);
      const counted = await countTokens(text, 'openai/gpt-5');
      // A cut within a run may add a token.
      expect(counted - exact).toBeLessThanOrEqual(longest > 256 ? Math.ceil(text.length / 256) : 0);
      expect(counted).toBeGreaterThanOrEqual(exact);
    }),
  );
  for (const sign of ['a', '字', '😀', '-', '1']) {
    const text = sign.repeat(100_000);
    const parts = [...splitSlices(text)];
    expect(parts.join('')).toBe(text);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(256);
    expect(await countTokens(text, 'openai/gpt-5')).toBeGreaterThan(0);
  }
  const prose = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').repeat(20);
  expect(Math.max(...[...splitSlices(prose)].map(({ length }) => length))).toBeLessThan(10_000);
  expect(await countTokens(prose, 'openai/gpt-5')).toBe(o200k(prose, AS_TEXT));
  await expect(countTokens(prose, 'openai/gpt-5', AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
});

/** Number of turns of other tasks during `work`. */
async function countTurnsDuring(work: () => Promise<unknown>): Promise<number> {
  let [turns, over] = [0, false];
  const others = async (): Promise<void> => {
    for (; !over; turns++) await new Promise((resolve) => setImmediate(resolve));
  };
  const beside = others();
  await work();
  over = true;
  await beside;
  return turns;
}

verifies('tokens/turns', 'others have theirs while a tokenizer is made ready, and between many short texts', async () => {
  const words = Array.from({ length: 20_000 }, (_, at) => `word ${at} of many`);
  await countTokens('', 'openai/gpt-5');
  const turns = await countTurnsDuring(async () => {
    for (const text of words) await countTokens(text, 'openai/gpt-5');
  });
  expect(turns).toBeGreaterThan(2);
  // A new instance, with its modules already loaded.
  vi.resetModules();
  const { loadTokenizer } = await import('./tokenizers.ts');
  // A clock that advances with each call, past the time for a yield.
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 10));
  try {
    expect(await countTurnsDuring(() => loadTokenizer('o200k'))).toBeGreaterThan(100);
  } finally {
    vi.restoreAllMocks();
  }
});

verifies('tokens/turns', 'a build reads the table of a tokenizer in pieces, and it is the same', async () => {
  const { transform } = splitRankTables();
  if (typeof transform !== 'function') throw new Error('There is nothing that transforms');
  const read = async (name: string): Promise<unknown> => {
    const path = join(root, `node_modules/gpt-tokenizer/esm/bpeRanks/${name}.js`);
    const made: unknown = await Reflect.apply(transform, undefined, ['', path]);
    const { code } = z.object({ code: z.string() }).parse(made);
    const module: unknown = await import(/* @vite-ignore */ `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`);
    return z.object({ default: z.unknown() }).parse(module).default;
  };
  expect(isDeepStrictEqual(await read('cl100k_base'), cl100kRanks)).toBe(true);
  expect(isDeepStrictEqual(await read('o200k_base'), o200kRanks)).toBe(true);
  expect(await Reflect.apply(transform, undefined, ['', join(root, 'node_modules/zod/index.js')])).toBeUndefined();
});

it('takes any text, and gives whole numbers that are not negative', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(...TOKEN_FAMILIES), (text, family) => {
      const tokens = estimateForFamily(text, family);
      expect(Number.isInteger(tokens)).toBe(true);
      expect(tokens).toBeGreaterThanOrEqual(text === '' ? 0 : 1);
    }),
  );
});
