import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { RecordSeal } from './record-seal.ts';

const KEY = 'k'.repeat(42) + 'A';
const OTHER = 'x'.repeat(42) + 'A';

verifies('vault.cluster/sealed', 'opens with the same key at the same place only, and not once a bit is changed', () => {
  const seal = new RecordSeal(KEY);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), fc.nat(), (bytes, place, at) => {
      const sealed = seal.seal(bytes, place);
      expect(seal.seal(bytes, place)).not.toEqual(sealed);
      expect(new RecordSeal(KEY).open(sealed, place)).toEqual(Buffer.from(bytes));
      expect(seal.open(sealed, `${place}.`)).toBeUndefined();
      expect(new RecordSeal(OTHER).open(sealed, place)).toBeUndefined();
      const changed = Uint8Array.from(sealed);
      changed[at % sealed.length]! ^= 1 << (at % 8);
      expect(seal.open(changed, place)).toBeUndefined();
      expect(seal.open(sealed.subarray(0, at % sealed.length), place)).toBeUndefined();
    }),
  );
});

verifies('vault.cluster/sealed', 'names are the same on every bridge of a vault, another vault’s are others, and they say nothing', () => {
  const [seal, again, other] = [new RecordSeal(KEY), new RecordSeal(KEY), new RecordSeal(OTHER)];
  expect(seal.name('r', 'sessions', 'Anna')).toBe(again.name('r', 'sessions', 'Anna'));
  expect(seal.name('r', 'sessions', 'Anna')).toMatch(/^[A-Za-z0-9_-]{22}$/);
  expect(seal.name('r', 'ab', 'c')).not.toBe(seal.name('r', 'a', 'bc'));
  expect(other.name('r', 'sessions', 'Anna')).not.toBe(seal.name('r', 'sessions', 'Anna'));
  expect([seal.vault, other.vault]).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/), expect.stringMatching(/^[0-9a-f]{16}$/)]);
  expect(seal.vault).not.toBe(other.vault);
});
