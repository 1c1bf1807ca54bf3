import { toClause } from '#shared/clause.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Bridge } from '../bridge.ts';
import type { Config } from '../config.ts';

export interface ReferencesDeps {
  bridge: Bridge;
  config: Pick<Config, 'references' | 'resolved'>;
  fault(error: unknown): unknown;
}

/** Secret names without a value, and the reason. */
export interface Unresolved {
  names: readonly string[];
  /** Whether no bridge has been asked yet. */
  unasked: boolean;
  /** The file of secrets, if it was read, and the problem with it. */
  file?: string;
  problem?: string | null;
}

/**
 * Holds the values of secrets that the configuration references, in memory only. The bridge is asked for them at the start, when it
 * attaches, for new names, and on `reload`. The values stay when the bridge detaches.
 */
export class SecretReferences {
  readonly #deps: ReferencesDeps;
  readonly #stop: () => void;
  #values = new Map<string, string>();
  #asked = new Set<string>();
  #place: { file: string; problem: string | null } | undefined;
  #asking: Promise<void> = Promise.resolve();

  constructor(deps: ReferencesDeps) {
    this.#deps = deps;
    this.#stop = deps.bridge.watch(() => {
      // Another bridge may have other secrets.
      if (this.#lends()) void this.#ask().catch(deps.fault);
    });
    this.look();
  }

  stop(): void {
    this.#stop();
  }

  /** Asks for names that the configuration has added. */
  look(): void {
    if (this.#lends() && this.#deps.config.references.some((name) => !this.#asked.has(name))) void this.#ask().catch(this.#deps.fault);
  }

  /** Asks for all values again. Rejects if the bridge cannot provide them. */
  async reload(): Promise<void> {
    if (this.#lends()) await this.#ask();
  }

  /** The value of a secret, after waiting for a pending request. Rejects with a message for people if there is none. */
  async wait(name: string): Promise<string> {
    await this.#asking;
    const value = this.#values.get(name);
    if (value === undefined) throw new RpcError('INTERNAL_ERROR', this.#why(name));
    return value;
  }

  /** Names that are referenced but have no value. */
  get unresolved(): Unresolved {
    const names = this.#deps.config.references.filter((name) => !this.#values.has(name));
    return { names, unasked: this.#place === undefined, ...this.#place };
  }

  #why(name: string): string {
    const place = this.#place;
    if (!place) return `the secret \${${name}} comes from the bridge, which is not running; start Perch with \`perch gateway run\``;
    const file =
      place.problem === null ? `${place.file} or the system keyring` : `and ${place.file} can’t be used (${toClause(place.problem)})`;
    return `the secret \${${name}} was not found in the bridge’s environment${place.problem === null ? ',' : ''} ${file}`;
  }

  #lends(): boolean {
    return this.#deps.bridge.lends({ kind: 'secrets' });
  }

  #ask(): Promise<void> {
    const work = this.#asking.then(() => this.#resolve());
    this.#asking = work.catch(() => {});
    return work;
  }

  async #resolve(): Promise<void> {
    const { bridge, config } = this.#deps;
    const names = [...new Set(config.references)];
    if (names.length === 0) {
      this.#values = new Map();
      return;
    }
    this.#asked = new Set(names);
    try {
      const { secretsPort } = await import('#shared/ports/secrets.ts');
      const { values, file, problem } = await bridge.call(secretsPort, 'secrets.resolve', { names });
      this.#values = new Map(Object.entries(values));
      this.#place = { file, problem };
    } catch (error) {
      this.#asked = new Set();
      throw error;
    }
    config.resolved(this.#values);
  }
}
