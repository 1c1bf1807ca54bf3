import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { parseMemoryList } from './memory-list.ts';

const texts = (text: string): string[] => parseMemoryList(text).map((memory) => memory.text);

verifies('memory.app/import', 'of ChatGPT: lines, bullets and numbers, with what surrounds a list left out', () => {
  expect(texts('Has a cat named Miso.\nWorks at night\n\nLives in Ghent')).toEqual([
    'Has a cat named Miso.',
    'Works at night',
    'Lives in Ghent',
  ]);
  expect(texts('Here is what I remember about you:\n\n1. Has a cat\n2) Works\n   at night\n• Lives in Ghent\n* Has a cat\n---')).toEqual([
    'Has a cat',
    'Works\nat night',
    'Lives in Ghent',
  ]);
  expect(texts('2024-05-01 - Bought a boat: “Ida”')).toEqual(['Bought a boat: “Ida”']);
  expect(texts(' \n```\n```\n***\n')).toEqual([]);
});

verifies('memory.app/import', 'of Claude: a list under headings with dates, in a block of code; its summaries', () => {
  const list =
    '```markdown\n## Instructions\n[2025-01-03] - Always answer in metric units\n[unknown] - Be brief\n\n## Projects\n[2025-02-03] - Builds a boat\n```';
  expect(parseMemoryList(list)).toEqual([
    { text: 'Always answer in metric units', category: 'preference', createdAt: Date.UTC(2025, 0, 3) },
    { text: 'Be brief', category: 'preference' },
    { text: 'Builds a boat', category: 'fact', createdAt: Date.UTC(2025, 1, 3) },
  ]);
  expect(parseMemoryList('**Work context**\n\nAna is a baker. She opens at six.\n\n**Top of mind**\n\nPrefers rye.')).toEqual([
    { text: 'Ana is a baker. She opens at six.', category: 'fact' },
    { text: 'Prefers rye.', category: 'preference' },
  ]);
});

verifies('memory.app/import', 'of JSON: texts, objects, and Claude’s memories.json; other JSON has none', () => {
  expect(parseMemoryList('["Has a cat", {"content": "Works at night", "created_at": "2025-01-03T00:00:00Z"}]')).toEqual([
    { text: 'Has a cat', category: 'fact' },
    { text: 'Works at night', category: 'fact', createdAt: Date.UTC(2025, 0, 3) },
  ]);
  expect(texts('{"memories": [{"memory": "Has a cat"}]}')).toEqual(['Has a cat']);
  expect(texts('[{"conversations_memory": "- Has a cat", "project_memories": {"p": "- Builds a boat"}}]')).toEqual([
    'Has a cat',
    'Builds a boat',
  ]);
  expect(texts('[{"mapping": {}, "content": "no"}]')).toEqual([]);
  expect(texts(`{"memories": ${'['.repeat(5000)}${']'.repeat(5000)}}`)).toEqual([]);
  expect(texts('["Has a cat", "Has a cat"]')).toEqual(['Has a cat']);
  expect(texts('{"a": 1')).toEqual(['{"a": 1']);
});

verifies('memory.app/import', 'a text that is too long for a memory is left out; the time grows with the text alone', () => {
  expect(texts(`${'x'.repeat(10_001)}\nshort`)).toEqual(['short']);
  for (const piece of ['- ', '**', '[2025-01-03', '#', 'a: ', '1. a\n  b\n'])
    expect(Array.isArray(parseMemoryList(piece.repeat(20_000)))).toBe(true);
});
