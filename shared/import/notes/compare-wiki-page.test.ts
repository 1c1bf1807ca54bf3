import { expect, test } from 'vitest';
import { findClippedUrl, isSamePage, toPageContent } from './compare-wiki-page.ts';

test('a file is taken apart as the wiki takes it', () => {
  expect(toPageContent('---\ntags: [cat]\n---\nA cat.\n')).toEqual({ content: 'A cat.\n', frontMatter: 'tags: [cat]' });
  expect(toPageContent('A cat.\n---\n')).toEqual({ content: 'A cat.\n---\n', frontMatter: undefined });
});

test('what makes a difference to a page that exists', () => {
  const page = { content: 'A cat.\n', frontMatter: 'title: Miso\ntags:\n  - cat\nupdated: 2026-11-22T09:30:00\n' };
  expect(isSamePage(page, toPageContent('A cat.'))).toBe(true);
  expect(isSamePage(page, toPageContent('---\ntags:\n  - cat\nupdated: 2025-01-01T00:00:00\n---\nA cat.\n'))).toBe(true);
  expect(isSamePage(page, toPageContent('---\ntags:\n  - dog\n---\nA cat.\n'))).toBe(false);
  expect(isSamePage(page, toPageContent('A dog.'))).toBe(false);
  const shown =
    'A cat.\n\n<!-- perch:claims:begin (Perch writes these lines) -->\n## Claims\n\n- Ten. ^claim-1\n<!-- perch:claims:end -->\n';
  expect(isSamePage(page, toPageContent(shown))).toBe(true);
});

test('a page that was clipped from the web names its address', () => {
  expect(findClippedUrl(toPageContent('---\ntitle: X\nsource: "https://x.test/a"\n---\n'))).toBe('https://x.test/a');
  expect(findClippedUrl(toPageContent('---\nsource: a book\n---\nsource: https://x.test'))).toBeUndefined();
});
