import { defineModule } from '../../system/modules.ts';
import type { ApprovalDeliveriesDeps } from './approval-deliveries.ts';

/** Approvals on the owner's accounts and devices, if the settings send them there. */
export const approvalDeliveriesModule = defineModule<ApprovalDeliveriesDeps>()({
  name: 'approvalDeliveries',
  needs: ['vault', 'hub', 'approvalService', 'deliveries', 'pushDevices', 'runningChannels', 'sync', 'settings', 'fault'],
  load: async (needs) => new (await import('./approval-deliveries.ts')).ApprovalDeliveries(needs),
  wakeOn: { if: ({ settings }) => settings().approvals.deliver.length > 0 },
  refresh: (approvals) => approvals.refresh(),
  stop: (approvals) => approvals.stop(),
});
