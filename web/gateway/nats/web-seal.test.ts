import fc from 'fast-check';
import { expect } from 'vitest';
import { RecordSeal } from '../../../bridge/sync/record-seal.ts';
import { verifies } from '../../../tests/requirements.ts';
import { deriveSharingKeys, WebSeal } from './web-seal.ts';

const KEY = 'k'.repeat(42) + 'A';
const OTHER = 'x'.repeat(42) + 'A';

verifies(
  'vault.cluster/browser-key',
  'a browser and a bridge of one vault find the same names, and open what the other has sealed',
  async () => {
    const bridge = new RecordSeal(KEY);
    const browser = await WebSeal.create(await deriveSharingKeys(KEY));
    expect(browser.vault).toBe(bridge.vault);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.string(), fc.array(fc.string()), async (bytes, place, parts) => {
        expect(await browser.name(...parts)).toBe(bridge.name(...parts));
        const sealed = await browser.seal(bytes, place);
        expect(await browser.seal(bytes, place)).not.toEqual(sealed);
        expect(new Uint8Array(bridge.open(sealed, place) ?? [])).toEqual(bytes);
        expect(await browser.open(bridge.seal(bytes, place), place)).toEqual(bytes);
      }),
    );
  },
);

verifies('vault.cluster/browser-key', 'a browser opens nothing of another key, place or form, and nothing that was changed', async () => {
  const [browser, other] = [await WebSeal.create(await deriveSharingKeys(KEY)), await WebSeal.create(await deriveSharingKeys(OTHER))];
  const sealed = await browser.seal(new Uint8Array([1, 2, 3]), 'here');
  expect(await other.open(sealed, 'here')).toBeUndefined();
  expect(await browser.open(sealed, 'there')).toBeUndefined();
  for (let byte = 0; byte < sealed.length; byte++) {
    const changed = sealed.slice();
    changed[byte] = (changed[byte] ?? 0) ^ 1;
    expect(await browser.open(changed, 'here')).toBeUndefined();
  }
  for (let length = 0; length < sealed.length; length++) expect(await browser.open(sealed.subarray(0, length), 'here')).toBeUndefined();
});

verifies('vault.cluster/browser-key', 'no script can read its keys out', async () => {
  const { sealing, names } = await deriveSharingKeys(KEY);
  for (const key of [sealing, names]) {
    expect(key.extractable).toBe(false);
    await expect(crypto.subtle.exportKey('raw', key)).rejects.toThrow();
  }
  await expect(deriveSharingKeys('AAAA')).rejects.toThrow('32 bytes');
});
