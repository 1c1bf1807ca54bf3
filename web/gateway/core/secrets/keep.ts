import { toClause } from '#shared/clause.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Bridge } from '../bridge.ts';
import type { Config } from '../config.ts';

export interface ReferencesDeps {
  bridge: Bridge;
  config: Pick<Config, 'references' | 'resolved'>;
  fault(error: unknown): unknown;
}

/** Why names have no value. */
export interface Unresolved {
  names: readonly string[];
  /** No bridge that could be asked has been there. */
  unasked: boolean;
  /** The file of secrets, where it was asked for, and what is wrong with it. */
  file?: string;
  problem?: string | null;
}

/**
 * Keeps the values of the secrets that the configuration refers to, in memory alone: asked of the bridge at the start, when one is attached, when a name is new, and when it is told
 * to. They stay when the bridge goes away.
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

  /** The configuration may name others. */
  look(): void {
    if (this.#lends() && this.#deps.config.references.some((name) => !this.#asked.has(name))) void this.#ask().catch(this.#deps.fault);
  }

  /** Asks for all of them anew. Rejects where the bridge cannot say. */
  async reload(): Promise<void> {
    if (this.#lends()) await this.#ask();
  }

  /** The value of a secret, waited for where it is being asked for. Rejects with a sentence for people where there is none. */
  async wait(name: string): Promise<string> {
    await this.#asking;
    const value = this.#values.get(name);
    if (value === undefined) throw new RpcError('INTERNAL_ERROR', this.#why(name));
    return value;
  }

  /** Those that are named and have no value. */
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
