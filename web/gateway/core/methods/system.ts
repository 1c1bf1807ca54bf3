import type { system } from '#shared/rpc/methods/system.ts';
import type { Handlers } from '../dispatch.ts';
import type { Runs } from '../runs/runs.ts';
import type { Settings } from '../settings.ts';
import type { SystemEvents } from '../system/events.ts';
import type { Vault } from '../vault.ts';

export interface SystemMethodsDeps {
  vault: Pick<Vault, 'collection'>;
  events: SystemEvents;
  runs: Pick<Runs, 'send'>;
  settings(): Pick<Settings, 'heartbeat'>;
}

export const systemMethods = ({ vault, events, runs, settings }: SystemMethodsDeps): Handlers<typeof system> => ({
  'system.event': async ({ text, mode }, { principal }) => {
    if (mode === 'now') await events.now(text, runs, principal);
    else await events.add(text, principal);
    return { ok: true, eventType: 'system', mode };
  },
  'system.heartbeat.last': async () => {
    const last = await vault.collection('jobRuns').get('heartbeat');
    return { enabled: settings().heartbeat.enabled, lastHeartbeatAt: last?.startedAt ?? null };
  },
});
