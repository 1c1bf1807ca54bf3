import { configFilePort } from '#shared/ports/config-file-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { ConfigFileState } from '#shared/rpc/methods/config-contracts.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import { type Clock, every } from '#shared/async/clock.ts';
import type { Config } from '../gateway-config.ts';
import type { EventBus } from '../../system/event-bus.ts';
import { checkNames } from '#shared/merge-patch.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import { mergeThreeWay } from './merge-config.ts';
import { findTypedServers } from './typed-servers.ts';

/** Interval between checks of the file. */
const CHECK_INTERVAL_MS = 3_000;
/** Maximum number of attempts if the file keeps changing while it is written. */
const MAX_ATTEMPTS = 5;

/** The gateway's configuration has changed since the file was compared with it. */
class ConfigChangedError extends Error {}

export interface ConfigFileDeps {
  bridge: Bridge;
  config: Pick<Config, 'fullDocument' | 'edit'>;
  hub: EventBus;
  clock: Clock;
  sync: Pick<SyncPort, 'watch'> | undefined;
  /**
   * Whether this host is the active one: only that one syncs the file. A host that is still reading the others' changes does not, since it
   * would write outdated data.
   */
  isActive(): boolean;
  /** Called when the configuration has accepted MCP servers that a person wrote into the file. */
  onServersTyped?(names: readonly string[]): void;
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
  #fileHash: string | null | undefined;
  /** The gateway's configuration when both were last equal. */
  #syncedConfig = '';
  #pending: Promise<void> = Promise.resolve();
  #wasActive = false;
  readonly #cleanups: (() => void)[] = [];

  constructor(deps: ConfigFileDeps) {
    this.#deps = deps;
    const { sync, isActive } = deps;
    this.#cleanups.push(deps.bridge.watch(() => void this.refresh()));
    // A host that becomes active checks at once.
    if (sync) this.#cleanups.push(sync.watch(() => void (this.#wasActive !== isActive() && this.refresh())));
    this.#cleanups.push(every(deps.clock, CHECK_INTERVAL_MS, () => void this.refresh()));
    void this.refresh();
  }

  get state(): ConfigFileState {
    return this.#state;
  }

  /** Resolves when file and configuration are in sync, or cannot be. Never rejects. */
  refresh(): Promise<void> {
    this.#pending = this.#pending.then(() => this.#sync());
    return this.#pending;
  }

  stop(): void {
    for (const stop of this.#cleanups) stop();
  }

  async #sync(): Promise<void> {
    const { bridge, isActive, fault } = this.#deps;
    if (!bridge.provides(configFilePort)) {
      // Another bridge may have another file.
      this.#fileHash = undefined;
      return this.#setState({ state: 'off', path: null, problem: null });
    }
    this.#wasActive = isActive();
    if (!this.#wasActive) return;
    try {
      for (let tries = 0; tries < MAX_ATTEMPTS; tries++) if (await this.#syncOnce()) return;
    } catch (error) {
      if (bridge.provides(configFilePort)) this.#setState({ ...this.#state, state: 'failed', problem: { message: fault(error).message } });
    }
  }

  /** Resolves with false if one of the two has changed in the meantime. */
  async #syncOnce(): Promise<boolean> {
    const { bridge, config } = this.#deps;
    const before = toCanonicalJson(config.fullDocument);
    const { state } = this.#state;
    // An unusable file stays so until it changes; a failed attempt is retried.
    const isSettled = state === 'broken' || state === 'invalid' || (state !== 'failed' && before === this.#syncedConfig);
    const known = isSettled && this.#fileHash !== undefined ? { known: this.#fileHash } : {};
    const read = await bridge.call(configFilePort, 'config-file.read', known);
    if (read.state === 'same') return true;
    const { path, hash } = read;
    if (read.state === 'broken') {
      this.#fileHash = hash;
      const { message, line, column } = read;
      this.#setState({
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
      return this.#reportInvalid(read, error);
    }
    // If there is no file, the gateway's configuration is written to one.
    const { document, lost } = file
      ? mergeThreeWay(synced ?? {}, config.fullDocument, file)
      : { document: config.fullDocument, lost: false };
    const own = config.fullDocument;
    if (toCanonicalJson(document) !== before) {
      try {
        await config.edit(() => {
          if (toCanonicalJson(config.fullDocument) !== before) throw new ConfigChangedError();
          return document;
        });
        if (file) this.#deps.onServersTyped?.(findTypedServers({ file, synced: synced ?? {}, own, document }));
      } catch (error) {
        if (error instanceof ConfigChangedError) return false;
        return this.#reportInvalid(read, error);
      }
    }
    // Without the secrets that the file had. If a setting changes in the meantime, the two differ again, and the next check handles it.
    const settled = config.fullDocument;
    const { written, hash: after } = await bridge.call(configFilePort, 'config-file.write', {
      document: settled,
      base: hash,
      ...(lost ? { lost: own } : {}),
    });
    if (!written) return false;
    this.#fileHash = after;
    this.#syncedConfig = toCanonicalJson(settled);
    this.#setState({ state: 'synced', path, problem: null });
    return true;
  }

  /** Reports that the file's settings were refused. Rethrows any error that is not a refusal. */
  async #reportInvalid({ path, hash }: { path: string; hash: string | null }, error: unknown): Promise<true> {
    if (!(error instanceof RpcError)) throw error;
    const key = getSettingPath(error);
    const placement = hash === null ? null : await this.#deps.bridge.call(configFilePort, 'config-file.place', { hash, key });
    this.#fileHash = hash;
    this.#setState({ state: 'invalid', path, problem: { message: error.message, ...placement } });
    return true;
  }

  #setState(state: ConfigFileState): void {
    const changed = toCanonicalJson(state) !== toCanonicalJson(this.#state);
    this.#state = state;
    if (changed) this.#deps.hub.emit({ event: 'config.file', payload: state }, null);
  }
}

const invalidSetting = z.object({ issues: z.tuple([z.object({ key: z.string() })], z.unknown()) });

/** Dotted path of the setting that does not fit, the first if there are several; empty if the error names none. */
function getSettingPath({ extra }: RpcError): string {
  const parsed = invalidSetting.safeParse(extra.details);
  return parsed.success ? (parsed.data.issues[0].key.split(', ', 1)[0] ?? '') : '';
}
