import { expect, test } from 'vitest';
import { pageOf, pathWithin, says, sorted, textOf } from './import-files.ts';

const given = (...paths: string[]) => paths.map((path) => ({ path, file: path }));
const paths = (list: { path: string }[]): string[] => list.map(({ path }) => path);

test('Markdown becomes pages, JSON lines claims; what is hidden or neither is counted', () => {
  const { pages, claims, left } = sorted(
    given('sources/Diary.markdown', 'Ana.md', '.obsidian/workspace.md', 'picture.png', 'claims.jsonl', '/entities/Miso.MD'),
  );
  expect(paths(pages)).toEqual(['Ana.md', 'entities/Miso.md', 'sources/Diary.md']);
  expect(paths(claims)).toEqual(['claims.jsonl']);
  expect(left).toBe(2);
});

test('paths begin within the folder that was chosen', () => {
  expect(pathWithin({ name: 'Miso.md', webkitRelativePath: 'vault/entities/Miso.md' })).toBe('entities/Miso.md');
  expect(pathWithin({ name: 'Miso.md', webkitRelativePath: '' })).toBe('Miso.md');
  // As one file system writes it and another reads it.
  expect(paths(sorted(given('Cafe\u0301.md')).pages)).toEqual(['Caf\u00e9.md']);
});

test('a file is taken apart as the wiki takes it', () => {
  expect(pageOf('---\ntags: [cat]\n---\nA cat.\n')).toEqual({ content: 'A cat.\n', frontMatter: 'tags: [cat]' });
  expect(pageOf('A cat.\n---\n')).toEqual({ content: 'A cat.\n---\n', frontMatter: undefined });
});

test('what makes a difference to a page that is there', () => {
  const page = { content: 'A cat.\n', frontMatter: 'title: Miso\ntags:\n  - cat\nupdated: 2026-11-22T09:30:00\n' };
  expect(says(page, pageOf('A cat.'))).toBe(true);
  expect(says(page, pageOf('---\ntags:\n  - cat\nupdated: 2025-01-01T00:00:00\n---\nA cat.\n'))).toBe(true);
  expect(says(page, pageOf('---\ntags:\n  - dog\n---\nA cat.\n'))).toBe(false);
  expect(says(page, pageOf('A dog.'))).toBe(false);
  const shown =
    'A cat.\n\n<!-- perch:claims:begin (Perch writes these lines) -->\n## Claims\n\n- Ten. ^claim-1\n<!-- perch:claims:end -->\n';
  expect(says(page, pageOf(shown))).toBe(true);
});

test('what is no text in UTF-8 is none for a page', async () => {
  expect(await textOf(new Blob(['\ufeffÀ la mer']))).toBe('À la mer');
  expect(await textOf(new Blob([Uint8Array.of(0xff, 0xfe, 0x41, 0x00)]))).toBe(null);
});
