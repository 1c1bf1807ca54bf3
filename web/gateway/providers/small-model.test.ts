import { expect, it } from 'vitest';
import type { ProviderKind } from '#shared/rpc/record-schemas.ts';
import { isPrivateServer } from '../config/sections/provider-kinds.ts';
import { toModelEntry } from './model-entry.ts';
import { findModel } from './model-table.ts';
import { createListedModel } from './provider.ts';
import { findSmallModel } from './small-model.ts';

const entries = (vendor: ProviderKind, ids: readonly string[]) =>
  ids.map((id) => toModelEntry('p', createListedModel(id), vendor === 'openai-compatible' ? undefined : findModel(vendor, id), false));

/** Lists as the vendors' servers return them, including models for other purposes. */
const OPENAI = [
  ...['gpt-5.4', 'gpt-5-nano', 'gpt-5.4-mini', 'gpt-4.1', 'gpt-4.1-nano-2025-04-14', 'gpt-4o-mini', 'gpt-4o-mini-tts', 'o4-mini'],
  ...['gpt-4o-mini-transcribe', 'gpt-4o-mini-realtime-preview', 'gpt-4o-mini-search-preview', 'gpt-image-1-mini', 'o4-mini-deep-research'],
];
const CLAUDE = ['claude-opus-5-5', 'claude-sonnet-5', 'claude-haiku-4-5-20251001', 'claude-3-haiku-20240307'];
const GEMINI = ['gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite', 'gemini-2.5-flash-image', 'gemini-2.0-flash-live-001'];

it.each<[chat: string, vendor: ProviderKind, listed: readonly string[], small: string | undefined]>([
  ['gpt-5.4', 'openai', OPENAI, 'gpt-4.1-nano-2025-04-14'],
  ['gpt-5.4-mini', 'openai', OPENAI, 'gpt-4.1-nano-2025-04-14'],
  ['gpt-4.1-nano-2025-04-14', 'openai', OPENAI, undefined],
  ['claude-opus-5-5', 'anthropic', CLAUDE, 'claude-3-haiku-20240307'],
  ['claude-haiku-4-5-20251001', 'anthropic', CLAUDE.slice(0, 3), undefined],
  ['claude-opus-5-5', 'anthropic', CLAUDE.slice(0, 2), undefined],
  // Its price is unknown, but its name is sufficient.
  ['claude-opus-5-5', 'anthropic', ['claude-opus-5-5', 'claude-haiku-7'], 'claude-haiku-7'],
  ['gemini-2.5-pro', 'google', GEMINI, 'gemini-2.5-flash-lite'],
  [
    'mistral-large-latest',
    'mistral',
    ['mistral-large-latest', 'mistral-small-latest', 'codestral-latest', 'mistral-moderation-latest'],
    'mistral-small-latest',
  ],
  ['grok-4', 'xai', ['grok-4', 'grok-code-fast-1', 'grok-4-fast-non-reasoning'], 'grok-4-fast-non-reasoning'],
  ['deepseek-v4-pro', 'deepseek', ['deepseek-v4-pro', 'deepseek-v4-flash'], 'deepseek-v4-flash'],
  // Only of the same vendor: others would see the chat too.
  ['openai/gpt-oss-120b', 'groq', ['openai/gpt-oss-120b', 'openai/gpt-oss-20b', 'llama-3.1-8b-instant'], 'openai/gpt-oss-20b'],
  ['only', 'openai', ['only'], undefined],
  // Context too small.
  ['gpt-4', 'openai', ['gpt-4', 'gpt-3.5-turbo'], undefined],
  ['big', 'openai-compatible', ['big', 'little-mini'], undefined],
])('%s of %s, among %j, has %s', (chat, vendor, listed, small) => {
  const all = entries(vendor, listed);
  const found = findSmallModel(
    all.find(({ model_id }) => model_id === chat)!,
    all,
    { byName: vendor !== 'openai-compatible' },
  );
  expect(found?.model_id).toBe(small);
});

it('takes the prices that a server lists, and no free variant', () => {
  const priced = (id: string, price: number) =>
    toModelEntry('router', createListedModel(id, { price: { input: price, output: price, cachedInput: null } }), undefined, false);
  const all = [priced('a/large', 5), priced('a/mini', 1), priced('a/mini:free', 0), priced('b/nano', 0.1)];
  expect(findSmallModel(all[0]!, all, { byName: true })?.model_id).toBe('a/mini');
});

it.each([
  ['http://127.0.0.1:8080/v1', true],
  ['http://localhost:11434/v1', true],
  ['http://[::1]:1234/v1', true],
  ['http://nas.local:8000/v1', true],
  ['http://192.168.1.20/v1', true],
  ['http://172.20.0.3/v1', true],
  ['http://ollama:11434/v1', true],
  ['https://api.openai.com/v1', false],
  ['https://172.67.1.1/v1', false],
  ['https://10.example.com/v1', false],
])('%s is in the own network: %s', (url, own) => expect(isPrivateServer(url)).toBe(own));
