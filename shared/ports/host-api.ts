import type { SyncState } from '../rpc/methods/sync-contracts.ts';
import type { BrowserTransport } from '../sync/nats/browser-transport.ts';

/** Calls of a page to the worker that hosts the gateway, besides the protocol; carried by Comlink. */
export interface HostApi {
  /** Identity of the worker: it holds a Web Lock of this name, which a waiting page is granted when the worker ends. */
  identify(): Promise<HostIdentity>;
  /** Opens a connection of protocol 3 on `port`. The page holds the Web Lock `tabLock`; when it is granted here, the page is gone. */
  open(port: MessagePort, tabLock: string): Promise<void>;
  /** Dials the bridge's `/uplink` at the worker's own origin, and again with back-off whenever it breaks. */
  attach(credential: HostCredential): Promise<void>;
  detach(): Promise<void>;
  /** Resolves when the gateway serves; rejects with why it cannot. */
  ready(): Promise<void>;
  /** Calls back at once and at every change. */
  watch(callback: (status: HostStatus) => void): Promise<void>;
  /** Answers when the worker's code runs: a frozen worker does not. */
  ping(): Promise<void>;
  /**
   * A page was granted the worker's lock. One that lives all the same belongs to data that the browser has cleared, and locks with it: pages and it do not see
   * each other's locks any more. It ends, and makes room for a worker of the new data.
   */
  end(): Promise<void>;
  /** The page is being closed or enters the back/forward cache; `returning`: it is back. */
  leaving(tabLock: string): Promise<void>;
  returning(tabLock: string): Promise<void>;
  /** 24 words for a new vault; they are not stored. */
  newVaultWords(): Promise<string>;
  /**
   * Shares the vault of these words over the cluster, if there is no bridge. If that is impossible, rejects with a sentence and changes
   * nothing.
   */
  share(transport: BrowserTransport, words: string): Promise<void>;
  /** Stops sharing the vault; all local data stays. */
  shareNoLonger(): Promise<void>;
  /** The page provides workers for this work, or does it itself, while it is open. */
  lend(tabLock: string, work: PageTask, lender: PageWorkerProvider): Promise<void>;
}

/** Purposes of workers that pages provide: reading documents, running models, and converting audio. */
export const PAGE_WORKERS = ['documents', 'models', 'audio'] as const;
/** Work that pages provide; `built-in` is the browser's own model, which only pages have. */
export type PageTask = (typeof PAGE_WORKERS)[number] | 'built-in';

/** Name of a dedicated worker: tells it its purpose, and that it does not host the gateway. */
export const getPageWorkerName = (work: PageTask): string => `perch-${work}`;

/** A page's dedicated worker for one kind of work: one at a time, started on demand. */
export interface PageWorkerProvider {
  /** Resolves to a port of the worker; for work in the page itself, to a new port each time. */
  start(): Promise<MessagePort>;
  /** Ends it, whatever it is doing. */
  stop(): Promise<void>;
}

interface HostIdentity {
  build: string;
  lock: string;
}

/** A credential with a non-exportable key. */
export interface HostCredential {
  id: string;
  key: CryptoKey;
}

/** This browser's own way into the cluster that its vault is shared over. */
export interface ClusterStatus {
  servers: string[];
  /** Source of the setting: the bridge, or a person here. */
  from: 'bridge' | 'here';
  /** `resting`: there is a bridge, whose journal takes precedence. */
  state: 'resting' | 'connecting' | 'attached';
  /** A sentence for the user if it cannot be used now. */
  problem: string | null;
}

export interface HostStatus {
  /** `superseded`: a newer build has taken over, and the page should reload once. */
  state: 'starting' | 'serving' | 'draining' | 'superseded' | 'failed';
  uplink: 'off' | 'connecting' | 'attached';
  /** A sentence for the user if there is a problem. */
  problem: string | null;
  sync: SyncState;
  /** All parts are cached, so that it works without the server that it came from. */
  complete?: boolean;
  /** Null if there is none; undefined if not known yet. */
  cluster?: ClusterStatus | null;
  /** Id of the worker among the attached hosts, once its data is open. */
  origin?: string;
}
