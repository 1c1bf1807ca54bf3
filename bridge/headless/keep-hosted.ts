import type { Host, Hosts } from '../server/hosts.ts';

/** How long a host that has gone may take to come back by itself (its page reloads, its browser is started again). */
const COME_BACK_MS = 15_000;

/**
 * Sees to it that the managed Chromium is attached, be it to serve or as the replica that takes over: while it is coming clients wait for it, and one that
 * runs but does not attach is started again. Ends with the signal.
 */
export function keepHosted(hosts: Hosts, managed: { restart(reason: string): Promise<void> }, signal: AbortSignal): void {
  let timer: NodeJS.Timeout | undefined;
  const expect = (): void => {
    clearTimeout(timer);
    if (signal.aborted) return;
    hosts.expectHost(COME_BACK_MS);
    timer = setTimeout(() => {
      void managed.restart('its host didn’t attach');
      expect();
    }, COME_BACK_MS);
  };
  const joined = ({ kind }: Host): void => {
    if (kind === 'headless') clearTimeout(timer);
  };
  const left = ({ kind }: Host): void => {
    if (hosts.hasKind('headless')) return;
    if (kind === 'headless') expect();
    else if (!signal.aborted) hosts.expectHost(COME_BACK_MS);
  };
  hosts.on('join', joined);
  hosts.on('leave', left);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    hosts.off('join', joined);
    hosts.off('leave', left);
  });
  if (!hosts.hasKind('headless')) expect();
}
