import type { DoctorCheck } from '#shared/rpc/methods/status.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { storage } from '#lib/state/storage.svelte.ts';
import { update } from '#lib/state/update.svelte.ts';

/** What a button beside a check does: it mends what was found, or leads to where that is done. */
export type Fix =
  | { label: string; href: string }
  /** Rejects where it could not be mended. */
  | { label: string; run: () => Promise<void> };

const PROVIDERS = { label: 'To the providers', href: '/models#providers' };
const MODEL = { label: 'Choose a model', href: '/settings#model' };
const RELOAD = { label: 'Reload the app', run: () => update.reload() };
const ROOM = { label: 'See the room', href: '/devices#storage' };
const DISK = { label: 'See the journal', href: '/devices#disk' };

/** By the check's id, up to its colon (web/gateway/core/doctor). */
const FIXES: Readonly<Record<string, (check: DoctorCheck) => readonly Fix[]>> = {
  'storage-persistent': () => [{ label: 'Ask to keep it', run: keep }],
  'storage-room': () => [ROOM],
  vault: () => [RELOAD, ROOM],
  log: () => [ROOM],
  sync: () => [DISK],
  schema: () => [RELOAD],
  builds: () => [RELOAD],
  bridge: ({ severity }) => (severity === 'warning' ? [RELOAD] : []),
  version: () => [RELOAD],
  conflicts: () => [{ label: 'Choose', href: '/devices#conflicts' }],
  journal: () => [DISK],
  disk: () => [DISK],
  'host-clocks': () => [{ label: 'See the devices', href: '/devices#hosts' }],
  provider: () => [PROVIDERS],
  'default-model': () => [MODEL],
  'agent-model': () => [PROVIDERS],
  'local-models': () => [PROVIDERS],
  secrets: () => [PROVIDERS],
  references: () => [{ label: 'Read the keys again', run: async () => void (await gateway.call('secrets.reload', {})) }],
  'rate-limit': () => [
    { label: 'Limit it again', run: async () => void (await gateway.call('config.set', { key: 'gateway.rateLimit', value: null })) },
  ],
  'tool-server': ({ id, severity }) => [
    ...(severity === 'error' ? [{ label: 'Start it anew', run: () => restart(id.slice('tool-server:'.length)) }] : []),
    { label: 'To the tool servers', href: '/tools#tool-servers' },
  ],
  channels: () => [{ label: 'Try again', run: startChannels }],
  mirror: ({ severity }) => (severity === 'error' ? [{ label: 'Bring back what is gone', run: restoreMirrors }] : []),
  dreaming: () => [{ label: 'To dreaming', href: '/dreaming' }],
};

/** What can be done from here about what a check has found. */
export function fixesOf(check: DoctorCheck): readonly Fix[] {
  const [kind = ''] = check.id.split(':');
  return check.severity === 'ok' || !Object.hasOwn(FIXES, kind) ? [] : (FIXES[kind]?.(check) ?? []);
}

async function keep(): Promise<void> {
  await storage.ask();
  if (storage.persisted === false) throw new Error('the browser did not agree. Many do once the app is installed');
}

const restart = async (name: string): Promise<void> => void (await gateway.call('mcp.restart', { name }));

async function startChannels(): Promise<void> {
  const { channels } = await gateway.call('channels.list', {});
  const ill = channels.filter(({ problem }) => problem !== undefined);
  await Promise.all(ill.map(({ id }) => gateway.call('channels.start', { channelId: id })));
}

async function restoreMirrors(): Promise<void> {
  const { mirrors } = await gateway.call('workspace.mirrors', {});
  const stopped = mirrors.filter(({ state }) => state === 'stopped');
  await Promise.all(stopped.map(({ workspace }) => gateway.call('workspace.resume', { workspace, gone: 'restore' })));
}
