import type { AnyEvent } from '#shared/rpc/events.ts';
import type { Scope } from '#shared/rpc/contract.ts';

/** The caller, as handlers see it. */
export interface Caller {
  connId: string;
  principal: string;
  scopes: readonly Scope[];
  /** Subscribes the caller to the events of this session or drawing. */
  follow(sessionKey: string): void;
  unfollow(sessionKey: string): void;
  /** Sends an event to the caller's connection only. */
  emit(event: AnyEvent): void;
  /** Resolves when the caller's connection is ready for more events; undefined if it is now. */
  ready?(): Promise<void> | undefined;
  /** Aborts when the connection closes. Work that must outlive it (runs) ignores this signal. */
  signal: AbortSignal;
}
