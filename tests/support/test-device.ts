import { toBase64url } from '#shared/base64.ts';
import { GatewayClient } from '#shared/client/client.ts';
import { PAIRING_PRINCIPAL } from '#shared/rpc/contract.ts';
import type { TestGateway } from './test-gateway.ts';

const ALGORITHMS = {
  Ed25519: { name: 'Ed25519' },
  'P-256': { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
} as const;

/** A device with its own key, which answers pairing codes. */
export async function createTestDevice(kind: keyof typeof ALGORITHMS = 'Ed25519') {
  const algorithm = ALGORITHMS[kind];
  const { publicKey, privateKey } = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair;
  const spki = toBase64url(new Uint8Array(await crypto.subtle.exportKey('spki', publicKey)));
  const sign = async (text: string) => new Uint8Array(await crypto.subtle.sign(algorithm, privateKey, new TextEncoder().encode(text)));
  return { spki, privateKey, sign, response: async (code: string) => `${spki}.${toBase64url(await sign(code))}` };
}

/** A device's connection before it is paired, as the bridge would open it. */
export const connectPairingClient = (gw: Pick<TestGateway, 'link'>, pairingCode: string): Promise<GatewayClient> =>
  GatewayClient.connect(gw.link({ principal: PAIRING_PRINCIPAL, scopes: [], socket: true, pairingCode }), { params: { events: 'all' } });
