import { expect, test } from 'vitest';
import { placeNote } from './place-note.ts';

const note = { width: 290, height: 90 };
const wide = { width: 1280, height: 800 };

test('a note is beside its marker, on the side that has room', () => {
  expect(placeNote({ x: 400, y: 300, radius: 14 }, note, wide)).toEqual({ left: 430, top: 284 });
  expect(placeNote({ x: 1200, y: 300, radius: 14 }, note, wide)).toEqual({ left: 880, top: 284 });
});

test('a note stays within the canvas', () => {
  expect(placeNote({ x: 400, y: 5, radius: 14 }, note, wide).top).toBe(72);
  expect(placeNote({ x: 400, y: 795, radius: 14 }, note, wide).top).toBe(698);
  const { left, top } = placeNote({ x: 9000, y: 9000, radius: 14 }, note, wide);
  expect([left, top]).toEqual([978, 698]);
  expect(placeNote({ x: -900, y: -900, radius: 14 }, note, wide)).toEqual({ left: 12, top: 72 });
});

test('on narrow screens a note is below its marker, or above it at the bottom', () => {
  const narrow = { width: 390, height: 844 };
  expect(placeNote({ x: 195, y: 300, radius: 14 }, note, narrow)).toEqual({ left: 50, top: 330 });
  expect(placeNote({ x: 195, y: 800, radius: 14 }, note, narrow)).toEqual({ left: 50, top: 680 });
});
