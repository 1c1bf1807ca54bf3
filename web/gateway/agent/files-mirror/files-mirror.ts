import { filesPort } from '#shared/ports/files-port.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import type { FileRecord } from '#shared/rpc/workspace-file.ts';
import type { MirrorState } from '#shared/rpc/methods/workspace-contracts.ts';
import { Mutex } from '#shared/async/mutex.ts';
import { type Agents, getWorkspaceName } from '../agents.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import { type Clock, every } from '#shared/async/clock.ts';
import type { Log } from '../../system/log/log.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { createSessionDialogs } from '../knowledge/memory/session-dialogs.ts';
import { type MissingFilesChoice, WorkspaceMirror } from './workspace-mirror.ts';

/** Interval in milliseconds at which folders without change notifications are scanned. */
const SCAN_INTERVAL_MS = 30_000;

export interface FilesMirrorDeps {
  bridge: Bridge;
  vault: Pick<Vault, 'files' | 'messages' | 'sessions' | 'collection' | 'onRemoteChanges'>;
  clock: Clock;
  agents: Pick<Agents, 'list'>;
  sync: Pick<SyncPort, 'watch'> | undefined;
  log: Pick<Log, 'write'>;
  timeZone(): string;
  settings(): Pick<Settings, 'workspaces'>;
  /** Whether this host is the active gateway; only that one mirrors. */
  isActive(): boolean;
  /** Called before these files of a workspace get the content that they have on disk; the function that it resolves with, after that. */
  beforeImport(workspace: string, files: readonly FileRecord[]): Promise<(() => Promise<void>) | undefined>;
  /** Called before files of a workspace are copied: their paths, and the paths of the copies. */
  beforeCopy(workspace: string, copies: readonly (readonly [path: string, copy: string])[]): Promise<void>;
  /** All folders matched the vault as of `checkedAt`. */
  onSynced(checkedAt: number): Promise<void>;
  fault(error: unknown): RpcError;
}

/** Syncs each workspace with a folder on the bridge's machine: those of agents, and all others that have files. */
export class FilesMirror {
  readonly #deps: FilesMirrorDeps;
  readonly #mirrors = new Map<string, WorkspaceMirror>();
  readonly #cleanups: (() => void)[];
  /** Workspaces to examine; null: all of them. */
  #pendingWorkspaces: Set<string> | null = new Set();
  #scheduled: Promise<void> | undefined;
  readonly #mutex = new Mutex();
  readonly #stopping = new AbortController();
  #watching: { names: string; end: AbortController } | undefined;
  #wasActive = false;

