import { expect, it } from 'vitest';
import { counted } from './counted.ts';

it('counts one, none and many', () => {
  expect([0, 1, 2, 1200].map((value) => counted(value, 'call'))).toEqual(['0 calls', '1 call', '2 calls', '1,200 calls']);
});
