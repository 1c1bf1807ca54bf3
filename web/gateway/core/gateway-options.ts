import type { Link } from '#shared/link/link.ts';
import type { Admission } from './admission.ts';
import type { Bridge } from './bridge.ts';
import type { Clock } from './clock.ts';
import type { Painter } from './drawings/painter.ts';
import type { Documents } from './documents/documents.ts';
import type { Environment } from './environment.ts';
import type { FaultLog } from './faults.ts';
import type { Fetch } from './fetch.ts';
import type { HttpLater } from './http/later.ts';
import type { BrowserModels } from './local-models/browser-models.ts';
import type { LocalRunner, Runnable } from './providers/local-runner.ts';
import type { MemoryStore } from './memory/agent-memories.ts';
import type { LocalServer } from './providers/discovery.ts';
import type { SyncPort } from './sync.ts';
import type { Vault } from './vault.ts';

/** What a gateway is made of, and what it needs of where it runs. */
export interface GatewayOptions {
  vault: Vault;
  clock: Clock;
  fetch: Fetch;
  version: string;
  /** Model servers looked for on this machine. */
  localServers?: readonly LocalServer[];
  /** Milliseconds after which a silent provider ends the run; 60,000 by default. */
  silenceMs?: number;
  /** The journal and the other hosts; none where there never are any. */
  sync?: SyncPort;
  /** What the bridge lends; nothing where there never is one. */
  bridge?: Bridge;
  /** Who reads documents; the gateway itself by default. */
  documents?: Documents;
  /** Makes pictures of drawings; nobody does by default. */
  painter?: Painter;
  /** Models that this browser keeps and runs; none by default. */
  browserModels?: BrowserModels;
  /** The model that the browser itself brings; none by default. */
  builtIn?: LocalRunner<Runnable>;
  /** Where the index of a workspace's memory is kept, with its vectors; in this process alone by default. */
  memoryStore?: (workspace: string) => Promise<MemoryStore>;
  /** What the host knows of where it runs. */
  environment?: Environment;
  /** Told of faults of ours, which go into the log too. */
  log?: FaultLog;
  /** The configuration has changed: what was decided by the one before holds no more. */
  changed?: () => void;
}

/** The gateway: takes connections of protocol 3 over any link, and answers `/v1`. */
export interface Gateway extends HttpLater {
  accept(link: Link<string>, admission: Admission): void;
  /** Resolves once the configuration that is stored is in force: another host may have changed it just now. */
  settled(): Promise<void>;
  /** Origins that providers may be asked at. */
  origins(): ReadonlySet<string>;
  /**
   * Another host serves from here on: connections that came over the bridge, those here and those still to come, are closed with `CLOSE.handingOver` once no
   * call of theirs is under way. Pages' ports stay, and runs go on.
   */
  handOver(): void;
  /** This host serves again. */
  resume(): void;
  /** Something went wrong in a part of the host that the gateway does not see; it is noted in the log. */
  noted(component: string, error: unknown): void;
  /** Takes no new runs, waits for those under way, aborts them after `ms`. */
  drain(ms: number): Promise<void>;
  /** Closes all connections and the vault. */
  close(): Promise<void>;
}
