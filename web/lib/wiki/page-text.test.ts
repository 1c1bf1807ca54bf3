import { describe, expect, it } from 'vitest';
import { headingsOf, linked as linkedIn, listPictures } from './page-text.ts';

const to = (target: string) => ({ href: `/wiki?page=${encodeURIComponent(target)}`, there: target !== 'None' });
const linked = (content: string, href: typeof to, from = 'A.md'): string => linkedIn(content, { from, href });

describe('the text of a wiki page', () => {
  it('has links in double brackets, but not in code', () => {
    expect(linked('See [[Miso]], [[Miso#Age]] and [[Ana|she *said*]].', to)).toBe(
      'See [Miso](</wiki?page=Miso>), [Miso › Age](</wiki?page=Miso>) and [she \\*said\\*](</wiki?page=Ana>).',
    );
    expect(linked('[[None]]', to)).toBe('[None](</wiki?page=None> "This page doesn’t exist yet")');
    for (const text of ['`[[Miso]]`', '``a ` [[Miso]]``', '```\n[[Miso]]\n```', '~~~ts\n[[Miso]]', '[[]]', '[[a\nb]]', '[Miso](x)'])
      expect(linked(text, to), text).toBe(text);
    expect(linked('```\n[[Miso]]\n```\n[[Miso]]', to)).toBe('```\n[[Miso]]\n```\n[Miso](</wiki?page=Miso>)');
    expect(linked('[[#Age]] [[x](javascript:alert(1))]]', to)).not.toContain('](<javascript');
  });

  it('has links of Markdown to other pages, but leaves all others', () => {
    expect(linked('[to b](B%20page.md) [rel](./B%20page.md "B") [up](../x/<c>.md#Top)', to, 'sub/A.md')).toBe(
      '[to b](</wiki?page=B%20page>) [rel](</wiki?page=sub%2FB%20page>) [up](../x/<c>.md#Top)',
    );
    expect(linked('[up](<../x/c d.md#Top>) [[../x/c]]', to, 'sub/A.md')).toBe('[up](</wiki?page=x%2Fc%20d>) [../x/c](</wiki?page=x%2Fc>)');
    for (const text of ['[a](https://x.test/b.md)', '[a](#top)', '[a](b.pdf)', '[a](/wiki?page=b)', '`[a](b.md)`', '[a](mailto:b.md)'])
      expect(linked(text, to), text).toBe(text);
  });

  it('has the pictures of the wiki', () => {
    const text = '![[cat one.png]] ![[cat one.png|100]] ![x](img/b%20c.jpg) ![y](https://x.test/a.png) `![[no.png]]` ![[Page]]';
    expect(listPictures(text)).toEqual(['cat one.png', 'img/b c.jpg']);
    const picture = (name: string) => (name === 'img/b c.jpg' ? undefined : `data:${name}`);
    expect(linkedIn(text, { from: 'A.md', href: to, picture })).toBe(
      '![cat one.png](<data:cat one.png>) ![cat one.png](<data:cat one.png>) ![x](img/b%20c.jpg) ![y](<data:https://x.test/a.png>) `![[no.png]]` [Page](</wiki?page=Page>)',
    );
  });

  it('has an outline', () => {
    expect(headingsOf('# Miso\n\n```\n# no\n```\n## Her [[Ana|age]] ##\ntext\n#none\n')).toEqual([
      { level: 1, text: 'Miso' },
      { level: 2, text: 'Her age' },
    ]);
  });

  it('takes a time that grows with the text alone', () => {
    for (const piece of ['[[', '`', '[[a|', '```\n', '# ', '[a](', '](a', '![a](', '![a](a a', 'a'] as const) {
      const text = piece.repeat(20_000);
      expect(typeof linked(text, to)).toBe('string');
      expect(Array.isArray(headingsOf(text))).toBe(true);
    }
  });
});
