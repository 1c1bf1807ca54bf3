import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KIND_NAMES } from '../../shared/canvas/shape-samples.ts';
import { createGalleryPage } from '../gallery/gallery-page.ts';
import { SCENES } from '../gallery/gallery-scenes.ts';

const docs = join(import.meta.dirname, '../../docs');

test('docs/gallery.html is what `npm run docs` writes', () => {
  expect(readFileSync(join(docs, 'gallery.html'), 'utf8')).toBe(createGalleryPage());
});

test('every kind of shape has a picture there, but for pictures themselves', () => {
  const drawn = new Set<string>(SCENES.flatMap(({ drawing }) => drawing.shapes.map(({ kind }) => kind)));
  expect(KIND_NAMES.filter((kind) => !drawn.has(kind))).toEqual(['image']);
  expect(SCENES.map(({ name }) => name).filter((name) => !existsSync(join(docs, `gallery/${name}.png`)))).toEqual([]);
});
