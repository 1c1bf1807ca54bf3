import { expect, it } from 'vitest';
import { chooseBestModel } from './choose-best-model.ts';

const choose = (...ids: string[]): string | undefined =>
  chooseBestModel(ids.map((model_id) => ({ model_id, supports_tools: true, context_window: 1000 })))?.model_id;

it('takes a vendor’s everyday model, in its newest version', () => {
  expect(choose('gpt-4o-mini', 'gpt-5-nano', 'gpt-5', 'gpt-5.1', 'gpt-4.1', 'text-embedding-3-large', 'whisper-1')).toBe('gpt-5.1');
  expect(choose('claude-haiku-4-5', 'claude-sonnet-4-5', 'claude-sonnet-4', 'claude-opus-4-1')).toBe('claude-sonnet-4-5');
  expect(choose('gemini-2.5-flash-lite', 'gemini-2.5-flash', 'gemini-2.5-pro', 'imagen-4')).toBe('gemini-2.5-pro');
  expect(choose('nomic-embed-text', 'llama3.2:3b', 'qwen3:8b')).toBe('qwen3:8b');
});

it('takes what is there, and nothing that cannot chat', () => {
  expect(choose('my-own-model')).toBe('my-own-model');
  expect(
    chooseBestModel([
      { model_id: 'a', supports_tools: false, context_window: 9000 },
      { model_id: 'b', supports_tools: true, context_window: 1000 },
      { model_id: 'c', supports_tools: true, context_window: null },
    ])?.model_id,
  ).toBe('b');
  expect(choose('text-embedding-3-small', 'tts-1')).toBeUndefined();
  expect(choose()).toBeUndefined();
});
