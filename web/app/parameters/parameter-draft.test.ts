import { expect, it } from 'vitest';
import type { ModelParameters } from '#shared/rpc/model-parameters.ts';
import { toParameterDraft, toParameterPatch, toParameters } from './parameter-draft.ts';

it('keeps what is set, and leaves out what is inherited', () => {
  const all: ModelParameters = {
    thinking: 'high',
    temperature: 0,
    topP: 0.5,
    maxTokens: 100,
    seed: 0,
    stop: ['END', '  two '],
    verbosity: 'low',
    json: false,
    instructions: 'Be brief.',
  };
  expect(toParameters(toParameterDraft(all))).toEqual(all);
  expect(toParameters(toParameterDraft({ json: true }))).toEqual({ json: true });
  expect(toParameters(toParameterDraft())).toBeNull();
  expect(toParameters({ ...toParameterDraft(), stop: '\n\n', instructions: '  ' })).toBeNull();
});

it('removes in a patch what is not set any more', () => {
  expect(toParameterPatch(toParameterDraft())).toBeNull();
  expect(toParameterPatch(toParameterDraft({ seed: 3 }))).toMatchObject({ seed: 3, thinking: null, stop: null, instructions: null });
});
