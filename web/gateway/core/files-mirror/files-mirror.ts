import { filesPort } from '#shared/ports/files.ts';
import type { RpcError } from '#shared/rpc/errors.ts';
import type { MirrorState } from '#shared/rpc/methods/workspace.ts';
import { Turns } from '#shared/turns.ts';
import { type Agents, workspaceOf } from '../agents.ts';
import type { Bridge } from '../bridge.ts';
import { type Clock, every } from '../clock.ts';
import type { Log } from '../log/log.ts';
import type { Settings } from '../settings.ts';
import type { SyncPort } from '../sync.ts';
import type { Vault } from '../vault.ts';
import { sessionDialogs } from '../memory/session-dialogs.ts';
import { type GoneChoice, WorkspaceMirror } from './workspace-mirror.ts';

/** Interval in milliseconds at which folders without change notifications are scanned. */
const LOOK_MS = 30_000;

export interface FilesMirrorDeps {
  bridge: Bridge;
  vault: Pick<Vault, 'files' | 'messages' | 'onforeign'>;
  clock: Clock;
  agents: Pick<Agents, 'list'>;
  sync: Pick<SyncPort, 'watch'> | undefined;
  log: Pick<Log, 'write'>;
  timeZone(): string;
  settings(): Pick<Settings, 'workspaces'>;
  /** Whether this host is the active gateway; only that one mirrors. */
  serves(): boolean;
  /** Called before these files of a workspace get the content that they have on disk. */
  taken(workspace: string, paths: readonly string[]): Promise<void>;
  /** All folders matched the vault as of `lookedAt`. */
  agreed(lookedAt: number): Promise<void>;
  fault(error: unknown): RpcError;
}

/** Syncs each workspace with a folder on the bridge's machine: those of agents, and all others that have files. */
export class FilesMirror {
  readonly #deps: FilesMirrorDeps;
  readonly #mirrors = new Map<string, WorkspaceMirror>();
  readonly #stops: (() => void)[];
  /** Workspaces to examine; null: all of them. */
  #wanted: Set<string> | null = new Set();
  #looking: Promise<void> | undefined;
  readonly #turns = new Turns();
  readonly #ended = new AbortController();
  #watching: { names: string; end: AbortController } | undefined;
  #served = false;

  constructor(deps: FilesMirrorDeps) {
    const { bridge, vault, clock, sync } = deps;
    this.#deps = deps;
    this.#stops = [
      every(clock, LOOK_MS, () => this.look()),
      bridge.watch(() => this.#bridgeChanged()),
      vault.files.watch(({ workspace, path, removed }) => this.#noted(workspace, path, removed)),
      vault.onforeign((changes) => {
        for (const { store, key, deleted } of changes) {
          const slash = key.indexOf('/');
          if (store === 'files') this.#noted(key.slice(0, slash), key.slice(slash + 1), deleted);
        }
      }),
      // A host that becomes active syncs at once.
      sync?.watch(() => void (this.#served !== deps.serves() && this.look())) ?? (() => {}),
    ];
    this.look();
  }

  get states(): MirrorState[] {
    return this.#isOn ? [...this.#mirrors.values()].map(({ state }) => state) : [];
  }

  /** Schedules a sync of one workspace, or of all. */
  look(workspace?: string): void {
    if (workspace === undefined) this.#wanted = null;
    else this.#wanted?.add(workspace);
    this.#looking ??= this.#turns.run(async () => {
      this.#looking = undefined;
      await this.#look();
    });
  }

  /** Resolves once no sync is pending; never rejects. */
  async settled(): Promise<void> {
    while (this.#looking) await this.#looking;
    await this.#turns.run(async () => {});
  }

  /** Resumes a stopped workspace and returns its state; undefined if the workspace is not mirrored. */
  resume(workspace: string, gone: GoneChoice): Promise<MirrorState | undefined> {
    return this.#turns.run(async () => {
      const mirror = this.#mirrors.get(workspace);
      if (!this.#isOn) return undefined;
      if (mirror?.state.state === 'stopped') await mirror.agree(this.#ended.signal, gone);
      return mirror?.state;
    });
  }

  stop(): void {
    this.#ended.abort(new Error('the gateway is closed'));
    this.#unwatch();
    for (const stop of this.#stops) stop();
  }

  get #isOn(): boolean {
    const { bridge, serves, settings } = this.#deps;
    return bridge.lends(filesPort) && serves() && settings().workspaces.mirror && !this.#ended.signal.aborted;
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { vault, agents, fault } = this.#deps;
    const wanted = this.#wanted;
    const lookedAt = this.#deps.clock.now();
    this.#wanted = new Set();
    this.#served = this.#deps.serves();
    if (!this.#isOn) return this.#unwatch();
    try {
      const names = [...new Set([...agents.list().map(workspaceOf), ...(await vault.files.workspaces())])];
      for (const name of this.#mirrors.keys()) if (!names.includes(name) && wanted === null) this.#mirrors.delete(name);
      for (const name of names) if (wanted === null || wanted.has(name)) await this.#agree(this.#mirrorOf(name));
      if (wanted !== null) return;
      this.#watch(names);
      if (this.#isOn && this.states.every(({ state }) => state === 'synced')) await this.#deps.agreed(lookedAt);
    } catch (error) {
      if (this.#isOn) fault(error);
    }
  }

  async #agree(mirror: WorkspaceMirror): Promise<void> {
    const before = mirror.state.problem;
    try {
      if (this.#isOn) await mirror.agree(this.#ended.signal);
    } catch (error) {
      // If the bridge is gone or another host is active, the sync is retried when that changes.
      if (this.#isOn) mirror.failed(this.#deps.fault(error).message);
    }
    const { problem, workspace } = mirror.state;
    if (problem !== null && problem !== before) this.#deps.log.write('warn', 'workspace', problem, { workspace });
  }

  #mirrorOf(name: string): WorkspaceMirror {
    const { log } = this.#deps;
    const skipped = (workspace: string, path: string, why: string): void =>
      log.write('warn', 'workspace', `Skipped ${path}: ${why}`, { workspace });
    const mirror =
      this.#mirrors.get(name) ?? new WorkspaceMirror({ ...this.#deps, dialogs: sessionDialogs(this.#deps, name), skipped }, name);
    this.#mirrors.set(name, mirror);
    return mirror;
  }

  #noted(workspace: string, path: string, removed: boolean): void {
    this.#mirrors.get(workspace)?.noted(path, removed);
    // A workspace not known yet is found when all are examined.
    this.look(this.#mirrors.has(workspace) ? workspace : undefined);
  }

  #bridgeChanged(): void {
    this.#unwatch();
    for (const mirror of this.#mirrors.values()) mirror.forget();
    this.look();
  }

  /** Subscribes to the bridge's change notifications while it is connected. */
  #watch(names: readonly string[]): void {
    const { bridge } = this.#deps;
    const told = names.join(' ');
    if (this.#watching?.names === told) return;
    this.#unwatch();
    const watching = { names: told, end: new AbortController() };
    this.#watching = watching;
    bridge
      .call(
        filesPort,
        'files.watch',
        { workspaces: names.slice(0, 1000) },
        { signal: watching.end.signal, on: { 'files.changed': ({ workspace }) => this.look(workspace) } },
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
