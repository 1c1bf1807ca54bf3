import { configFilePort } from '#shared/ports/config-file.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { ConfigFileState } from '#shared/rpc/methods/config.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Bridge } from '../bridge.ts';
import { canonical } from '../canonical.ts';
import { type Clock, every } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Hub } from '../hub.ts';
import { checkNames } from '../merge.ts';
import type { SyncPort } from '../sync.ts';
import { threeWay } from './three-way.ts';
import { typedServers } from './typed-servers.ts';

/** Interval between checks of the file. */
const LOOK_MS = 3_000;
/** Maximum number of attempts if the file keeps changing while it is written. */
const TRIES = 5;

/** The gateway's configuration has changed since the file was compared with it. */
class ChangedMeanwhile extends Error {}

export interface ConfigFileDeps {
  bridge: Bridge;
  config: Pick<Config, 'whole' | 'edit'>;
  hub: Hub;
  clock: Clock;
  sync: Pick<SyncPort, 'watch'> | undefined;
  /**
   * Whether this host is the active one: only that one syncs the file. A host that is still reading the others' changes does not, since it
   * would write outdated data.
   */
  serves(): boolean;
  /** Called when the configuration has accepted MCP servers that a person wrote into the file. */
  typed?(names: readonly string[]): void;
  fault(error: unknown): RpcError;
}

/**
 * Syncs the user's configuration file with the gateway's configuration by a three-way merge with the last common version. If both changed a
 * setting, the file wins, and a copy of what lost is stored next to it. A file that is malformed or invalid changes nothing and is not
 * overwritten.
 */
export class ConfigFile {
  readonly #deps: ConfigFileDeps;
  #state: ConfigFileState = { state: 'off', path: null, problem: null };
  /** Hash of the file's text when last read, whether it was usable or not. */
  #known: string | null | undefined;
  /** The gateway's configuration when both were last equal. */
  #agreed = '';
  #looking: Promise<void> = Promise.resolve();
  #served = false;
  readonly #stops: (() => void)[] = [];

  constructor(deps: ConfigFileDeps) {
    this.#deps = deps;
    const { sync, serves } = deps;
    this.#stops.push(deps.bridge.watch(() => void this.look()));
    // A host that becomes active checks at once.
    if (sync) this.#stops.push(sync.watch(() => void (this.#served !== serves() && this.look())));
    this.#stops.push(every(deps.clock, LOOK_MS, () => void this.look()));
    void this.look();
  }

  get state(): ConfigFileState {
    return this.#state;
  }

  /** Resolves when file and configuration are in sync, or cannot be. Never rejects. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look());
    return this.#looking;
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  async #look(): Promise<void> {
    const { bridge, serves, fault } = this.#deps;
    if (!bridge.lends(configFilePort)) {
      // Another bridge may have another file.
      this.#known = undefined;
      return this.#tell({ state: 'off', path: null, problem: null });
    }
    this.#served = serves();
    if (!this.#served) return;
    try {
      for (let tries = 0; tries < TRIES; tries++) if (await this.#agree()) return;
    } catch (error) {
      if (bridge.lends(configFilePort)) this.#tell({ ...this.#state, state: 'failed', problem: { message: fault(error).message } });
    }
  }

  /** Resolves with false if one of the two has changed in the meantime. */
  async #agree(): Promise<boolean> {
    const { bridge, config } = this.#deps;
    const before = canonical(config.whole);
    const { state } = this.#state;
    // An unusable file stays so until it changes; a failed attempt is retried.
    const isSettled = state === 'broken' || state === 'invalid' || (state !== 'failed' && before === this.#agreed);
    const known = isSettled && this.#known !== undefined ? { known: this.#known } : {};
    const read = await bridge.call(configFilePort, 'config-file.read', known);
    if (read.state === 'same') return true;
    const { path, hash } = read;
    if (read.state === 'broken') {
      this.#known = hash;
      const { message, line, column } = read;
      this.#tell({
        state: 'broken',
        path,
        problem: { message, ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) },
      });
      return true;
    }
    const { document: file, synced } = read;
    try {
      if (file) checkNames(file);
    } catch (error) {
      return this.#invalid(read, error);
    }
    // If there is no file, the gateway's configuration is written to one.
    const { document, lost } = file ? threeWay(synced ?? {}, config.whole, file) : { document: config.whole, lost: false };
    const own = config.whole;
    if (canonical(document) !== before) {
      try {
        await config.edit(() => {
          if (canonical(config.whole) !== before) throw new ChangedMeanwhile();
          return document;
        });
        if (file) this.#deps.typed?.(typedServers({ file, synced: synced ?? {}, own, document }));
      } catch (error) {
        if (error instanceof ChangedMeanwhile) return false;
        return this.#invalid(read, error);
      }
    }
    // Without the secrets that the file had. If a setting changes in the meantime, the two differ again, and the next check handles it.
    const settled = config.whole;
    const { written, hash: after } = await bridge.call(configFilePort, 'config-file.write', {
      document: settled,
      base: hash,
      ...(lost ? { lost: own } : {}),
    });
    if (!written) return false;
    this.#known = after;
    this.#agreed = canonical(settled);
    this.#tell({ state: 'synced', path, problem: null });
    return true;
  }

  /** Reports that the file's settings were refused. Rethrows any error that is not a refusal. */
  async #invalid({ path, hash }: { path: string; hash: string | null }, error: unknown): Promise<true> {
    if (!(error instanceof RpcError)) throw error;
    const key = settingOf(error);
    const place = hash === null ? null : await this.#deps.bridge.call(configFilePort, 'config-file.place', { hash, key });
    this.#known = hash;
    this.#tell({ state: 'invalid', path, problem: { message: error.message, ...place } });
    return true;
  }

  #tell(state: ConfigFileState): void {
    const changed = canonical(state) !== canonical(this.#state);
    this.#state = state;
    if (changed) this.#deps.hub.emit({ event: 'config.file', payload: state }, null);
  }
}

const misfit = z.object({ issues: z.tuple([z.object({ key: z.string() })], z.unknown()) });

/** Dotted path of the setting that does not fit, the first if there are several; empty if the error names none. */
function settingOf({ extra }: RpcError): string {
  const told = misfit.safeParse(extra.details);
  return told.success ? (told.data.issues[0].key.split(', ', 1)[0] ?? '') : '';
}
