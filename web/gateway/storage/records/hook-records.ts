import type { HookCall, IncomingHook, OutgoingHook } from '#shared/rpc/methods/hook-contracts.ts';

/** An incoming hook, as it is stored (docs/decisions/0143-hooks.md). Its secrets are among the vault's secrets. */
export type IncomingHookRecord = Omit<IncomingHook, 'path' | 'rejected'>;

/** An outgoing hook, as it is stored. */
export type OutgoingHookRecord = OutgoingHook;

export type HookRecord = IncomingHookRecord | OutgoingHookRecord;

/** A call of a hook. Its id is that of the hook, `@`, and a digest of what makes it unique: a repeated call has the same. */
export interface HookCallRecord extends HookCall {
  /** Text for the action, or the body of the event to send; undefined once it is not needed any more. */
  content?: string;
}

/** Prefix of the ids of a hook's calls. */
export const toCallPrefix = (hookName: string): string => `${hookName}@`;
