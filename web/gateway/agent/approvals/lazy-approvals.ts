import { lazy } from '#shared/async/lazy.ts';
import type { ApprovalService, ApprovalServiceDeps } from './approval-service.ts';

/** Delay after the start before questions left by an earlier host are handled, unless one is asked before. */
const START_DELAY_MS = 1500;
const APPROVAL_STORES: readonly string[] = ['execRequests', 'approvals'];

/** The approval service, loaded on first use, when another host has changed its records, or a while after the start. */
export function createLazyApprovalService(deps: ApprovalServiceDeps): { approvalService(): Promise<ApprovalService>; stop(): void } {
  const { vault, clock, fault } = deps;
  let opened: ApprovalService | undefined;
  let stopped = false;
  const desk = lazy(async () => {
    const { openApprovalService } = await import('./approval-service.ts');
    opened = await openApprovalService(deps);
    if (stopped) opened.stop();
    return opened;
  });
  const stops = [
    vault.onRemoteChanges((changes) => {
      if (!changes.some(({ store }) => APPROVAL_STORES.includes(store))) return;
      desk()
        .then((service) => service.refresh(changes))
        .catch(fault);
    }),
    clock.after(START_DELAY_MS, () => void desk().catch(fault)),
    () => opened?.stop(),
  ];
  return {
    approvalService: desk,
    stop() {
      stopped = true;
      for (const stop of stops) stop();
    },
  };
}
