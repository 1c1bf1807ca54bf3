import type { DoctorCheck } from '#shared/rpc/methods/status.ts';
import type { Bridge } from '../bridge.ts';
import type { Channels } from '../channels/channels.ts';
import type { Clock } from '../clock.ts';
import type { KeptFile } from '../config-file/keep.ts';
import type { Config } from '../config.ts';
import type { Environment } from '../environment.ts';
import type { KeptMirror } from '../files-mirror/keep.ts';
import type { ApiKeys } from '../keys/keys.ts';
import type { Log } from '../log/log.ts';
import type { McpServers } from '../mcp/servers.ts';
import type { Providers } from '../providers/providers.ts';
import type { SecretReferences } from '../secrets/keep.ts';
import type { PresentClient } from '../status/presence.ts';
import type { SyncPort } from '../sync.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { Vault } from '../vault.ts';

export interface DoctorDeps {
  clock: Clock;
  vault: Pick<Vault, 'check' | 'ahead' | 'conflicts' | 'logs' | 'replica' | 'collection' | 'messages'>;
  config: Pick<Config, 'settings' | 'faults'>;
  file: Pick<KeptFile, 'state'>;
  channels: Pick<Channels, 'list'>;
  references: Pick<SecretReferences, 'unresolved'>;
  providers: Pick<Providers, 'states' | 'list' | 'resolve'>;
  mirror: Pick<KeptMirror, 'states'>;
  tools: Pick<ToolRegistry, 'ready' | 'list'>;
  keys(): Promise<Pick<ApiKeys, 'list'>>;
  mcp(): Promise<Pick<McpServers, 'look' | 'list'>>;
  bridge: Bridge;
  sync: SyncPort | undefined;
  environment: Environment;
  log: Pick<Log, 'flush' | 'problem' | 'write'>;
  /** Build of the worker that the core runs in. */
  build: string;
  clients(): readonly PresentClient[];
}

/** Result of a check. */
export type Finding = Pick<DoctorCheck, 'severity' | 'message' | 'fixHint'>;

/** One check of the gateway's health. */
export interface Check {
  id: string;
  title: string;
  /** Runs the check; null if it does not apply here. If it throws, the failure of the check is reported. */
  look(signal: AbortSignal): Promise<Finding | null> | Finding | null;
}

export const fine = (message: string): Finding => ({ severity: 'ok', message });
export const wrong = (severity: Exclude<Finding['severity'], 'ok'>, message: string, fixHint?: string): Finding => ({
  severity,
  message,
  ...(fixHint === undefined ? {} : { fixHint }),
});
