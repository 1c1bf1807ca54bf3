import { lazy } from '#shared/async/lazy.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { isEqualConstantTime } from '../../system/pairing-code.ts';
import { openHmacKey, signText } from './hmac-key.ts';

const SECRET_NAME = 'push.receipts';
/** Kind, id of the delivery, and code. */
const VALUE = /^([so])([0-9a-f]{32})([\w-]{22})$/;
const STATES = { s: 'delivered', o: 'read' } as const;

/** Whether a value that a service worker sends is a receipt. */
export const isPushReceipt = (value: string): boolean => VALUE.test(value);

/** Values by which a device proves that it has shown a notification, or that the person has opened it: HMACs, as nothing is stored for them. */
export class ReceiptTokens {
  readonly #key: () => Promise<CryptoKey>;

  constructor(secrets: Vault['secrets']) {
    this.#key = lazy(() => openHmacKey(secrets, SECRET_NAME));
  }

  async create(deliveryId: string, deviceId: string): Promise<{ shown: string; opened: string }> {
    const toValue = async (kind: 's' | 'o') => `${kind}${deliveryId}${await this.#sign(kind, deliveryId, deviceId)}`;
    const [shown, opened] = await Promise.all([toValue('s'), toValue('o')]);
    return { shown, opened };
  }

  /** What a value proves, for one of these devices; undefined if it is none of theirs. */
  async verify(
    value: string,
    deviceIds: readonly string[],
  ): Promise<{ deliveryId: string; deviceId: string; state: 'delivered' | 'read' } | undefined> {
    const [, kind, deliveryId = '', code = ''] = VALUE.exec(value) ?? [];
    if (kind !== 's' && kind !== 'o') return undefined;
    for (const deviceId of deviceIds)
      if (isEqualConstantTime(code, await this.#sign(kind, deliveryId, deviceId))) return { deliveryId, deviceId, state: STATES[kind] };
    return undefined;
  }

  async #sign(kind: 's' | 'o', deliveryId: string, deviceId: string): Promise<string> {
    return signText(await this.#key(), `${kind}:${deliveryId}:${deviceId}`);
  }
}
