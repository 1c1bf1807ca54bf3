import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kinds } from '../../shared/canvas/testing.ts';
import { galleryPage } from '../gallery/page.ts';
import { SCENES } from '../gallery/scenes.ts';

const docs = join(import.meta.dirname, '../../docs');

test('docs/gallery.html is what `npm run docs` writes', () => {
  expect(readFileSync(join(docs, 'gallery.html'), 'utf8')).toBe(galleryPage());
});

test('every kind of shape has a picture there, but for pictures themselves', () => {
  const drawn = new Set<string>(SCENES.flatMap(({ drawing }) => drawing.shapes.map(({ kind }) => kind)));
  expect(kinds.filter((kind) => !drawn.has(kind))).toEqual(['image']);
  expect(SCENES.map(({ name }) => name).filter((name) => !existsSync(join(docs, `gallery/${name}.png`)))).toEqual([]);
});
