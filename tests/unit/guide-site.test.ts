import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { GROUPS } from '../../docs/site/pages.ts';
import { findBrokenLinks, renderGuidePage, toDocument } from '../../docs/site/render.ts';
import { toSearchText } from '../../docs/site/search-text.ts';
import { parseGuidePage } from '../../web/gateway/agent/guide/guide-page.ts';

const folder = join(import.meta.dirname, '../../docs/guide');
const names = readdirSync(folder).flatMap((file) => (file.endsWith('.md') ? [file.slice(0, -3)] : []));
const pages = names.map((name) => renderGuidePage(name, readFileSync(join(folder, `${name}.md`), 'utf8')));

it('lists every page of the guide once', () => {
  expect(GROUPS.flatMap((group) => group.pages).sort()).toEqual([...names].sort());
});

it('has a title, a description and one heading of the first level on each page, and no anchor twice', () => {
  for (const { name, title, description, headings } of pages) {
    expect([title, description], name).not.toContain('');
    expect(headings.filter(({ level }) => level === 1).length, name).toBe(1);
    expect(new Set(headings.map(({ id }) => id)).size, name).toBe(headings.length);
  }
});

it('has no link that leads nowhere', () => {
  expect(findBrokenLinks(pages)).toEqual([]);
  const [wrong] = [renderGuidePage('a', '# A\n\n[x](./b.md) [y](#a) [z](#no) [w](https://example.org/b.md)')];
  expect(findBrokenLinks([wrong])).toEqual(['a.md: b', 'a.md: a#no']);
});

it('names sections as the built-in guide does', () => {
  for (const { name, headings } of pages) {
    const ids = new Set(headings.map(({ id }) => `${name}#${id}`));
    for (const { id } of parseGuidePage(name, readFileSync(join(folder, `${name}.md`), 'utf8'))) expect(ids).toContain(id);
  }
});

it('escapes page text, and links pages with each other', () => {
  const page = renderGuidePage(
    'a',
    '---\ntitle: A < B\ndescription: "x"\n---\n\n# A < B\n\n`<b>` [next](./c.md#d)\n\n```ts\nconst a = 1 < 2;\n```\n',
  );
  const html = toDocument(page, { groups: [{ title: 'All', pages: [page] }], next: { name: 'c', title: 'C & D' } });
  expect(html).toContain('<title>A &lt; B · Perch</title>');
  expect(html).toContain('<code>&lt;b&gt;</code> <a href="c.html#d">next</a>');
  expect(html).toContain('<span class="hljs-keyword">const</span>');
  expect(html).toContain('<a rel="next" href="c.html"><small>Next</small>C &amp; D</a>');
  expect(html).toContain('<a href="a.html" aria-current="page">');
});

it('splits a page at its headings, not at those in code', () => {
  const source =
    '# P\n\nIntro\n\n## One\n\n<!-- keywords: uno -->\n\nText with [a link](./b.md) and ![a picture](x.png).\n\n```sh\n## no heading\n```\n\n### Two `x`\n\nMore\n\n## Empty\n';
  expect(parseGuidePage('p', source)).toEqual([
    { id: 'p#one', title: 'One', page: 'P', keywords: 'uno', text: 'Text with a link and .\n\n```sh\n## no heading\n```' },
    { id: 'p#two-x', title: 'Two `x`', page: 'P', text: 'More' },
  ]);
});

it('shows sections in search results without Markdown', () => {
  const section = '### Start\n\n1. Run **it**:\n\n   ```sh\n   perch open\n   ```\n\n| To | Do |\n| --- | :-: |\n| Stop | `Ctrl+C` |\n';
  expect(toSearchText(section)).toBe('Start 1. Run it: perch open To · Do Stop · Ctrl+C');
});
