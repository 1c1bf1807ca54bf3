import { lazy } from '#shared/async/lazy.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import type { DeliveryTarget } from '#shared/rpc/delivery-target.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { isEqualConstantTime } from '../../system/pairing-code.ts';
import { openHmacKey, signText } from '../push/hmac-key.ts';

const SECRET_NAME = 'approvals.tokens';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Decision, id of the approval without dashes, and code: fits into a button of every platform. */
const VALUE = /^([ad])([0-9a-f]{32})([\w-]{22})$/;

type Decision = 'approve' | 'deny';

/** The decision that a button's value stands for; undefined for other buttons. */
export function toDecision(value: string): Decision | undefined {
  const letter = VALUE.exec(value)?.[1];
  return letter === undefined ? undefined : letter === 'a' ? 'approve' : 'deny';
}

/** Facts that a button's value is bound to. */
export interface DecisionSubject {
  /** A UUID; other ids get no buttons. */
  approvalId: string;
  /** Hash of everything that the approval covers. */
  hash: string;
  target: DeliveryTarget;
}

/**
 * Values of Allow and Deny buttons. Each holds an HMAC over decision, approval, its content, and the account or device it was sent to, so
 * that nothing is stored for it. It has an effect once, since only a pending approval can be decided, and ends with the approval.
 */
export class DecisionTokens {
  readonly #key: () => Promise<CryptoKey>;

  constructor(secrets: Vault['secrets']) {
    this.#key = lazy(() => openHmacKey(secrets, SECRET_NAME));
  }

  /** The value of a button; undefined if the approval can't have one. */
  async create(decision: Decision, subject: DecisionSubject): Promise<string | undefined> {
    if (!UUID.test(subject.approvalId)) return undefined;
    const letter = decision === 'approve' ? 'a' : 'd';
    return `${letter}${subject.approvalId.replaceAll('-', '')}${await this.#sign(letter, subject)}`;
  }

  /** Whether a value was created for this subject. */
  async verify(value: string, subject: DecisionSubject): Promise<boolean> {
    const [, letter = '', , code = ''] = VALUE.exec(value) ?? [];
    return letter !== '' && isEqualConstantTime(code, await this.#sign(letter, subject));
  }

  async #sign(letter: string, { approvalId, hash, target }: DecisionSubject): Promise<string> {
    return signText(await this.#key(), toCanonicalJson([letter, approvalId, hash, target]));
  }
}

/** Id of the approval that a value is about; undefined if it is not a value of a decision. */
export function getApprovalId(value: string): string | undefined {
  const hex = VALUE.exec(value)?.[2];
  return hex?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
