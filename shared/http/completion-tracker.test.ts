import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CompletionTracker, completionChunk, isCompletionChunk } from './completion-tracker.ts';

const arbitraryValue = fc.constantFrom<unknown>(undefined, null, 0, -1, 1.5, Number.NaN, Infinity, '', 'stop', true, [], {}, [[]], [{}]);
const choice = fc.oneof(
  arbitraryValue,
  fc.record({ index: arbitraryValue, finish_reason: arbitraryValue, delta: arbitraryValue, message: arbitraryValue }, { requiredKeys: [] }),
);
const chunk = fc.oneof(
  arbitraryValue,
  fc.record({ choices: fc.oneof(arbitraryValue, fc.array(choice, { maxLength: 3 })), usage: arbitraryValue }, { requiredKeys: [] }),
);

it('recognizes the same completion chunks as the schema', () => {
  fc.assert(
    fc.property(chunk, (value) => {
      expect(isCompletionChunk(value)).toBe(completionChunk.safeParse(value).success);
    }),
    { numRuns: 2000 },
  );
});

it('counts a model’s output in every vendor’s format, and nothing else', () => {
  const cases: [delta: unknown, chars: number][] = [
    [{ content: 'four' }, 4],
    [{ content: [{ type: 'text', text: 'abc' }, { type: 'thinking', thinking: [{ text: 'de' }] }, 'x', null] }, 5],
    [{ refusal: 'no' }, 2],
    [{ reasoning_content: 'abc', reasoning: 'abc' }, 3],
    [{ reasoning: 'abc' }, 3],
    [{ tool_calls: [{ function: { arguments: '{"a":1}' } }, { function: null }, null] }, 7],
    [{ content: 5, tool_calls: 'x', refusal: {}, reasoning: [] }, 0],
    ['text', 0],
  ];
  for (const [delta, chars] of cases) {
    const tracker = new CompletionTracker(1);
    tracker.add({ choices: [{ index: 0, delta }] });
    expect([delta, tracker.chars]).toEqual([delta, chars]);
  }
});
