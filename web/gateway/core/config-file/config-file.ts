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

/** How often the file is looked at. */
const LOOK_MS = 3_000;
/** The file was changed again and again while it was being written. */
const TRIES = 5;

/** The gateway's configuration is not any more what the file was compared with. */
class ChangedMeanwhile extends Error {}

export interface ConfigFileDeps {
  bridge: Bridge;
  config: Pick<Config, 'whole' | 'edit'>;
  hub: Hub;
  clock: Clock;
  sync: Pick<SyncPort, 'watch'> | undefined;
  /** Whether this host is the one that serves: one alone keeps the file. One that is still reading what others wrote does not, for it would write what is past. */
  serves(): boolean;
  /** The configuration has taken over these tool servers as a person has typed them. */
  typed?(names: readonly string[]): void;
  fault(error: unknown): RpcError;
}

/**
 * Keeps the user's configuration file and the gateway's configuration the same (decisions, "Sessions, agents, models, channels, config"): three-way by what they
 * agreed on last; where both changed a setting the file wins, and what lost is kept beside it. A file that is broken, or does not fit, changes nothing, and is not written to.
 */
export class ConfigFile {
  readonly #deps: ConfigFileDeps;
  #state: ConfigFileState = { state: 'off', path: null, problem: null };
  /** Hash of the file's text as it was read last, whether it was of use or not. */
  #known: string | null | undefined;
  /** The gateway's configuration when they agreed last. */
  #agreed = '';
  #looking: Promise<void> = Promise.resolve();
  #served = false;
  readonly #stops: (() => void)[] = [];

  constructor(deps: ConfigFileDeps) {
    this.#deps = deps;
    const { sync, serves } = deps;
    this.#stops.push(deps.bridge.watch(() => void this.look()));
    // The one that begins to serve does not wait.
    if (sync) this.#stops.push(sync.watch(() => void (this.#served !== serves() && this.look())));
    this.#stops.push(every(deps.clock, LOOK_MS, () => void this.look()));
    void this.look();
  }

  get state(): ConfigFileState {
    return this.#state;
  }

  /** Resolves when file and configuration agree, or cannot. Never rejects. */
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

  /** False: one of the two has changed meanwhile. */
  async #agree(): Promise<boolean> {
    const { bridge, config } = this.#deps;
    const before = canonical(config.whole);
    const { state } = this.#state;
    // A file that is of no use stays so until it changes; what could not be done is tried again.
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
    // Without a file (any more), the gateway's configuration becomes one.
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
    // With what the file had of secrets taken out of it. Set meanwhile, it differs again, and is looked at again.
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

  /** What the file says cannot be taken over. Throws what is no refusal. */
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

/** The dotted path of the setting that does not fit, the first where there are several; empty where the error names none. */
function settingOf({ extra }: RpcError): string {
  const told = misfit.safeParse(extra.details);
  return told.success ? (told.data.issues[0].key.split(', ', 1)[0] ?? '') : '';
}
