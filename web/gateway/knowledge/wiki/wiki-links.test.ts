import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { memoryWorkspace } from '../memory/workspace.ts';
import { findLinks, LinkTargets } from './wiki-links.ts';
import { buildGraph } from './wiki-graph.ts';
import { WikiVault } from './wiki-vault.ts';

const named = (...paths: string[]) => paths.map((path) => ({ path, title: path.replace(/.*\/|\.md$/g, ''), aliases: [] }));

verifies('wiki.pages/links', 'of Markdown and relative ones count as those in double brackets do', async () => {
  const vault = new WikiVault(memoryWorkspace(() => 0));
  await vault.savePage({ path: 'A', content: '# A\n[to b](B%20page.md) [rel](./B%20page.md)\n[[../markdown-links/B page]]\n' });
  await vault.savePage({ path: 'B page', content: '# B\nx\n' });
  await vault.savePage({
    path: 'deep/er/C',
    content: '[up](../../B%20page.md#Top "t") [[../D]] ![no](B%20page.md.png) [w](https://x.test/B%20page.md) [n](None.md)',
  });
  await vault.savePage({ path: 'deep/D', content: '`[code](../A.md)`' });
  const { backlinks } = await vault.graph();
  expect(backlinks.get('B page.md')?.map(({ path, links }) => [path, links.map(({ line }) => line)])).toEqual([
    ['A.md', [2, 2, 3]],
    ['deep/er/C.md', [1]],
  ]);
  expect(backlinks.get('deep/D.md')?.map(({ path }) => path)).toEqual(['deep/er/C.md']);
  expect(backlinks.get('A.md')).toBeUndefined();
  const { edges, nodes } = await buildGraph(vault, new AbortController().signal);
  expect(edges.map(({ from, to }) => `${from} ${to}`)).toEqual([
    'A.md B page.md',
    'deep/er/C.md B page.md',
    'deep/er/C.md ?none',
    'deep/er/C.md deep/D.md',
  ]);
  expect(nodes.filter(({ path }) => path === null).map(({ title }) => title)).toEqual(['None']);
});

verifies('wiki.pages/links', 'a relative link means the page at that path, not one of the same name elsewhere', () => {
  const targets = new LinkTargets(named('x/Note.md', 'y/Note.md', 'y/z/Note.md'));
  const target = (text: string, from: string): string | undefined => targets.resolve(findLinks(text, from)[0]?.target ?? '?', from);
  expect(target('[a](../x/Note.md)', 'y/Other.md')).toBe('x/Note.md');
  expect(target('[a](./z/Note.md)', 'y/Other.md')).toBe('y/z/Note.md');
  expect(target('[[./Note]]', 'y/Other.md')).toBe('y/Note.md');
  expect(target('[a](../../../Note.md)', 'y/Other.md')).toBe('y/Note.md');
});
