import fc from 'fast-check';
import { expect, it } from 'vitest';
import { getBase64ByteLength, fromBase64, toBase64, toBase64url } from './base64.ts';

it('counts the bytes that base64 stands for, padded or not', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
      for (const text of [toBase64(bytes), toBase64url(bytes)]) {
        expect(getBase64ByteLength(text)).toBe(bytes.length);
        expect(fromBase64(text)).toEqual(bytes);
      }
    }),
  );
});
