import type { Link } from '#shared/link/link.ts';
import type { Admission } from './server/admission.ts';
import type { Bridge } from './ports/bridge-interface.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Painter } from './drawings/painter.ts';
import type { AudioConverter } from './audio/audio-converter.ts';
import type { DocumentReader } from './documents/document-reader.ts';
import type { Environment } from './ports/environment.ts';
import type { FaultLog } from './server/fault-handler.ts';
import type { Fetch } from './ports/fetch.ts';
import type { HttpService } from './server/http/http-service.ts';
import type { BrowserModels } from './providers/local-models/browser-models.ts';
import type { LocalRunner, RunnableModel } from './providers/local-runner.ts';
import type { MemoryStore } from './agent/knowledge/memory/agent-memories.ts';
import type { LocalServer } from './providers/server-discovery.ts';
import type { SyncPort } from './sync/sync-port.ts';
import type { Vault } from './storage/vault-interface.ts';

/** The parts of a gateway, and what it needs from its environment. */
export interface GatewayOptions {
  vault: Vault;
  clock: Clock;
  fetch: Fetch;
  version: string;
  /** Model servers to look for on this machine. */
  localServers?: readonly LocalServer[];
  /** Milliseconds after which a silent provider ends the run; 60,000 by default. */
  silenceMs?: number;
  /** The journal and the other hosts; undefined for a host without either. */
  sync?: SyncPort;
  /** The bridge's capabilities; none by default. */
  bridge?: Bridge;
  /** Reads documents; the gateway itself by default. */
  documents?: DocumentReader;
  /** Renders drawings to pictures; none by default. */
  painter?: Painter;
  /** Models that this browser stores and runs; none by default. */
  browserModels?: BrowserModels;
  /** Converts audio in this browser; none by default. */
  audio?: AudioConverter;
  /** The browser's built-in model; none by default. */
  builtIn?: LocalRunner<RunnableModel>;
  /** Storage for the memory index of a workspace, with its vectors; in this process only by default. */
  memoryStore?: (workspace: string) => Promise<MemoryStore>;
  /** Facts about the environment that the host runs in. */
  environment?: Environment;
  /** Receives internal errors, which are also written to the log. */
  log?: FaultLog;
  /** Called when the configuration has changed: decisions based on the previous one are no longer valid. */
  changed?: () => void;
}

/** The gateway: accepts connections of protocol 3 over any link, and serves `/v1`. */
export interface Gateway extends Pick<HttpService, 'fetch' | 'acceptResponses' | 'storeReceipts' | 'writeSpliceFailure'> {
  accept(link: Link<string>, admission: Admission): void;
  /** Resolves once the stored configuration is in force: another host may have just changed it. */
  whenSettled(): Promise<void>;
  /** Origins to which requests for providers are allowed. */
  origins(): ReadonlySet<string>;
  /**
   * Called when another host becomes active: connections over the bridge, present and future, are closed with `CLOSE.handingOver` once they
   * have no pending call. Ports of pages stay open, and runs continue.
   */
  handOver(): void;
  /** Called when this host becomes active again. */
  resume(): void;
  /** Logs an error in a part of the host outside the gateway. */
  logError(component: string, error: unknown): void;
  /** Accepts no new runs, waits for running ones, and aborts them after `ms`. */
  drain(ms: number): Promise<void>;
  /** Closes all connections and the vault. */
  close(): Promise<void>;
}
