import { expect, it } from 'vitest';
import { toToolLabel } from './tool-label.ts';

const label = (tool: { title?: string; annotations?: { title?: string }; description?: string }) =>
  toToolLabel({ name: 'get-sum', inputSchema: { type: 'object' }, ...tool }, 'all');

it('the title is the tool’s own, else its annotation’s, else its name', () => {
  expect(label({ title: 'Get Sum', annotations: { title: 'Sum' } }).title).toBe('Get Sum');
  expect(label({ title: ' \n', annotations: { title: 'Sum' } }).title).toBe('Sum');
  expect(label({ annotations: {} }).title).toBe('get-sum');
});

it.each([
  ['Adds two numbers. Call it for sums only.', 'Adds two numbers.'],
  ['Adds numbers,\n  e.g. 1.5 and 2. Always!', 'Adds numbers, e.g. 1.5 and 2.'],
  ['Adds two numbers\n\nArgs:\n  a: the first', 'Adds two numbers'],
  ['Addiert. 足す。', 'Addiert.'],
  ['足し算をする。二つの数。', '足し算をする。'],
  ['', 'Tool of the MCP server all.'],
  [undefined, 'Tool of the MCP server all.'],
])('the summary of %j is its first sentence', (description, summary) => {
  expect(label(description === undefined ? {} : { description }).summary).toBe(summary);
});

it('both are one short line in which nothing hides', () => {
  const { title, summary } = label({ title: `a\u202eb\n${'x'.repeat(500)}`, description: `\u200bc ${'y'.repeat(5000)}` });
  expect(title).toMatch(/^a\\u\{202e\}b x+…$/);
  expect(summary).toMatch(/^\\u\{200b\}c y+…$/);
  expect([title.length, summary.length]).toEqual([101, 201]);
});
