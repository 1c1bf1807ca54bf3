import { createECDH, createPublicKey, verify } from 'node:crypto';
import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { MAX_PLAINTEXT_BYTES, encryptPush } from './encrypt-push.ts';
import { encodePushPayload } from './push-payload.ts';
import { VapidKeys } from './vapid-keys.ts';
import { createSubscriber, decryptPush } from '../../../../tests/support/push-subscriber.ts';

verifies('push/encrypted', 'a message is one padded record that only the subscribed browser can read', async () => {
  const subscriber = createSubscriber();
  const sizes = new Set<number>();
  for (const text of ['', 'Approve?', 'x'.repeat(400), 'é'.repeat(1000), 'y'.repeat(MAX_PLAINTEXT_BYTES)]) {
    const message = await encryptPush(new TextEncoder().encode(text), subscriber.keys);
    expect(decryptPush(message, subscriber)).toBe(text);
    expect(message.length).toBeLessThanOrEqual(4096);
    sizes.add(message.length);
    if (text.length > 8) expect(Buffer.from(message).includes(text.slice(0, 8))).toBe(false);
  }
  // The first three have the same length for the push service.
  expect(sizes.size).toBe(3);
  const other = createSubscriber();
  const message = await encryptPush(new TextEncoder().encode('secret'), subscriber.keys);
  expect(() => decryptPush(message, { ...other, publicKey: subscriber.publicKey })).toThrow();
  await expect(encryptPush(new Uint8Array(MAX_PLAINTEXT_BYTES + 1), subscriber.keys)).rejects.toThrow('at most');
  await expect(encryptPush(new Uint8Array(), { ...subscriber.keys, p256dh: 'AAAA' })).rejects.toThrow();
});

verifies('push/encrypted', 'decrypts the example of RFC 8291, section 5, so that the test reads what the standard says', () => {
  const from = (text: string): Buffer => Buffer.from(text, 'base64url');
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(from('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'));
  const message = from(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  );
  const subscriber = { ecdh, publicKey: ecdh.getPublicKey(), auth: from('BTBZMqHH6r4Tts7J_aSIgg') };
  expect(decryptPush(message, subscriber)).toBe('When I grow up, I want to be a watermelon');
});

verifies('push/encrypted', 'a token is signed for the origin of the push service, and the key pair is kept', async () => {
  const stored = new Map<string, string>();
  const secrets = {
    get: async (name: string) => stored.get(name),
    set: async (name: string, value: string | null) => void stored.set(name, value ?? ''),
  };
  const keys = await VapidKeys.open(secrets);
  const [, token = '', key] =
    /^vapid t=([^,]+), k=(.+)$/.exec(await keys.authorize('https://push.example.net/wpush/v2/abc', 1_800_000_000_000)) ?? [];
  expect(key).toBe(keys.publicKey);
  const [head = '', claims = '', signature = ''] = token.split('.');
  expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ typ: 'JWT', alg: 'ES256' });
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
    aud: 'https://push.example.net',
    exp: 1_800_000_000 + 12 * 3600,
    sub: 'https://perch.invalid/',
  });
  const point = Buffer.from(keys.publicKey, 'base64url');
  const jwk = { kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') };
  const publicKey = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const;
  expect(verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
  expect((await VapidKeys.open(secrets)).publicKey).toBe(keys.publicKey);
});

verifies('push/size', 'a long text is shortened, its buttons are kept except those that allow something', () => {
  const buttons = [
    { kind: 'approve' as const, value: 'a'.repeat(55) },
    { kind: 'deny' as const, value: 'd'.repeat(55) },
  ];
  const short = { kind: 'approval' as const, tag: 'approval:1', body: 'Run ls', path: '/approvals', buttons };
  expect(JSON.parse(new TextDecoder().decode(encodePushPayload(short)))).toEqual(short);
  for (const char of ['x', '🐢', '\u0001', '"']) {
    const bytes = encodePushPayload({ ...short, title: char.repeat(3000), body: char.repeat(20_000) });
    expect(bytes.length).toBeLessThanOrEqual(MAX_PLAINTEXT_BYTES);
    expect(bytes.length).toBeGreaterThan(MAX_PLAINTEXT_BYTES - 20);
    const payload = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as typeof short;
    expect(payload).toMatchObject({ isShortened: true, tag: short.tag, path: short.path, buttons: [buttons[1]] });
    expect(payload.body).toMatch(/…$/);
    expect(payload.body.isWellFormed()).toBe(true);
  }
});
