import { expect } from 'vitest';
import { verifies } from '../tests/requirements.ts';
import { ReasoningParser } from './reasoning-parser.ts';

/** Thought and answer of a text that arrives in pieces of `size`. */
function parse(text: string, stops: string[] = [], size = text.length) {
  const out = { thought: '', answer: '' };
  const answer = new ReasoningParser(stops, (piece) => (out[piece.thought ? 'thought' : 'answer'] += piece.text));
  for (let at = 0; at < text.length; at += size) answer.add(text.slice(at, at + size));
  answer.end();
  return { ...out, stopped: answer.isStopped };
}

verifies('browser-models/text', 'thoughts, and texts to stop at, wherever the pieces are cut', () => {
  for (const size of [1, 2, 3, 5, 100]) {
    expect(parse('<think>so\n</think>\n\nHello', [], size)).toEqual({ thought: 'so\n', answer: 'Hello', stopped: false });
    expect(parse('one two three', ['two', 'three'], size)).toEqual({ thought: '', answer: 'one ', stopped: true });
    expect(parse('a <b> and <thin', ['<br>'], size)).toEqual({ thought: '', answer: 'a <b> and <thin', stopped: false });
    expect(parse('<think>STOP</think>no STOP yes', ['STOP'], size)).toEqual({ thought: 'STOP', answer: 'no ', stopped: true });
  }
});

verifies('browser-models/text', 'text that cannot start a marker is returned at once', () => {
  const pieces: string[] = [];
  const answer = new ReasoningParser(['stop'], ({ text }) => pieces.push(text));
  for (const text of ['Hello ', 'st', 'ill', ' there']) answer.add(text);
  expect(pieces).toEqual(['Hello ', 'still', ' there']);
});
