import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { toImageDataUrl } from './image-data-url.ts';

verifies('canvas.classes/image', 'an image with a content type that is none is refused in words', () => {
  const bytes = new Uint8Array([1, 2, 3]);
  expect(toImageDataUrl('image/png', bytes)).toBe('data:image/png;base64,AQID');
  expect(() => toImageDataUrl('text/html', bytes)).toThrow('The image has the content type text/html. Use one such as image/png');
  expect(() => toImageDataUrl('', bytes)).toThrow('The image has no content type. Use one such as image/png');
  expect(() => toImageDataUrl('image/png', new Uint8Array(40_000_000))).toThrow('The image is too large (40000000 bytes)');
});
