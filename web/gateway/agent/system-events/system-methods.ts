import { systemContracts } from '#shared/rpc/methods/system-contracts.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Runs } from '../runs/runs.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { SystemEvents } from './system-events.ts';
import type { Vault } from '../../storage/vault-interface.ts';

interface SystemMethodsDeps {
  vault: Pick<Vault, 'collection'>;
  events: SystemEvents;
  runs: Pick<Runs, 'send'>;
  settings(): Pick<Settings, 'heartbeat'>;
}

export const systemMethods = defineMethods(systemContracts)(({ vault, events, runs, settings }: SystemMethodsDeps) => ({
  'system.event': async ({ text, mode }, { principal }) => {
    if (mode === 'now') await events.sendNow(text, runs, principal);
    else await events.add(text, principal);
    return { ok: true, eventType: 'system', mode };
  },
  'system.heartbeat.last': async () => {
    const last = await vault.collection('jobRuns').get('heartbeat');
    return { enabled: settings().heartbeat.enabled, lastHeartbeatAt: last?.startedAt ?? null };
  },
}));
