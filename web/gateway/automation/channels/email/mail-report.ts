import type { Email } from 'postal-mime';
import type { SentReceipt } from '../channel-adapter.ts';
import { findThreadKey, parseMessageIds } from './message-ids.ts';

const MAX_ERROR_CHARS = 300;

/** Whether a mail is a report about a delivery (RFC 3464). */
export const isReport = ({ attachments }: Pick<Email, 'attachments'>): boolean =>
  attachments.some(({ mimeType }) => mimeType === 'message/delivery-status');

/** Receipts of a report about a mail of the account `address`; none if it is about another one, or tells of a delay. */
export function readReport(mail: Email, address: string, at: number): SentReceipt[] {
  const decode = (type: RegExp): string => {
    const part = mail.attachments.find(({ mimeType }) => type.test(mimeType));
    return part ? toText(part.content) : '';
  };
  const status = decode(/^message\/delivery-status$/);
  const original = decode(/^(text\/rfc822-headers|message\/rfc822)$/);
  const named = [getField(status, 'original-envelope-id'), getField(original.split(/\r?\n\r?\n/)[0] ?? '', 'message-id')];
  const sentId = named.map((text) => toOwnId(text, address)).find((id) => id !== undefined);
  const action = getField(status, 'action')?.toLowerCase();
  if (sentId === undefined) return [];
  // `relayed`: to a server that sends no reports, which proves nothing more.
  if (action === 'delivered') return [{ sentId, state: 'delivered', at }];
  if (action !== 'failed') return [];
  const reason = getField(status, 'diagnostic-code')?.replace(/^smtp;\s*/i, '') ?? getField(status, 'status') ?? '';
  const error = `The mail was returned${reason === '' ? '.' : `: ${reason.slice(0, MAX_ERROR_CHARS)}`}`;
  return [{ sentId, state: 'failed', at, error }];
}

/** A Message-ID of the account, with or without its brackets. */
function toOwnId(text: string | undefined, address: string): string | undefined {
  const trimmed = text?.trim() ?? '';
  const [id] = parseMessageIds(trimmed.startsWith('<') ? trimmed : `<${trimmed}>`);
  return id !== undefined && findThreadKey(id, address) !== undefined ? id : undefined;
}

/** Value of the first field with a name, unfolded. */
const getField = (text: string, name: string): string | undefined =>
  new RegExp(`^${name}:[ \\t]*(.*(?:\\r?\\n[ \\t]+.*)*)`, 'im').exec(text)?.[1]?.replaceAll(/\s+/g, ' ').trim();

const toText = (content: ArrayBuffer | Uint8Array | string): string =>
  typeof content === 'string' ? content : new TextDecoder().decode(content);
