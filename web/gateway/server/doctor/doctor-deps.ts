import type { DoctorCheck } from '#shared/rpc/methods/status-contracts.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { ChannelRegistry } from '../../automation/channels/channel-registry.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { ConfigFile } from '../../config/config-file/config-file.ts';
import type { Config } from '../../config/gateway-config.ts';
import type { Environment } from '../../ports/environment.ts';
import type { FilesMirror } from '../../agent/files-mirror/files-mirror.ts';
import type { ApiKeys } from '../keys/api-keys.ts';
import type { Log } from '../../system/log/log.ts';
import type { McpServers } from '../../agent/mcp/mcp-servers.ts';
import type { Providers } from '../../providers/providers.ts';
import type { SecretReferences } from '../../config/secrets/secret-references.ts';
import type { ConnectedClient } from '../../system/status/presence.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { ToolRegistry } from '../../agent/tools/tool-registry.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { Lazy, Loadable } from '../../system/modules.ts';

export interface DoctorDeps {
  clock: Clock;
  vault: Pick<Vault, 'check' | 'getClockLead' | 'conflicts' | 'logs' | 'replica' | 'collection' | 'messages'>;
  config: Pick<Config, 'settings' | 'faults'>;
  configFile: Pick<Loadable<Pick<ConfigFile, 'state'>>, 'loaded'>;
  channels: Pick<ChannelRegistry, 'list'>;
  references: Pick<SecretReferences, 'unresolved'>;
  providers: Pick<Providers, 'listStates' | 'list' | 'resolve'>;
  filesMirror: Pick<Loadable<Pick<FilesMirror, 'states'>>, 'loaded'>;
  tools: Pick<ToolRegistry, 'loadAll' | 'list'>;
  access: Lazy<{ keys: Pick<ApiKeys, 'list'> }>;
  mcp: Lazy<Pick<McpServers, 'refresh' | 'list'>>;
  bridge: Bridge;
  sync: SyncPort | undefined;
  environment: Environment;
  log: Pick<Log, 'flush' | 'problem' | 'write'>;
  /** Build of the worker that the core runs in. */
  build: string;
  clients(): readonly ConnectedClient[];
}

/** Result of a check. */
export type Finding = Pick<DoctorCheck, 'severity' | 'message' | 'fixHint'>;

/** One check of the gateway's health. */
export interface HealthCheck {
  id: string;
  title: string;
  /** Runs the check; null if it does not apply here. If it throws, the failure of the check is reported. */
  run(signal: AbortSignal): Promise<Finding | null> | Finding | null;
}

export const reportOk = (message: string): Finding => ({ severity: 'ok', message });
export const reportProblem = (severity: Exclude<Finding['severity'], 'ok'>, message: string, fixHint?: string): Finding => ({
  severity,
  message,
  ...(fixHint === undefined ? {} : { fixHint }),
});
