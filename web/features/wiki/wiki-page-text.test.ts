import { describe, expect, it } from 'vitest';
import { getHeadings, rewriteLinks as linkedIn, listPictures } from './wiki-page-text.ts';

const toLink = (target: string) => ({ href: `/wiki?page=${encodeURIComponent(target)}`, exists: target !== 'None' });
const rewrite = (content: string, href: typeof toLink, from = 'A.md'): string => linkedIn(content, { from, href });

describe('the text of a wiki page', () => {
  it('has links in double brackets, but not in code', () => {
    expect(rewrite('See [[Miso]], [[Miso#Age]] and [[Ana|she *said*]].', toLink)).toBe(
      'See [Miso](</wiki?page=Miso>), [Miso › Age](</wiki?page=Miso>) and [she \\*said\\*](</wiki?page=Ana>).',
    );
    expect(rewrite('[[None]]', toLink)).toBe('[None](</wiki?page=None> "This page doesn’t exist yet")');
    for (const text of ['`[[Miso]]`', '``a ` [[Miso]]``', '```\n[[Miso]]\n```', '~~~ts\n[[Miso]]', '[[]]', '[[a\nb]]', '[Miso](x)'])
      expect(rewrite(text, toLink), text).toBe(text);
    expect(rewrite('```\n[[Miso]]\n```\n[[Miso]]', toLink)).toBe('```\n[[Miso]]\n```\n[Miso](</wiki?page=Miso>)');
    expect(rewrite('[[#Age]] [[x](javascript:alert(1))]]', toLink)).not.toContain('](<javascript');
  });

  it('has links of Markdown to other pages, but leaves all others', () => {
    expect(rewrite('[to b](B%20page.md) [rel](./B%20page.md "B") [up](../x/<c>.md#Top)', toLink, 'sub/A.md')).toBe(
      '[to b](</wiki?page=B%20page>) [rel](</wiki?page=sub%2FB%20page>) [up](../x/<c>.md#Top)',
    );
    expect(rewrite('[up](<../x/c d.md#Top>) [[../x/c]]', toLink, 'sub/A.md')).toBe(
      '[up](</wiki?page=x%2Fc%20d>) [../x/c](</wiki?page=x%2Fc>)',
    );
    for (const text of ['[a](https://x.test/b.md)', '[a](#top)', '[a](b.pdf)', '[a](/wiki?page=b)', '`[a](b.md)`', '[a](mailto:b.md)'])
      expect(rewrite(text, toLink), text).toBe(text);
  });

  it('has the pictures of the wiki', () => {
    const text = '![[cat one.png]] ![[cat one.png|100]] ![x](img/b%20c.jpg) ![y](https://x.test/a.png) `![[no.png]]` ![[Page]]';
    expect(listPictures(text)).toEqual(['cat one.png', 'img/b c.jpg']);
    const picture = (name: string) => (name === 'img/b c.jpg' ? undefined : `data:${name}`);
    expect(linkedIn(text, { from: 'A.md', href: toLink, picture })).toBe(
      '![cat one.png](<data:cat one.png>) ![cat one.png](<data:cat one.png>) ![x](img/b%20c.jpg) ![y](<data:https://x.test/a.png>) `![[no.png]]` [Page](</wiki?page=Page>)',
    );
  });

  it('has an outline', () => {
    expect(getHeadings('# Miso\n\n```\n# no\n```\n## Her [[Ana|age]] ##\ntext\n#none\n')).toEqual([
      { level: 1, text: 'Miso' },
      { level: 2, text: 'Her age' },
    ]);
  });

  it('takes a time that grows with the text alone', () => {
    for (const piece of ['[[', '`', '[[a|', '```\n', '# ', '[a](', '](a', '![a](', '![a](a a', 'a'] as const) {
      const text = piece.repeat(20_000);
      expect(typeof rewrite(text, toLink)).toBe('string');
      expect(Array.isArray(getHeadings(text))).toBe(true);
    }
  });
});
