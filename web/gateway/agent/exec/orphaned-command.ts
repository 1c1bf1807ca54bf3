import { execPort } from '#shared/ports/exec-port.ts';
import { type Bridge, createNeedsBridgeError } from '../../ports/bridge-interface.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { RequestOrigin, ExecRecord } from '../../storage/vault-interface.ts';

/**
 * The next state of a request whose host has died, taken over by `next`. A person's request continues: `running` is stored before the
 * bridge is asked, so an approved one has not started. An agent's command is not waited for any more, and a command that has run is not run
 * again.
 */
export function toOrphaned(before: ExecRecord, at: number, { origin, replica }: RequestOrigin): ExecRecord {
  const { status, agentId, expiresAt } = before;
  if (status === 'running') return { ...before, status: 'failed', endedAt: at, reason: 'Interrupted: the gateway was closed while it ran' };
  if (agentId !== null) return { ...before, status: 'cancelled', resolvedAt: at, reason: 'The run that requested it ended' };
  if (status === 'approved' && expiresAt <= at)
    return { ...before, status: 'failed', endedAt: at, reason: 'Not run: the gateway was closed and the approval expired' };
  return { ...before, origin, replica };
}

/** Resolves when the bridge can run commands. Rejects with `INTERNAL_ERROR` at `until`, and with the signal's reason. */
export async function waitForExecPort(bridge: Bridge, clock: Clock, until: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const check = (): void => void (bridge.provides(execPort) && resolve());
  const onabort = (): void => reject(signal.reason as Error);
  const unwatch = bridge.watch(check);
  const cancel = clock.after(Math.max(0, until - clock.now()), () => reject(createNeedsBridgeError(execPort)));
  signal.addEventListener('abort', onabort, { once: true });
  if (signal.aborted) onabort();
  check();
  try {
    await promise;
  } finally {
    unwatch();
    cancel();
    signal.removeEventListener('abort', onabort);
  }
}
