import { lazy } from '../lazy.ts';
import type { Desk, DeskDeps } from './desk.ts';

/** Delay after the start before questions left by an earlier host are handled, unless one is asked before. */
const LATER_MS = 1500;
const STORES: readonly string[] = ['execRequests', 'approvals'];

/** The approval service, loaded on first use, when another host has changed its records, or a while after the start. */
export function deskLater(deps: DeskDeps): { desk(): Promise<Desk>; stop(): void } {
  const { vault, clock, fault } = deps;
  let opened: Desk | undefined;
  let stopped = false;
  const desk = lazy(async () => {
    const { openDesk } = await import('./desk.ts');
    opened = await openDesk(deps);
    if (stopped) opened.stop();
    return opened;
  });
  const stops = [
    vault.onforeign((changes) => {
      if (!changes.some(({ store }) => STORES.includes(store))) return;
      desk()
        .then((there) => there.heard(changes))
        .catch(fault);
    }),
    clock.after(LATER_MS, () => void desk().catch(fault)),
    () => opened?.stop(),
  ];
  return {
    desk,
    stop() {
      stopped = true;
      for (const stop of stops) stop();
    },
  };
}
