import { expect, test } from 'vitest';
import { findPicture } from './find-picture.ts';

test('finds a picture beside the page, from the top, or by its name', () => {
  const files = ['wiki/a.png', 'wiki/sub/a.png', 'wiki/sub/img/b c.png', 'wiki/deep/er/z.png', 'wiki/x/z.png', 'wiki/n.png.md'].map(
    (path) => ({
      path,
      size: 1,
      mimeType: path.endsWith('.md') ? 'text/markdown' : 'image/png',
    }),
  );
  const find = (name: string, from = 'sub/Page.md'): string | undefined => findPicture(files, from, name)?.path;
  expect(find('a.png')).toBe('wiki/sub/a.png');
  expect(find('a.png', 'Page.md')).toBe('wiki/a.png');
  expect(find('../a.png')).toBe('wiki/a.png');
  expect(find('img/b c.png')).toBe('wiki/sub/img/b c.png');
  expect(find('B C.png', 'Page.md')).toBe('wiki/sub/img/b c.png');
  expect(find('z.png')).toBe('wiki/x/z.png');
  expect(find('../../assets/z.png')).toBeUndefined();
  expect(find('n.png.md')).toBeUndefined();
});
