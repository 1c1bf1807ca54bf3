import type { DoctorCheck } from '#shared/rpc/methods/status-contracts.ts';
import { m } from '#app/i18n/messages.ts';

/** Titles by the part of a check's id before the colon, given the part after it (web/gateway/server/doctor). */
const CHECK_TITLES: Readonly<Record<string, (about: string) => string>> = {
  'storage-persistent': () => m.doctor_check_storage_persistent(),
  'storage-room': () => m.doctor_check_storage_room(),
  vault: () => m.doctor_check_vault(),
  log: () => m.doctor_check_log(),
  sync: () => m.doctor_check_sync(),
  schema: () => m.doctor_check_schema(),
  conflicts: () => m.doctor_check_conflicts(),
  journal: () => m.doctor_check_journal(),
  disk: () => m.doctor_check_disk(),
  'host-clocks': () => m.doctor_check_host_clocks(),
  builds: () => m.doctor_check_builds(),
  bridge: () => m.doctor_check_bridge(),
  version: () => m.doctor_check_version(),
  clock: () => m.doctor_check_clock(),
  'file-modes': () => m.doctor_check_file_modes(),
  'vault-key': () => m.doctor_check_vault_key(),
  sandbox: () => m.doctor_check_sandbox(),
  chromium: () => m.doctor_check_chromium(),
  desktop: () => m.doctor_check_desktop(),
  python: () => m.doctor_check_python(),
  speech: () => m.doctor_check_speech(),
  channels: () => m.doctor_check_channels(),
  cluster: () => m.doctor_check_cluster(),
  'cluster-behind': () => m.doctor_check_cluster_behind(),
  'cluster-replicas': () => m.doctor_check_cluster_replicas(),
  'cluster-storage': () => m.doctor_check_cluster_storage(),
  'cluster-clock': () => m.doctor_check_cluster_clock(),
  'cluster-rights': () => m.doctor_check_cluster_rights(),
  'channel-access': () => m.doctor_check_channel_access(),
  jobs: () => m.doctor_check_jobs(),
  'api-keys': () => m.doctor_check_keys(),
  dreaming: () => m.doctor_check_dreaming(),
  'local-models': () => m.doctor_check_local_models(),
  mirror: () => m.doctor_check_mirror(),
  provider: (name) => m.doctor_check_provider({ name }),
  'default-model': () => m.doctor_check_default_model(),
  'agent-model': (name) => m.doctor_check_agent_model({ name }),
  exec: () => m.doctor_check_exec(),
  'tool-server': (name) => m.doctor_check_tool_server({ name }),
  secrets: () => m.doctor_check_secrets(),
  references: () => m.doctor_check_references(),
  settings: () => m.doctor_check_settings(),
  'config-file': () => m.doctor_check_config_file(),
  names: () => m.doctor_check_names(),
  'rate-limit': () => m.doctor_check_rate_limit(),
};

/** Title of a check in the app's language; the gateway's own if the app has none. Includes the provider's name. */
export function getCheckTitle({ id, title }: Pick<DoctorCheck, 'id' | 'title'>, getProviderName: (providerId: string) => string): string {
  const [kind = ''] = id.split(':');
  const subject = id.slice(kind.length + 1);
  const getTitle = Object.hasOwn(CHECK_TITLES, kind) ? CHECK_TITLES[kind] : undefined;
  return getTitle?.(kind === 'provider' ? getProviderName(subject) : subject) ?? title;
}
