import { expect, it } from 'vitest';
import { formatCount } from './format-count.ts';

it('counts one, none and many', () => {
  expect([0, 1, 2, 1200].map((value) => formatCount(value, 'call'))).toEqual(['0 calls', '1 call', '2 calls', '1,200 calls']);
});
