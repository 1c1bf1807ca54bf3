import type { DoctorCheck } from '#shared/rpc/methods/status-contracts.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { browserStorage } from '#app/state/browser-storage.svelte.ts';
import { appUpdateGate } from '#app/shell/app-update-gate.svelte.ts';

/** Action next to a check: repairs the problem, or opens the page for it. */
export type Fix =
  | { label: string; href: string }
  /** Rejects if the repair fails. */
  | { label: string; run: () => Promise<void> };

const createProvidersFix = (): Fix => ({ label: m.doctor_fix_providers(), href: '/models#providers' });
const createModelFix = (): Fix => ({ label: m.doctor_fix_model(), href: '/settings#model' });
const createReloadFix = (): Fix => ({ label: m.doctor_fix_reload(), run: () => appUpdateGate.reload() });
const createStorageFix = (): Fix => ({ label: m.doctor_fix_room(), href: '/devices#storage' });
const createJournalFix = (): Fix => ({ label: m.doctor_fix_journal(), href: '/devices#disk' });

/** Fixes by the part of a check's id before the colon (web/gateway/server/doctor). */
const FIX_BY_CHECK: Readonly<Record<string, (check: DoctorCheck) => readonly Fix[]>> = {
  'storage-persistent': () => [{ label: m.doctor_fix_keep(), run: persistStorage }],
  'storage-room': () => [createStorageFix()],
  vault: () => [createReloadFix(), createStorageFix()],
  log: () => [createStorageFix()],
  sync: () => [createJournalFix()],
  schema: () => [createReloadFix()],
  builds: () => [createReloadFix()],
  bridge: ({ severity }) => (severity === 'warning' ? [createReloadFix()] : []),
  version: () => [createReloadFix()],
  conflicts: () => [{ label: m.doctor_fix_choose_version(), href: '/devices#conflicts' }],
  journal: () => [createJournalFix()],
  disk: () => [createJournalFix()],
  'host-clocks': () => [{ label: m.doctor_fix_devices(), href: '/devices#hosts' }],
  provider: () => [createProvidersFix()],
  'default-model': () => [createModelFix()],
  'agent-model': () => [createProvidersFix()],
  'local-models': () => [createProvidersFix()],
  secrets: () => [createProvidersFix()],
  references: () => [{ label: m.doctor_fix_read_keys(), run: async () => void (await gateway.call('secrets.reload', {})) }],
  'rate-limit': () => [
    { label: m.doctor_fix_limit(), run: async () => void (await gateway.call('config.set', { key: 'gateway.rateLimit', value: null })) },
  ],
  'tool-server': ({ id, severity }) => [
    ...(severity === 'error' ? [{ label: m.doctor_fix_restart(), run: () => restartMcpServer(id.slice('tool-server:'.length)) }] : []),
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
export function getFixes(check: DoctorCheck): readonly Fix[] {
  const [kind = ''] = check.id.split(':');
  return check.severity === 'ok' || !Object.hasOwn(FIX_BY_CHECK, kind) ? [] : (FIX_BY_CHECK[kind]?.(check) ?? []);
}

async function persistStorage(): Promise<void> {
  await browserStorage.requestPersistence();
  if (browserStorage.isPersisted === false) throw new Error(m.doctor_not_kept());
}

const restartMcpServer = async (name: string): Promise<void> => void (await gateway.call('mcp.restart', { name }));

async function startChannels(): Promise<void> {
  const { channels } = await gateway.call('channels.list', {});
  const failing = channels.filter(({ problem, status }) => problem !== undefined || status === 'configured');
  await Promise.all(failing.map(({ id }) => gateway.call('channels.start', { channelId: id })));
}

async function restoreMirrors(): Promise<void> {
  const { mirrors } = await gateway.call('workspace.mirrors', {});
  const stopped = mirrors.filter(({ state }) => state === 'stopped');
  await Promise.all(stopped.map(({ workspace }) => gateway.call('workspace.resume', { workspace, gone: 'restore' })));
}
