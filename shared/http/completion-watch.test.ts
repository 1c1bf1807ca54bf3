import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CompletionWatch, glance, isGlance } from './completion-watch.ts';

const odd = fc.constantFrom<unknown>(undefined, null, 0, -1, 1.5, Number.NaN, Infinity, '', 'stop', true, [], {}, [[]], [{}]);
const choice = fc.oneof(odd, fc.record({ index: odd, finish_reason: odd, delta: odd, message: odd }, { requiredKeys: [] }));
const piece = fc.oneof(odd, fc.record({ choices: fc.oneof(odd, fc.array(choice, { maxLength: 3 })), usage: odd }, { requiredKeys: [] }));

it('recognizes the same completion chunks as the schema', () => {
  fc.assert(
    fc.property(piece, (value) => {
      expect(isGlance(value)).toBe(glance.safeParse(value).success);
    }),
    { numRuns: 2000 },
  );
});

it('counts a model’s output in every vendor’s format, and nothing else', () => {
  const known: [delta: unknown, chars: number][] = [
    [{ content: 'four' }, 4],
    [{ content: [{ type: 'text', text: 'abc' }, { type: 'thinking', thinking: [{ text: 'de' }] }, 'x', null] }, 5],
    [{ refusal: 'no' }, 2],
    [{ reasoning_content: 'abc', reasoning: 'abc' }, 3],
    [{ reasoning: 'abc' }, 3],
    [{ tool_calls: [{ function: { arguments: '{"a":1}' } }, { function: null }, null] }, 7],
    [{ content: 5, tool_calls: 'x', refusal: {}, reasoning: [] }, 0],
    ['text', 0],
  ];
  for (const [delta, chars] of known) {
    const watch = new CompletionWatch(1);
    watch.see({ choices: [{ index: 0, delta }] });
    expect([delta, watch.chars]).toEqual([delta, chars]);
  }
});
