import fc from 'fast-check';
import { expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { ReasoningParser } from '../reasoning-parser.ts';
import { parseCompletionChunk } from './completion-tracker.ts';
import { splitReasoning, ThinkTagSplitter } from './think-tag-splitter.ts';

const chunk = (content: string, finish_reason: string | null = null, index = 0): string =>
  JSON.stringify({ choices: [{ index, delta: { content }, finish_reason }] });

/** The events that go to the caller. */
function filterEvents(events: readonly string[], { choices = 1, thinksFirst = false } = {}): string[] {
  const splitter = new ThinkTagSplitter<string>(choices, thinksFirst);
  const out: string[] = [];
  for (const data of events) {
    const output = splitter.add(parseCompletionChunk(data) ?? {}, data);
    out.push(...(output ? output.map((each) => ('data' in each ? each.data : each.event)) : [data]));
  }
  return [...out, ...splitter.end().map((each) => ('data' in each ? each.data : each.event))];
}

function collectText(events: readonly string[], index = 0): { content: string; reasoning: string; ends: number } {
  const out = { content: '', reasoning: '', ends: 0 };
  for (const event of events) {
    for (const choice of (JSON.parse(event) as { choices: { index: number; delta: Record<string, string>; finish_reason: string }[] })
      .choices) {
      if (choice.index !== index) continue;
      out.content += choice.delta['content'] ?? '';
      out.reasoning += choice.delta['reasoning_content'] ?? '';
      if (choice.finish_reason) out.ends++;
    }
  }
  return out;
}

const splitEvery = (text: string, size: number): string[] => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];

verifies('http.chat/thoughts-in-text', 'told apart wherever the text is cut', () => {
  for (const size of [1, 2, 3, 7, 100]) {
    const splitStream = (text: string, thinksFirst = false) =>
      collectText(filterEvents([...splitEvery(text, size).map((piece) => chunk(piece)), chunk('', 'stop')], { thinksFirst }));
    expect(splitStream('<think>plan</think>\n\nHello')).toEqual({ content: 'Hello', reasoning: 'plan', ends: 1 });
    expect(splitStream('\n<think>plan')).toEqual({ content: size > 1 ? '' : '\n', reasoning: 'plan', ends: 1 });
    expect(splitStream('<think></think>Hello')).toEqual({ content: 'Hello', reasoning: '', ends: 1 });
    expect(splitStream('plan</think>\n\nHello', true)).toEqual({ content: 'Hello', reasoning: 'plan', ends: 1 });
    expect(splitStream('Hello', true)).toEqual({ content: 'Hello', reasoning: 'Hello', ends: 1 });
    expect(splitStream('plan</think>Hello')).toEqual({ content: 'planHello', reasoning: '', ends: 1 });
  }
});

verifies('http.chat/thoughts-in-text', 'before a call, and for each choice by itself', () => {
  const call = JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'a' }] }, finish_reason: null }] });
  const output = filterEvents([chunk('<think>plan'), chunk('</think>'), call, chunk('', 'tool_calls')]);
  expect(collectText(output)).toEqual({ content: '', reasoning: 'plan', ends: 1 });
  expect(output).toContain(call);
  const two = filterEvents([chunk('<th', null, 0), chunk('a <b', null, 1), chunk('ink>plan</think>x', 'stop', 0), chunk('>c', 'stop', 1)], {
    choices: 2,
  });
  expect(collectText(two, 0)).toEqual({ content: 'x', reasoning: 'plan', ends: 1 });
  expect(collectText(two, 1)).toEqual({ content: 'a <b>c', reasoning: '', ends: 1 });
});

verifies('http.chat/thoughts-in-text', 'events without marks keep their bytes and their order', () => {
  const piece = fc.constantFrom('', 'a', '<', '</', '</th', '<b>', '`</think>`', '\n', 'say <think>', 'x</b> ');
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, fc.nat(1)), { maxLength: 12 }), (pieces) => {
      const events = pieces.map(([text, index]) => chunk(text, null, index));
      const isMarked = [0, 1].some((index) => {
        const text = pieces.flatMap(([each, at]) => (at === index ? [each] : [])).join('');
        const read = new ReasoningParser([], () => {});
        read.add(text);
        return text.trimStart().startsWith('<think>') || read.isUnopened;
      });
      fc.pre(!isMarked);
      expect(filterEvents(events, { choices: 2 })).toEqual(events);
    }),
  );
});

it('leaves a server’s own field for thoughts alone', () => {
  const events = [JSON.stringify({ choices: [{ index: 0, delta: { reasoning_content: 'plan' } }] }), chunk('<think>'), chunk('x', 'stop')];
  expect(filterEvents(events)).toEqual(events);
});

verifies('http.chat/thoughts-in-text', 'of a whole answer', () => {
  const splitCompletion = (content: string, more: object = {}) =>
    splitReasoning({ choices: [{ index: 0, message: { role: 'assistant', content, ...more } }] });
  const message = (content: string | null, reasoning_content: string, more: object = {}) => ({
    choices: [{ index: 0, message: { role: 'assistant', content, ...more, reasoning_content } }],
  });
  expect(splitCompletion('<think>plan</think>\n\nHello')).toEqual({ completion: message('Hello', 'plan'), isUnopened: false });
  expect(splitCompletion('plan</think>Hello')).toEqual({ completion: message('Hello', 'plan'), isUnopened: true });
  const calls = { tool_calls: [{ id: 'a' }] };
  expect(splitCompletion('<think>plan</think>', calls)).toEqual({ completion: message(null, 'plan', calls), isUnopened: false });
  for (const text of ['Hello', 'say `</think>`', 'use <think> and </think>', '']) expect(splitCompletion(text)).toBeUndefined();
  expect(splitCompletion('<think>a</think>b', { reasoning_content: 'own' })).toBeUndefined();
});
