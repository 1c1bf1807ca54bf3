import { expect, it } from 'vitest';
import { groupTools } from './tool-catalog.ts';

const tool = (name: string, source: string, description = '', label: { title?: string; summary?: string } = {}) => ({
  ...{ name, source, description, ...label },
  ...{ effect: false, policy: 'auto' as const },
});

it('tools are grouped by source, those of tool servers last, and found by all words', () => {
  const list = [
    tool('mcp:b:x', 'mcp:b'),
    tool('mcp:a:y', 'mcp:a'),
    tool('read_pdf', 'office', 'Text by pages', { title: 'Read PDF', summary: 'Reads the text of a PDF.' }),
    tool('now', 'core', 'The time'),
  ];
  expect(groupTools(list, '').map(({ title }) => title)).toEqual(['Built in', 'Files and documents', 'MCP server: a', 'MCP server: b']);
  expect(groupTools(list, 'PDF read').flatMap(({ tools }) => tools.map(({ name }) => name))).toEqual(['read_pdf']);
  expect(groupTools(list, 'text by').flatMap(({ tools }) => tools.map(({ name }) => name))).toEqual(['read_pdf']);
  expect(groupTools([tool('x', 'constructor')], '').map(({ title }) => title)).toEqual(['constructor']);
  expect(groupTools(list, 'none')).toEqual([]);
});
