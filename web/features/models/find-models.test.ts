import { describe, expect, test } from 'vitest';
import type { ModelEntry } from '#shared/rpc/record-schemas.ts';
import { findModels, type ModelFilter } from './find-models.ts';
import { getAbilities, formatPrice, formatTokenCount } from './model-labels.ts';

const model = (key: string, more: Partial<ModelEntry> = {}): ModelEntry => ({
  ...{ key, provider: key.split('/')[0] ?? '', model_id: key.slice(key.indexOf('/') + 1), display_name: key },
  ...{ max_tokens: null, context_window: null, supports_tools: false, supports_vision: false, supports_thinking: false },
  ...{ cost_per_1m_input: null, cost_per_1m_output: null, cost_per_1m_cached_input: null },
  ...more,
});

const LIST = [
  model('a/small', { context_window: 8192, cost_per_1m_input: 0, cost_per_1m_output: 0, supports_tools: true }),
  model('b/unknown'),
  model('b/large', {
    context_window: 1_000_000,
    cost_per_1m_input: 3,
    cost_per_1m_output: 15,
    supports_tools: true,
    supports_vision: true,
  }),
  model('b/middle', { context_window: 128_000, cost_per_1m_input: 1, cost_per_1m_output: 2, supports_vision: true }),
];
const find = (wanted: Partial<ModelFilter>): string[] =>
  findModels(LIST, { query: '', vision: false, tools: false, order: 'provider', ...wanted }, (id) => (id === 'b' ? 'Big Company' : id)).map(
    ({ key }) => key,
  );

describe('finding models', () => {
  test('by all words, of key, name and provider', () => {
    expect(find({ query: ' COMPANY  lar' })).toEqual(['b/large']);
    expect(find({ query: 'nothing' })).toEqual([]);
    expect(find({})).toEqual(LIST.map(({ key }) => key));
  });

  test('by what they can do', () => {
    expect(find({ vision: true })).toEqual(['b/large', 'b/middle']);
    expect(find({ vision: true, tools: true })).toEqual(['b/large']);
  });

  test('ordered, with what is not known last', () => {
    expect(find({ order: 'context' })).toEqual(['b/large', 'b/middle', 'a/small', 'b/unknown']);
    expect(find({ order: 'price' })).toEqual(['a/small', 'b/middle', 'b/large', 'b/unknown']);
  });
});

test('sizes and prices in words', () => {
  expect([null, 512, 8192, 32_768, 128_000, 131_072, 200_000, 1_000_000, 1_048_576, 1_500_000].map(formatTokenCount)).toEqual([
    '–',
    '512',
    '8k',
    '32k',
    '128k',
    '128k',
    '200k',
    '1M',
    '1M',
    '1.5M',
  ]);
  expect([null, 0, 0.075, 2.5, 15].map(formatPrice)).toEqual(['–', 'Free', '$0.075', '$2.50', '$15.00']);
  expect(LIST.map(getAbilities)).toEqual([['Tools'], [], ['Vision', 'Tools'], ['Vision']]);
});
