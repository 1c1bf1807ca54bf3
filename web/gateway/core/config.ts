import { RpcError } from '#shared/rpc/errors.ts';
import { parseParams } from './dispatch.ts';
import type { Hub } from './hub.ts';
import { checkNames, isObject, type Json, mergePatch, patchAt, pathOf } from './merge.ts';
import { isSecret, settings, type Settings } from './settings.ts';
import type { Vault } from './vault.ts';

/** What a secret reads as; writing it back keeps the secret. */
export const REDACTED = '***';

/**
 * The configuration: one validated document, its secrets kept apart and encrypted (decisions, "Sessions …, config"). Changes are
 * made one after another.
 */
export class Config {
  readonly #vault: Vault;
  readonly #hub: Hub;
  readonly #onchange: () => void;
  readonly #fault: (error: unknown) => void;
  #document: Json = {};
  #parsed: Settings = settings.parse({});
  #secrets = new Map<string, string>();
  #hash = '';
  #tail: Promise<unknown> = Promise.resolve();

  constructor(vault: Vault, hub: Hub, onchange: () => void, fault: (error: unknown) => void) {
    this.#fault = fault;
    this.#vault = vault;
    this.#hub = hub;
    this.#onchange = onchange;
  }

  async load(): Promise<void> {
    const stored = (await this.#vault.config.read()) ?? {};
    // What another build stored may not fit: the parts that do are kept.
    this.#document = Object.fromEntries(Object.entries(stored).filter(([name, value]) => settings.safeParse({ [name]: value }).success));
    this.#parsed = settings.parse(this.#document);
    for (const path of secretPaths(this.#document)) await this.#unlock(path);
    this.#hash = await hashOf(this.#document);
  }

  /** Reads a secret that the document names. One that is lost is taken out of it, so that the person is asked for it again. */
  async #unlock(path: string): Promise<void> {
    const secret = await this.#vault.secrets.get(path).catch((error: unknown) => void this.#fault(error));
    if (secret !== undefined) return void this.#secrets.set(path, secret);
    const without = mergePatch(this.#document, patchAt(path.split('.'), null));
    if (isObject(without)) this.#document = without;
    this.#parsed = settings.parse(this.#document);
  }

  get settings(): Settings {
    return this.#parsed;
  }

  get hash(): string {
    return this.#hash;
  }

  /** A provider's key, in the clear: for the provider alone. */
  secret(path: string): string | undefined {
    return this.#secrets.get(path);
  }

  /** One entry, or the whole document; secrets read as `***`. `NOT_FOUND` where there is none. */
  get(key?: string): unknown {
    let value: unknown = this.#document;
    for (const name of key === undefined ? [] : pathOf(key)) {
      if (!isObject(value) || !Object.hasOwn(value, name)) throw new RpcError('NOT_FOUND', `There is no setting ${key}`);
      value = value[name];
    }
    return value;
  }

  set(key: string, value: unknown): Promise<string> {
    checkNames(value);
    const path = pathOf(key);
    // A merge patch cannot replace an object, so what stands there goes first.
    return this.#change((document) => mergePatch(mergePatch(document, patchAt(path, null)), patchAt(path, value)));
  }

  patch(patch: Json, baseHash?: string): Promise<string> {
    checkNames(patch);
    return this.#change((document) => {
      if (baseHash !== undefined && baseHash !== this.#hash) {
        throw new RpcError('INVALID_PARAMS', 'baseHash: the configuration has changed since', { details: { hash: this.#hash } });
      }
      return mergePatch(document, patch);
    });
  }

  #change(edit: (document: Json) => unknown): Promise<string> {
    const work = this.#tail.then(async () => {
      const edited = edit(this.#document);
      parseParams(settings, edited);
      if (!isObject(edited)) throw new RpcError('INVALID_PARAMS', 'The configuration is an object');
      const { document, changed } = takeSecrets(edited);
      const named = new Set(secretPaths(document));
      for (const path of named) {
        if (changed.has(path) || this.#secrets.has(path)) continue;
        throw new RpcError('INVALID_PARAMS', `${path}: there is no secret to keep as ${REDACTED}`);
      }
      for (const path of this.#secrets.keys()) if (!named.has(path)) changed.set(path, null);
      await this.#vault.config.write(document, changed);
      for (const [path, secret] of changed) {
        if (secret === null) this.#secrets.delete(path);
        else this.#secrets.set(path, secret);
      }
      this.#document = document;
      this.#parsed = settings.parse(document);
      this.#hash = await hashOf(document);
      this.#onchange();
      this.#hub.emit({ event: 'config.changed', payload: { hash: this.#hash } }, null);
      return this.#hash;
    });
    this.#tail = work.catch(() => {});
    return work;
  }
}

/** Dotted paths of the secrets that a document has. */
function secretPaths(document: Json): string[] {
  const paths: string[] = [];
  const walk = (value: unknown, path: string[]): void => {
    if (isSecret(path)) return void paths.push(path.join('.'));
    if (isObject(value)) for (const [name, child] of Object.entries(value)) walk(child, [...path, name]);
  };
  walk(document, []);
  return paths;
}

/** Puts `***` where secrets stand; the secrets that are new, by path. An empty one is taken away. */
function takeSecrets(edited: Json): { document: Json; changed: Map<string, string | null> } {
  const changed = new Map<string, string | null>();
  let document: unknown = edited;
  for (const key of secretPaths(edited)) {
    const path = key.split('.');
    const secret = path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), edited);
    if (secret === REDACTED) continue;
    changed.set(key, typeof secret === 'string' && secret !== '' ? secret : null);
    document = mergePatch(document, patchAt(path, changed.get(key) === null ? null : REDACTED));
  }
  return { document: isObject(document) ? document : {}, changed };
}

async function hashOf(document: Json): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(sorted(document))));
  return Array.from(new Uint8Array(digest).subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The same document whatever the order in which its keys were set. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  );
}
