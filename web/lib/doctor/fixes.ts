import type { DoctorCheck } from '#shared/rpc/methods/status.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { storage } from '#lib/state/storage.svelte.ts';
import { newVersion } from '#lib/state/new-version.svelte.ts';

/** Action next to a check: repairs the problem, or opens the page for it. */
export type Fix =
  | { label: string; href: string }
  /** Rejects if the repair fails. */
  | { label: string; run: () => Promise<void> };

const providers = (): Fix => ({ label: m.doctor_fix_providers(), href: '/models#providers' });
const model = (): Fix => ({ label: m.doctor_fix_model(), href: '/settings#model' });
const reload = (): Fix => ({ label: m.doctor_fix_reload(), run: () => newVersion.reload() });
const room = (): Fix => ({ label: m.doctor_fix_room(), href: '/devices#storage' });
const disk = (): Fix => ({ label: m.doctor_fix_journal(), href: '/devices#disk' });

/** By the check's id, up to its colon (web/gateway/core/doctor). */
const FIXES: Readonly<Record<string, (check: DoctorCheck) => readonly Fix[]>> = {
  'storage-persistent': () => [{ label: m.doctor_fix_keep(), run: keep }],
  'storage-room': () => [room()],
  vault: () => [reload(), room()],
  log: () => [room()],
  sync: () => [disk()],
  schema: () => [reload()],
  builds: () => [reload()],
  bridge: ({ severity }) => (severity === 'warning' ? [reload()] : []),
  version: () => [reload()],
  conflicts: () => [{ label: m.doctor_fix_choose_version(), href: '/devices#conflicts' }],
  journal: () => [disk()],
  disk: () => [disk()],
  'host-clocks': () => [{ label: m.doctor_fix_devices(), href: '/devices#hosts' }],
  provider: () => [providers()],
  'default-model': () => [model()],
  'agent-model': () => [providers()],
  'local-models': () => [providers()],
  secrets: () => [providers()],
  references: () => [{ label: m.doctor_fix_read_keys(), run: async () => void (await gateway.call('secrets.reload', {})) }],
  'rate-limit': () => [
    { label: m.doctor_fix_limit(), run: async () => void (await gateway.call('config.set', { key: 'gateway.rateLimit', value: null })) },
  ],
  'tool-server': ({ id, severity }) => [
    ...(severity === 'error' ? [{ label: m.doctor_fix_restart(), run: () => restart(id.slice('tool-server:'.length)) }] : []),
    { label: m.doctor_fix_tool_servers(), href: '/tools#tool-servers' },
  ],
  channels: () => [
    { label: m.doctor_fix_again(), run: startChannels },
    { label: m.doctor_fix_channels(), href: '/channels' },
  ],
  mirror: ({ severity }) => (severity === 'error' ? [{ label: m.doctor_fix_restore(), run: restoreMirrors }] : []),
  dreaming: () => [{ label: m.doctor_fix_dreaming(), href: '/dreaming' }],
};

/** Available actions for a check. */
export function fixesOf(check: DoctorCheck): readonly Fix[] {
  const [kind = ''] = check.id.split(':');
  return check.severity === 'ok' || !Object.hasOwn(FIXES, kind) ? [] : (FIXES[kind]?.(check) ?? []);
}

async function keep(): Promise<void> {
  await storage.ask();
  if (storage.persisted === false) throw new Error(m.doctor_not_kept());
}

const restart = async (name: string): Promise<void> => void (await gateway.call('mcp.restart', { name }));

async function startChannels(): Promise<void> {
  const { channels } = await gateway.call('channels.list', {});
  const ill = channels.filter(({ problem, status }) => problem !== undefined || status === 'configured');
  await Promise.all(ill.map(({ id }) => gateway.call('channels.start', { channelId: id })));
}

async function restoreMirrors(): Promise<void> {
  const { mirrors } = await gateway.call('workspace.mirrors', {});
  const stopped = mirrors.filter(({ state }) => state === 'stopped');
  await Promise.all(stopped.map(({ workspace }) => gateway.call('workspace.resume', { workspace, gone: 'restore' })));
}
