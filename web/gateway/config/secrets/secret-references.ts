import { toClause } from '#shared/clause.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Config } from '../gateway-config.ts';

interface SecretReferencesDeps {
  bridge: Bridge;
  config: Pick<Config, 'references' | 'setReferenceValues'>;
  fault(error: unknown): unknown;
}

/** Secret names without a value, and the reason. */
interface UnresolvedSecrets {
  names: readonly string[];
  /** Whether no bridge has been asked yet. */
  isPending: boolean;
  /** The file of secrets, if it was read, and the problem with it. */
  file?: string;
  problem?: string | null;
}

/**
 * Holds the values of secrets that the configuration references, in memory only. The bridge is asked for them at the start, when it
 * attaches, for new names, and on `reload`. The values stay when the bridge detaches.
 */
export class SecretReferences {
  readonly #deps: SecretReferencesDeps;
  readonly #stop: () => void;
  #values = new Map<string, string>();
  #requested = new Set<string>();
  #source: { file: string; problem: string | null } | undefined;
  #pending: Promise<void> = Promise.resolve();

  constructor(deps: SecretReferencesDeps) {
    this.#deps = deps;
    this.#stop = deps.bridge.watch(() => {
      // Another bridge may have other secrets.
      if (this.#isAvailable()) void this.#requestValues().catch(deps.fault);
    });
    this.refresh();
  }

  stop(): void {
    this.#stop();
  }

  /** Asks for names that the configuration has added. */
  refresh(): void {
    if (this.#isAvailable() && this.#deps.config.references.some((name) => !this.#requested.has(name)))
      void this.#requestValues().catch(this.#deps.fault);
  }

  /** Asks for all values again. Rejects if the bridge cannot provide them. */
  async reload(): Promise<void> {
    if (this.#isAvailable()) await this.#requestValues();
  }

  /** The value of a secret, after waiting for a pending request. Rejects with a message for people if there is none. */
  async waitForValue(name: string): Promise<string> {
    await this.#pending;
    const value = this.#values.get(name);
    if (value === undefined) throw new RpcError('INTERNAL_ERROR', this.#explainMissing(name));
    return value;
  }

  /** Names that are referenced but have no value. */
  get unresolved(): UnresolvedSecrets {
    const names = this.#deps.config.references.filter((name) => !this.#values.has(name));
    return { names, isPending: this.#source === undefined, ...this.#source };
  }

  #explainMissing(name: string): string {
    const source = this.#source;
    if (!source) return `the secret \${${name}} comes from the bridge, which is not running; start Perch with \`perch gateway run\``;
    const file =
      source.problem === null ? `${source.file} or the system keyring` : `and ${source.file} can’t be used (${toClause(source.problem)})`;
    return `the secret \${${name}} was not found in the bridge’s environment${source.problem === null ? ',' : ''} ${file}`;
  }

  #isAvailable(): boolean {
    return this.#deps.bridge.provides({ kind: 'secrets' });
  }

  #requestValues(): Promise<void> {
    const work = this.#pending.then(() => this.#resolve());
    this.#pending = work.catch(() => {});
    return work;
  }

  async #resolve(): Promise<void> {
    const { bridge, config } = this.#deps;
    const names = [...new Set(config.references)];
    if (names.length === 0) {
      this.#values = new Map();
      return;
    }
    this.#requested = new Set(names);
    try {
      const { secretsPort } = await import('#shared/ports/secrets-port.ts');
      const { values, file, problem } = await bridge.call(secretsPort, 'secrets.resolve', { names });
      this.#values = new Map(Object.entries(values));
      this.#source = { file, problem };
    } catch (error) {
      this.#requested = new Set();
      throw error;
    }
    config.setReferenceValues(this.#values);
  }
}
