import { describe, expect, it } from 'vitest';
import { importSecret, prove, proves, randomSecret } from './proof.ts';

const SERVER = 'server-nonce-0123456789';
const CLIENT = 'client-nonce-0123456789';

describe('proofs', () => {
  it('hold for the same key, role, purpose and nonces, and for nothing else', async () => {
    const secret = randomSecret();
    const [mine, theirs, other] = await Promise.all([importSecret(secret), importSecret(secret), importSecret(randomSecret())]);
    const proof = await prove(mine, 'client', 'uplink', SERVER, CLIENT);
    expect(proof).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await proves(theirs, proof, 'client', 'uplink', SERVER, CLIENT)).toBe(true);
    expect(await proves(other, proof, 'client', 'uplink', SERVER, CLIENT)).toBe(false);
    expect(await proves(theirs, proof, 'server', 'uplink', SERVER, CLIENT)).toBe(false);
    expect(await proves(theirs, proof, 'client', 'app', SERVER, CLIENT)).toBe(false);
    expect(await proves(theirs, proof, 'client', 'uplink', 'another-server-nonce', CLIENT)).toBe(false);
    expect(await proves(theirs, proof, 'client', 'uplink', SERVER, 'another-client-nonce')).toBe(false);
    expect(await proves(theirs, proof, 'client', 'uplink', CLIENT, SERVER)).toBe(false);
    expect(await proves(theirs, proof, 'client', 'uplink', `${SERVER}","x`, CLIENT)).toBe(false);
  });

  it('that are none are false, never an error', async () => {
    const key = await importSecret(randomSecret());
    const proof = await prove(key, 'client', 'app', SERVER, CLIENT);
    for (const bad of ['', '!', 'ü', 'AAAA', proof.slice(1), `${proof}AAAA`, `${proof.startsWith('A') ? 'B' : 'A'}${proof.slice(1)}`]) {
      expect(await proves(key, bad, 'client', 'app', SERVER, CLIENT)).toBe(false);
    }
  });

  it('come from secrets of 32 bytes that cannot be read back', async () => {
    expect(randomSecret()).not.toBe(randomSecret());
    const key = await importSecret(randomSecret());
    await expect(crypto.subtle.exportKey('raw', key)).rejects.toThrow();
    for (const bad of ['', 'AAAA', randomSecret().slice(2), 'not base64!']) await expect(importSecret(bad)).rejects.toThrow();
  });
});
