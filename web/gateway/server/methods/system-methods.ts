import type { systemContracts } from '#shared/rpc/methods/system-contracts.ts';
import type { Handlers } from '../dispatch.ts';
import type { Runs } from '../../agent/runs/runs.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { SystemEvents } from '../../agent/system-events/system-events.ts';
import type { Vault } from '../../storage/vault-interface.ts';

export interface SystemMethodsDeps {
  vault: Pick<Vault, 'collection'>;
  events: SystemEvents;
  runs: Pick<Runs, 'send'>;
  settings(): Pick<Settings, 'heartbeat'>;
}

export const systemMethods = ({ vault, events, runs, settings }: SystemMethodsDeps): Handlers<typeof systemContracts> => ({
  'system.event': async ({ text, mode }, { principal }) => {
    if (mode === 'now') await events.sendNow(text, runs, principal);
    else await events.add(text, principal);
    return { ok: true, eventType: 'system', mode };
  },
  'system.heartbeat.last': async () => {
    const last = await vault.collection('jobRuns').get('heartbeat');
    return { enabled: settings().heartbeat.enabled, lastHeartbeatAt: last?.startedAt ?? null };
  },
});
