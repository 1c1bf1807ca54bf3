import type { HookPreset } from '#shared/rpc/methods/hook-contracts.ts';
import { isEqualConstantTime } from '../../system/pairing-code.ts';
import { computeHmac, toHex } from './hmac.ts';
import { ID_HEADER, SIGNATURE_HEADER, signMessage, TIMESTAMP_HEADER } from './standard-webhooks.ts';

/** How far the time of a signed call may be from this host's clock. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;
/** Maximum number of signatures that are compared: a sender that rotates its secret sends two. */
const MAX_SIGNATURES = 10;

/** A call of an incoming hook. */
export interface IncomingCall {
  headers: Pick<Headers, 'get'>;
  body: Uint8Array<ArrayBuffer>;
}

/** `signature`: the valid signature, if the body is signed without a time. `reason`: for the owner, never for the caller. */
type CallVerdict = { isValid: true; signature?: string } | { isValid: false; reason: string };

type Verifier = (call: IncomingCall, secrets: readonly string[], now: number) => Promise<CallVerdict>;

const reject = (reason: string): CallVerdict => ({ isValid: false, reason });
const WRONG_SIGNATURE = 'The signature is wrong. Compare the secret at the sender with the one of this hook.';
const createMissingHeaderVerdict = (header: string): CallVerdict => reject(`The header ${header} is missing.`);

/** Compares all pairs, so that the time tells nothing about which one is equal. */
const hasEqual = (candidates: readonly string[], expected: readonly string[]): boolean =>
  candidates.reduce(
    (found, candidate) => expected.reduce((any, each) => isEqualConstantTime(candidate, each) || any, false) || found,
    false,
  );

/** Checks the time of a signed call, in seconds since 1970. Undefined if it is recent. */
function checkTimestamp(timestamp: string, now: number): CallVerdict | undefined {
  if (!/^\d{1,12}$/.test(timestamp)) return reject('The time of the call is not a number of seconds.');
  const skewMs = now - Number(timestamp) * 1000;
  if (Math.abs(skewMs) <= MAX_CLOCK_SKEW_MS) return undefined;
  const minutes = Math.round(Math.abs(skewMs) / 60_000);
  return reject(
    `The time of the call is ${minutes} minutes in the ${skewMs > 0 ? 'past' : 'future'}. It was sent again by someone, or a clock is wrong.`,
  );
}

const verifyStandard: Verifier = async ({ headers, body }, secrets, now) => {
  const [id, timestamp, signatures] = [ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER].map((name) => headers.get(name));
  if (!id) return createMissingHeaderVerdict(ID_HEADER);
  if (!timestamp) return createMissingHeaderVerdict(TIMESTAMP_HEADER);
  if (!signatures) return createMissingHeaderVerdict(SIGNATURE_HEADER);
  const expected = await Promise.all(secrets.map((secret) => signMessage(secret, id, timestamp, body)));
  if (!hasEqual(signatures.split(' ').slice(0, MAX_SIGNATURES), expected)) return reject(WRONG_SIGNATURE);
  return checkTimestamp(timestamp, now) ?? { isValid: true };
};

const verifyStripe: Verifier = async ({ headers, body }, secrets, now) => {
  const header = headers.get('stripe-signature');
  if (!header) return createMissingHeaderVerdict('Stripe-Signature');
  const fields = header.split(',').map((field) => field.trim().split('=', 2));
  const timestamp = fields.find(([name]) => name === 't')?.[1] ?? '';
  const signatures = fields.flatMap(([name, value = '']) => (name === 'v1' ? [value] : [])).slice(0, MAX_SIGNATURES);
  const expected = await Promise.all(secrets.map(async (secret) => toHex(await computeHmac(secret, `${timestamp}.`, body))));
  if (!hasEqual(signatures, expected)) return reject(WRONG_SIGNATURE);
  return checkTimestamp(timestamp, now) ?? { isValid: true };
};

/** A signature of the body alone, in hexadecimal. */
const createBodyVerifier =
  (header: string, prefix = ''): Verifier =>
  async ({ headers, body }, secrets) => {
    const sent = headers.get(header);
    if (!sent) return createMissingHeaderVerdict(header);
    const expected = await Promise.all(secrets.map(async (secret) => prefix + toHex(await computeHmac(secret, body))));
    const signature = sent.trim().toLowerCase();
    return hasEqual([signature], expected) ? { isValid: true, signature } : reject(WRONG_SIGNATURE);
  };

/** A secret in a header. */
const createTokenVerifier =
  (readToken: (headers: IncomingCall['headers']) => string | null | undefined, name: string): Verifier =>
  async ({ headers }, secrets) => {
    const token = readToken(headers);
    if (!token) return createMissingHeaderVerdict(name);
    // Digests have one length: the time of the comparison does not tell that of the secret.
    const [sent = '', ...expected] = await Promise.all([token, ...secrets].map(async (text) => toHex(await computeHmac('token', text))));
    return hasEqual([sent], expected)
      ? { isValid: true }
      : reject('The secret is wrong. Compare the secret at the sender with the one of this hook.');
  };

const VERIFIERS: Readonly<Record<HookPreset, Verifier>> = {
  standard: verifyStandard,
  stripe: verifyStripe,
  github: createBodyVerifier('x-hub-signature-256', 'sha256='),
  sentry: createBodyVerifier('sentry-hook-signature'),
  gitlab: createTokenVerifier((headers) => headers.get('x-gitlab-token'), 'X-Gitlab-Token'),
  json: createTokenVerifier(
    (headers) => headers.get('x-hook-secret') ?? /^Bearer\s+(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1],
    'Authorization',
  ),
};

/** Checks that a call comes from someone who has one of the secrets. */
export const verifyCall = (
  preset: HookPreset,
  call: IncomingCall,
  { secrets, now }: { secrets: readonly string[]; now: number },
): Promise<CallVerdict> => VERIFIERS[preset](call, secrets, now);
