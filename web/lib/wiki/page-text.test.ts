import { describe, expect, it } from 'vitest';
import { headingsOf, linked } from './page-text.ts';

const to = (target: string) => ({ href: `/wiki?page=${encodeURIComponent(target)}`, there: target !== 'None' });

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

  it('has an outline', () => {
    expect(headingsOf('# Miso\n\n```\n# no\n```\n## Her [[Ana|age]] ##\ntext\n#none\n')).toEqual([
      { level: 1, text: 'Miso' },
      { level: 2, text: 'Her age' },
    ]);
  });

  it('takes a time that grows with the text alone', () => {
    for (const piece of ['[[', '`', '[[a|', '```\n', '# '] as const) {
      const text = piece.repeat(20_000);
      expect(typeof linked(text, to)).toBe('string');
      expect(Array.isArray(headingsOf(text))).toBe(true);
    }
  });
});
