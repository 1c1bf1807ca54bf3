import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lineFor } from './script.ts';

const words = join(import.meta.dirname, '../../words/frame/chat');
const answers = (message: string): string => lineFor([{ role: 'user', content: message }], new Set()).text;

it.each(readdirSync(words))('what an empty chat proposes has an answer of its own in the words of %s', (file) => {
  const said = JSON.parse(readFileSync(join(words, file), 'utf8')) as Record<string, string>;
  const proposed = ['learn', 'write', 'weigh'].map((way) => answers(said[`chat_start_${way}`] ?? ''));
  expect(proposed.map((text) => /places = 8|Hello Robin|merge sort/.exec(text)?.[0])).toEqual(['places = 8', 'Hello Robin', 'merge sort']);
});
