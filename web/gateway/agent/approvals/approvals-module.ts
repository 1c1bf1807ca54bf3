import { defineModule } from '../../system/modules.ts';
import type { ApprovalServiceDeps } from './approval-service.ts';

/** Milliseconds after the start before questions left by an earlier host are handled, unless one is asked before. */
const START_DELAY_MS = 1500;

/** Approvals of commands and tools. */
export const approvalsModule = defineModule<ApprovalServiceDeps>()({
  name: 'approvalService',
  needs: ['vault', 'hub', 'clock', 'bridge', 'labels', 'sync', 'config', 'timeoutMs', 'fault'],
  load: async (needs) => (await import('./approval-service.ts')).openApprovalService(needs),
  wakeOn: { changes: ['execRequests', 'approvals'], after: START_DELAY_MS },
  onChanges: (service, changes) => service.refresh(changes),
  stop: (service) => service.stop(),
});