  constructor(deps: FilesMirrorDeps) {
    const { bridge, vault, clock, sync } = deps;
    this.#deps = deps;
    this.#cleanups = [
      every(clock, SCAN_INTERVAL_MS, () => this.refresh()),
      bridge.watch(() => this.#handleBridgeChange()),
      vault.files.watch(({ workspace, path, removed }) => this.#handleFileChange(workspace, path, removed)),
      vault.onRemoteChanges((changes) => {
        for (const { store, key, deleted } of changes) {
          const slash = key.indexOf('/');
          if (store === 'files') this.#handleFileChange(key.slice(0, slash), key.slice(slash + 1), deleted);
        }
      }),
      // A host that becomes active syncs at once.
      sync?.watch(() => void (this.#wasActive !== deps.isActive() && this.refresh())) ?? (() => {}),
    ];
    this.refresh();
  }

  get states(): MirrorState[] {
    return this.#isOn ? [...this.#mirrors.values()].map(({ state }) => state) : [];
  }

  /** Schedules a sync of one workspace, or of all. */
  refresh(workspace?: string): void {
    if (workspace === undefined) this.#pendingWorkspaces = null;
    else this.#pendingWorkspaces?.add(workspace);
    this.#scheduled ??= this.#mutex.run(async () => {
      this.#scheduled = undefined;
      await this.#syncPending();
    });
  }

  /** Resolves once no sync is pending; never rejects. */
  async whenSettled(): Promise<void> {
    while (this.#scheduled) await this.#scheduled;
    await this.#mutex.run(async () => {});
  }

  /** Resumes a stopped workspace and returns its state; undefined if the workspace is not mirrored. */
  resume(workspace: string, choice: MissingFilesChoice): Promise<MirrorState | undefined> {
    return this.#mutex.run(async () => {
      const mirror = this.#mirrors.get(workspace);
      if (!this.#isOn) return undefined;
      if (mirror?.state.state === 'stopped') await mirror.sync(this.#stopping.signal, choice);
      return mirror?.state;
    });
  }

  stop(): void {
    this.#stopping.abort(new Error('the gateway is closed'));
    this.#unwatch();
    for (const stop of this.#cleanups) stop();
  }

  get #isOn(): boolean {
    const { bridge, isActive, settings } = this.#deps;
    return bridge.provides(filesPort) && isActive() && settings().workspaces.mirror && !this.#stopping.signal.aborted;
  }

  /** Never rejects. */
  async #syncPending(): Promise<void> {
    const { vault, agents, fault } = this.#deps;
    const requested = this.#pendingWorkspaces;
    const checkedAt = this.#deps.clock.now();
    this.#pendingWorkspaces = new Set();
    this.#wasActive = this.#deps.isActive();
    if (!this.#isOn) return this.#unwatch();
    try {
      const names = [...new Set([...agents.list().map(getWorkspaceName), ...(await vault.files.workspaces())])];
      for (const name of this.#mirrors.keys()) if (!names.includes(name) && requested === null) this.#mirrors.delete(name);
      for (const name of names) if (requested === null || requested.has(name)) await this.#syncWorkspace(this.#getMirror(name));
      if (requested !== null) return;
      this.#watch(names);
      if (this.#isOn && this.states.every(({ state }) => state === 'synced')) await this.#deps.onSynced(checkedAt);
    } catch (error) {
      if (this.#isOn) fault(error);
    }
  }

  async #syncWorkspace(mirror: WorkspaceMirror): Promise<void> {
    const before = mirror.state.problem;
    try {
      if (this.#isOn) await mirror.sync(this.#stopping.signal);
    } catch (error) {
      // If the bridge is gone or another host is active, the sync is retried when that changes.
      if (this.#isOn) mirror.setFailed(this.#deps.fault(error).message);
    }
    const { problem, workspace } = mirror.state;
    if (problem !== null && problem !== before) this.#deps.log.write('warn', 'workspace', problem, { workspace });
  }

  #getMirror(name: string): WorkspaceMirror {
    const { log } = this.#deps;
    const skipped = (workspace: string, path: string, reason: string): void =>
      log.write('warn', 'workspace', `Skipped ${path}: ${reason}`, { workspace });
    const mirror =
      this.#mirrors.get(name) ??
      new WorkspaceMirror({ ...this.#deps, dialogs: createSessionDialogs(this.#deps, name), onSkipped: skipped }, name);
    this.#mirrors.set(name, mirror);
    return mirror;
  }

  #handleFileChange(workspace: string, path: string, removed: boolean): void {
    this.#mirrors.get(workspace)?.handleFileChange(path, removed);
    // A workspace not known yet is found when all are examined.
    this.refresh(this.#mirrors.has(workspace) ? workspace : undefined);
  }

  #handleBridgeChange(): void {
    this.#unwatch();
    for (const mirror of this.#mirrors.values()) mirror.reset();
    this.refresh();
  }

  /** Subscribes to the bridge's change notifications while it is connected. */
  #watch(names: readonly string[]): void {
    const { bridge } = this.#deps;
    const watchedNames = names.join(' ');
    if (this.#watching?.names === watchedNames) return;
    this.#unwatch();
    const watching = { names: watchedNames, end: new AbortController() };
    this.#watching = watching;
    bridge
      .call(
        filesPort,
        'files.watch',
        { workspaces: names.slice(0, 1000) },
        { signal: watching.end.signal, on: { 'files.changed': ({ workspace }) => this.refresh(workspace) } },
      )
      .catch(() => {})
      .finally(() => {
        if (this.#watching === watching) this.#watching = undefined;
      });
  }

  #unwatch(): void {
    this.#watching?.end.abort(new Error('mirroring has stopped'));
    this.#watching = undefined;
  }
}
