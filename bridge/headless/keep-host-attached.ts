import type { Host, HostRegistry } from '../server/hosts.ts';

/** Time for a host that left to come back on its own (its page reloads, its browser restarts). */
const RECONNECT_MS = 15_000;

/**
 * Keeps the managed Chromium attached, as the active host or as a standby replica. Clients wait for it while it starts; if it runs but does
 * not attach, it is restarted. Stops when the signal is aborted.
 */
export function keepHostAttached(hosts: HostRegistry, managed: { restart(reason: string): Promise<void> }, signal: AbortSignal): void {
  let timer: NodeJS.Timeout | undefined;
  const expect = (): void => {
    clearTimeout(timer);
    if (signal.aborted) return;
    hosts.expectHost(RECONNECT_MS);
    timer = setTimeout(() => {
      void managed.restart('its host didn’t attach');
      expect();
    }, RECONNECT_MS);
  };
  const joined = ({ kind }: Host): void => {
    if (kind === 'headless') clearTimeout(timer);
  };
  const onLeave = ({ kind }: Host): void => {
    if (hosts.hasKind('headless')) return;
    if (kind === 'headless') expect();
    else if (!signal.aborted) hosts.expectHost(RECONNECT_MS);
  };
  hosts.on('join', joined);
  hosts.on('leave', onLeave);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    hosts.off('join', joined);
    hosts.off('leave', onLeave);
  });
  if (!hosts.hasKind('headless')) expect();
}
