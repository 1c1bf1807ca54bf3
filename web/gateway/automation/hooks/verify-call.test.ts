import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { HookPreset } from '#shared/rpc/methods/hook-contracts.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { signMessage } from './standard-webhooks.ts';
import { verifyCall } from './verify-call.ts';

const NOW = Date.UTC(2026, 10, 30, 12);
const SECONDS = String(NOW / 1000);
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"action":"opened"}';

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const hex = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex');
const standard = (id: string, time: string, body: string, secret = SECRET): string =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`${id}.${time}.${body}`)
    .digest('base64')}`;

const check = (preset: HookPreset, headers: Record<string, string>, { body = BODY, secrets = [SECRET] } = {}) =>
  verifyCall(preset, { headers: new Headers(headers), body: encode(body) }, { secrets, now: NOW });

const toStandardHeaders = (signature: string, time = SECONDS): Record<string, string> => ({
  ...{ 'webhook-id': 'msg_1', 'webhook-timestamp': time, 'webhook-signature': signature },
});

/** Headers that each platform sends for the body, with the time as it is sent. */
const SCHEMES: Record<HookPreset, (secret: string, body: string, time?: string) => Record<string, string>> = {
  standard: (secret, body, time = SECONDS) => toStandardHeaders(standard('msg_1', time, body, secret), time),
  stripe: (secret, body, time = SECONDS) => ({ 'stripe-signature': `t=${time},v0=old,v1=${hex(secret, `${time}.${body}`)}` }),
  github: (secret, body) => ({ 'x-hub-signature-256': `sha256=${hex(secret, body)}` }),
  sentry: (secret, body) => ({ 'sentry-hook-signature': hex(secret, body) }),
  gitlab: (secret) => ({ 'x-gitlab-token': secret }),
  json: (secret) => ({ authorization: `Bearer ${secret}` }),
};
const PRESETS = Object.keys(SCHEMES) as HookPreset[];

describe('signatures of calls', () => {
  verifies('hooks/signatures', 'equal the example of the specification of Standard Webhooks', async () => {
    expect(await signMessage(SECRET, 'msg_p5jXN8AQM9LWM0D4loKWxJek', '1614265330', encode('{"test": 2432232314}'))).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });

  verifies('hooks/signatures', 'are accepted as each platform makes them, with the secret or the one before it', async () => {
    for (const preset of PRESETS) {
      expect(await check(preset, SCHEMES[preset](SECRET, BODY)), preset).toMatchObject({ isValid: true });
      expect(
        await check(preset, SCHEMES[preset](SECRET, BODY), { secrets: ['whsec_bmV3bmV3bmV3bmV3bmV3bmV3bmV3', SECRET] }),
        preset,
      ).toMatchObject({
        isValid: true,
      });
    }
    const [old, current] = [standard('msg_1', SECONDS, BODY, 'whsec_b2xkb2xkb2xkb2xkb2xkb2xkb2xk'), standard('msg_1', SECONDS, BODY)];
    expect(await check('standard', toStandardHeaders(`v1a,other ${old} ${current}`))).toMatchObject({ isValid: true });
    expect(await check('json', { 'x-hook-secret': SECRET })).toMatchObject({ isValid: true });
  });

  verifies('hooks/signatures', 'are refused if the secret is another, the body was changed, or they are missing or cut', async () => {
    for (const preset of PRESETS) {
      const headers = SCHEMES[preset](SECRET, BODY);
      expect(await check(preset, SCHEMES[preset]('whsec_b3RoZXJvdGhlcm90aGVyb3RoZXJvdGhl', BODY)), preset).toMatchObject({
        isValid: false,
      });
      expect(await check(preset, {}), preset).toMatchObject({ isValid: false, reason: expect.stringContaining('missing') as string });
      const cut = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.slice(0, -1)]));
      expect(await check(preset, cut), preset).toMatchObject({ isValid: false });
      if (preset === 'gitlab' || preset === 'json') continue;
      expect(await check(preset, headers, { body: `${BODY} ` }), preset).toMatchObject({ isValid: false });
    }
  });

  verifies('hooks/replay', 'are refused if their time is more than five minutes off, is changed or is no time', async () => {
    for (const preset of ['standard', 'stripe'] as const) {
      const at = (offset: number): Record<string, string> => SCHEMES[preset](SECRET, BODY, String(Number(SECONDS) + offset));
      expect(await check(preset, at(299)), preset).toMatchObject({ isValid: true });
      expect(await check(preset, at(-301)), preset).toMatchObject({
        isValid: false,
        reason: expect.stringContaining('5 minutes in the past') as string,
      });
      expect(await check(preset, at(3600)), preset).toMatchObject({
        isValid: false,
        reason: expect.stringContaining('in the future') as string,
      });
      expect(await check(preset, SCHEMES[preset](SECRET, BODY, 'now')), preset).toMatchObject({ isValid: false });
    }
    const late = String(Number(SECONDS) - 3600);
    expect(await check('standard', toStandardHeaders(standard('msg_1', late, BODY), SECONDS))).toMatchObject({ isValid: false });
  });
});
