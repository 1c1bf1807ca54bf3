import { expect, test } from 'vitest';
import { PointerTranslator } from './pointer-translator.ts';
import type { Input } from './input-queue.ts';
import { toPagePoint } from './to-page-point.ts';

const PICTURE = { left: 10, top: 20, width: 640, height: 400 };
const PAGE = { width: 1280, height: 800 };

function createTranslator(): { hand: PointerTranslator; got: Input[] } {
  const got: Input[] = [];
  return {
    hand: new PointerTranslator(
      (at) => toPagePoint(PAGE, PICTURE, at),
      (input) => got.push(input),
    ),
    got,
  };
}

const pointerAt = (clientX: number, clientY: number, more: Partial<PointerEvent> = {}) => ({
  ...{ pointerId: 1, pointerType: 'mouse', button: 0, buttons: 0, clientX, clientY, timeStamp: 0 },
  ...more,
});

test('places are in the page’s pixels; what is beside the picture is at its edge', () => {
  expect(toPagePoint(PAGE, PICTURE, { clientX: 10, clientY: 20 })).toEqual({ x: 0, y: 0 });
  expect(toPagePoint(PAGE, PICTURE, { clientX: 330, clientY: 220 })).toEqual({ x: 640, y: 400 });
  expect(toPagePoint(PAGE, PICTURE, { clientX: 5_000, clientY: -5 })).toEqual({ x: 1279, y: 0 });
  expect(toPagePoint(PAGE, { ...PICTURE, width: 0, height: 0 }, { clientX: 50, clientY: 50 })).toEqual({ x: 0, y: 0 });
});

test('a double click counts; far apart, late or by another button it does not', () => {
  const { hand: mouse, got } = createTranslator();
  const click = (x: number, timeStamp: number, button = 0): void => {
    mouse.down(pointerAt(x, 20, { timeStamp, button }));
    mouse.up(pointerAt(x, 20, { timeStamp, button }));
  };
  click(10, 0);
  click(11, 200);
  click(11, 300, 2);
  click(11, 400);
  click(100, 500);
  click(100, 2_000);
  expect(got.filter(({ type }) => type === 'press').map(({ button, count }) => [button, count])).toEqual([
    ['left', 1],
    ['left', 2],
    ['right', 1],
    ['left', 1],
    ['left', 1],
    ['left', 1],
  ]);
  expect(got.filter(({ type }) => type === 'release')).toHaveLength(6);
});

test('a drag is press, moves, release; taken away it is let go where it began', () => {
  const { hand: mouse, got } = createTranslator();
  mouse.move(pointerAt(20, 30));
  mouse.down(pointerAt(20, 30));
  mouse.move(pointerAt(30, 30, { buttons: 1 }));
  mouse.move(pointerAt(90, 90, { pointerId: 2, buttons: 1 }));
  mouse.up(pointerAt(40, 30));
  mouse.down(pointerAt(20, 30, { timeStamp: 9_000 }));
  mouse.release();
  mouse.release();
  expect(got.map(({ type, x, y }) => [type, x, y])).toEqual([
    ['move', 20, 20],
    ['press', 20, 20],
    ['move', 40, 20],
    ['release', 60, 20],
    ['press', 20, 20],
    ['release', 20, 20],
  ]);
});

test('a finger taps, and scrolls by dragging; another finger does nothing', () => {
  const { hand: finger, got } = createTranslator();
  const touch = { pointerType: 'touch' };
  finger.down(pointerAt(110, 120, touch));
  finger.move(pointerAt(112, 121, touch));
  finger.up(pointerAt(112, 121, touch));
  expect(got.map(({ type, x, y }) => [type, x, y])).toEqual([
    ['press', 204, 202],
    ['release', 204, 202],
  ]);
  got.length = 0;
  finger.down(pointerAt(110, 220, touch));
  finger.down(pointerAt(300, 300, { ...touch, pointerId: 2 }));
  finger.move(pointerAt(110, 170, touch));
  finger.move(pointerAt(110, 120, touch));
  finger.up(pointerAt(300, 300, { ...touch, pointerId: 2 }));
  finger.up(pointerAt(110, 120, touch));
  expect(got.map(({ type, deltaX, deltaY }) => [type, deltaX, deltaY])).toEqual([
    ['wheel', 0, 100],
    ['wheel', 0, 100],
  ]);
});
