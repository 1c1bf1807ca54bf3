import type { HostLease } from '../server/lease.ts';

/** How long a host that has gone may take to come back by itself (its page reloads, its browser is started again). */
const COME_BACK_MS = 15_000;

/**
 * Sees to it that the managed Chromium hosts: while it is coming clients wait for it, and one that runs but does not attach is started
 * again. Ends with the signal.
 */
export function keepHosted(lease: HostLease, managed: { restart(reason: string): Promise<void> }, signal: AbortSignal): void {
  let timer: NodeJS.Timeout | undefined;
  const expect = (): void => {
    clearTimeout(timer);
    if (signal.aborted) return;
    lease.expectHost(COME_BACK_MS);
    timer = setTimeout(() => {
      void managed.restart('its host did not attach');
      expect();
    }, COME_BACK_MS);
  };
  const attached = (): void => clearTimeout(timer);
  lease.on('attach', attached);
  lease.on('detach', expect);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    lease.off('attach', attached);
    lease.off('detach', expect);
  });
  if (lease.current === null) expect();
}
