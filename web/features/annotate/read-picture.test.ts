import { expect, test } from 'vitest';
import { fitSize } from './read-picture.ts';

test('a picture keeps its proportions, and is no larger than all browsers can draw', () => {
  expect(fitSize(1920, 1080)).toEqual({ width: 1920, height: 1080 });
  const huge = fitSize(12_000, 9_000);
  expect(huge.width * huge.height).toBeLessThanOrEqual(16_777_216);
  expect(huge.width / huge.height).toBeCloseTo(4 / 3, 2);
  expect(fitSize(100_000, 10)).toEqual({ width: 8192, height: 1 });
});
