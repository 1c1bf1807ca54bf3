import type { ForgetKind, ForgetReason } from '#shared/rpc/methods/forgetting-contracts.ts';
import { computeTextVersion } from '../../knowledge/memory/content-id.ts';
import type { StoredRecord } from '../../storage/forget-store.ts';

/** A piece of stored text that is about what is to be forgotten. */
export interface ForgetPiece {
  id: string;
  kind: ForgetKind;
  /** Store and key of the record that contains it. */
  store: StoredRecord['store'] | 'sessions';
  key: string;
  text: string;
  /** Path of the file or chat. */
  place: string;
  /** Why it stays unless a person chooses it; undefined if it goes. */
  reason?: ForgetReason;
}

/** Whether to delete a piece; collecting pieces deletes none. */
export type EraseDecision = (piece: Omit<ForgetPiece, 'id'>) => boolean;

export const toPieceId = ({ kind, store, key, text }: Omit<ForgetPiece, 'id'>): string =>
  computeTextVersion([kind, store, key, text].join('\n'));
