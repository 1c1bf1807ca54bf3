import { describe, expect, it } from 'vitest';
import { importSecret, createProof, verifyProof, createSecret } from './link-credentials.ts';

const SERVER = 'server-nonce-0123456789';
const CLIENT = 'client-nonce-0123456789';

describe('proofs', () => {
  it('hold for the same key, role, purpose and nonces, and for nothing else', async () => {
    const secret = createSecret();
    const [mine, theirs, other] = await Promise.all([importSecret(secret), importSecret(secret), importSecret(createSecret())]);
    const proof = await createProof(mine, 'client', 'uplink', SERVER, CLIENT);
    expect(proof).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await verifyProof(theirs, proof, 'client', 'uplink', SERVER, CLIENT)).toBe(true);
    expect(await verifyProof(other, proof, 'client', 'uplink', SERVER, CLIENT)).toBe(false);
    expect(await verifyProof(theirs, proof, 'server', 'uplink', SERVER, CLIENT)).toBe(false);
    expect(await verifyProof(theirs, proof, 'client', 'app', SERVER, CLIENT)).toBe(false);
    expect(await verifyProof(theirs, proof, 'client', 'uplink', 'another-server-nonce', CLIENT)).toBe(false);
    expect(await verifyProof(theirs, proof, 'client', 'uplink', SERVER, 'another-client-nonce')).toBe(false);
    expect(await verifyProof(theirs, proof, 'client', 'uplink', CLIENT, SERVER)).toBe(false);
    expect(await verifyProof(theirs, proof, 'client', 'uplink', `${SERVER}","x`, CLIENT)).toBe(false);
  });

  it('that are none are false, never an error', async () => {
    const key = await importSecret(createSecret());
    const proof = await createProof(key, 'client', 'app', SERVER, CLIENT);
    for (const bad of ['', '!', 'ü', 'AAAA', proof.slice(1), `${proof}AAAA`, `${proof.startsWith('A') ? 'B' : 'A'}${proof.slice(1)}`]) {
      expect(await verifyProof(key, bad, 'client', 'app', SERVER, CLIENT)).toBe(false);
    }
  });

  it('come from secrets of 32 bytes that cannot be read back', async () => {
    expect(createSecret()).not.toBe(createSecret());
    const key = await importSecret(createSecret());
    await expect(crypto.subtle.exportKey('raw', key)).rejects.toThrow();
    for (const bad of ['', 'AAAA', createSecret().slice(2), 'not base64!']) await expect(importSecret(bad)).rejects.toThrow();
  });
});
