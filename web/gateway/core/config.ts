import { sha256 } from '#shared/sha256.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { canonical } from './canonical.ts';
import { parseParams } from './dispatch.ts';
import type { Hub } from './hub.ts';
import { movedTokens } from './channels/settings.ts';
import { endedPermissions, movedHeaders } from './mcp/settings.ts';
import { checkNames, isObject, type Json, mergePatch, patchAt, pathOf } from './merge.ts';
import { fit, guarded, type Misfit, putBack, takeOut } from './misfits.ts';
import { baseUrlOf } from './providers/kinds.ts';
import { referenceOf, wrongReference } from './secrets/reference.ts';
import { isSecret, settings, type Settings } from './settings.ts';
import type { Vault } from './vault.ts';

/** Placeholder that secrets read as; writing it back keeps the secret. */
export const REDACTED = '***';

/** The configuration: one validated document, with its secrets stored separately and encrypted. Changes are applied one after another. */
export class Config {
  readonly #vault: Vault;
  readonly #hub: Hub;
  readonly #onchange: () => void;
  readonly #fault: (error: unknown) => void;
  readonly #onedited: (before: Settings, after: Settings) => Promise<void>;
  /** The document as last read or written. */
  #stored: Json = {};
  /** The visible document: without misfits, and with secrets redacted. */
  #document: Json = {};
  /** Settings that do not fit this build (or this browser). They are kept unchanged for builds that they do fit. */
  #aside: readonly Misfit[] = [];
  #parsed: Settings = settings.parse({});
  #secrets = new Map<string, string>();
  /** Values of the secrets that the document references, by name. Never stored. */
  #resolved: ReadonlyMap<string, string> = new Map();
  /** Paths of secrets in the stored document that cannot be read here; another host may be able to. */
  #lost: string[] = [];
  /** Whether the stored document is newer than the one in memory. */
  #stale = false;
  #hash = '';
  #tail: Promise<unknown> = Promise.resolve();

  /** `onchange`: called after every change; `onedited`: only after changes of this host, which wait for it. */
  constructor(
    vault: Vault,
    hub: Hub,
    onchange: () => void,
    fault: (error: unknown) => void,
    onedited: (before: Settings, after: Settings) => Promise<void>,
  ) {
    this.#onedited = onedited;
    this.#fault = fault;
    this.#vault = vault;
    this.#hub = hub;
    this.#onchange = onchange;
  }

  async load(): Promise<void> {
    const stored = (await this.#vault.config.read()) ?? {};
    // Another build may have stored settings that do not fit this one: use only the parts that do.
    const { document: fitting, misfits } = fit(stored);
    const secrets = new Map<string, string>();
    const lost: string[] = [];
    let document: unknown = fitting;
    for (const path of secretPaths(fitting)) {
      if (referenceAt(fitting, path) !== undefined) continue;
      const secret = await this.#vault.secrets.get(path).catch((error: unknown) => void this.#fault(error));
      if (secret !== undefined) secrets.set(path, secret);
      else {
        // Remove it from the visible document, so that the person is asked for it again.
        lost.push(path);
        document = mergePatch(document, patchAt(path.split('.'), null));
      }
    }
    const seen = isObject(document) ? document : {};
    this.#hash = await hashOf(seen);
    this.#stored = stored;
    this.#document = seen;
    this.#aside = misfits;
    this.#parsed = guarded(settings.parse(seen), misfits);
    this.#secrets = secrets;
    this.#lost = lost;
  }

  /**
   * Re-reads the document after another host has changed it or its secrets; nothing is written before that. Rejects if it cannot be read.
   */
  reload(): Promise<void> {
    this.#stale = true;
    const work = this.#tail.then(() => this.#refresh());
    this.#tail = work.catch(() => {});
    return work;
  }

  /** Resolves once pending changes, of this host and of others, are in force. Never rejects. */
  async settled(): Promise<void> {
    await this.#tail.catch(() => {});
  }

  async #refresh(): Promise<void> {
    if (!this.#stale) return;
    this.#stale = false;
    try {
      await this.load();
    } catch (error) {
      this.#stale = true;
      throw error;
    }
    this.#changed();
  }

  get settings(): Settings {
    return this.#parsed;
  }

  get hash(): string {
    return this.#hash;
  }

  /** The whole document, misfits included; secrets read as `***`. */
  get whole(): Json {
    return putBack(this.#document, this.#aside);
  }

  /** A provider's key in plain text, to be sent to that provider only. */
  secret(path: string): string | undefined {
    const name = this.reference(path);
    return name === undefined ? this.#secrets.get(path) : this.#resolved.get(name);
  }

  /** All secrets that can be read here, for redaction. */
  get secrets(): Iterable<string> {
    return [...this.#secrets.values(), ...this.#resolved.values()];
  }

  /** The name in a `${NAME}` reference at the path of a secret; undefined if there is no reference. */
  reference(path: string): string | undefined {
    return referenceAt(this.#document, path);
  }

  /** The names of all secrets that the document references. */
  get references(): readonly string[] {
    return [...new Set(secretPaths(this.#document).flatMap((path) => this.reference(path) ?? []))];
  }

  /** Sets the values of referenced secrets, and applies the configuration again if they have changed. */
  resolved(values: ReadonlyMap<string, string>): void {
    if (canonical([...this.#resolved].sort()) === canonical([...values].sort())) return;
    this.#resolved = values;
    this.#changed();
  }

  /** Faults of the stored document: dotted paths of secrets that cannot be read here, and of settings that are ignored. */
  get faults(): { lost: readonly string[]; misfits: readonly string[] } {
    return { lost: this.#lost, misfits: this.#aside.map(({ path }) => path.join('.')) };
  }

  /** Number of secrets that can be read here. */
  get secretCount(): number {
    return secretPaths(this.#document).filter((path) => this.secret(path) !== undefined).length;
  }

  /** The document without misfits; secrets read as `***`. */
  get document(): Json {
    return this.#document;
  }

  /** Sets one key. `check` receives the change as a merge patch and the document before it. */
  set(key: string, value: unknown, check = (change: Json, _document: Json): Json => change): Promise<string> {
    checkNames(value);
    const path = pathOf(key);
    const change = patchAt(path, value);
    // A merge patch cannot replace an object, so the old value is deleted first.
    return this.edit((document) => mergePatch(mergePatch(document, patchAt(path, null)), check(change, document)));
  }

  patch(patch: Json, baseHash?: string, check = (change: Json, _document: Json): Json => change): Promise<string> {
    checkNames(patch);
    return this.edit((document) => {
      if (baseHash !== undefined && baseHash !== this.#hash) {
        throw new RpcError('INVALID_PARAMS', 'The configuration has changed since `baseHash`. Read it again and retry.', {
          details: { hash: this.#hash },
        });
      }
      return mergePatch(document, check(patch, document));
    });
  }

  /**
   * Changes the whole document: `edit` returns the next version. If it throws, the promise rejects and nothing changes. Resolves with the
   * new hash.
   */
  edit(edit: (document: Json) => unknown): Promise<string> {
    const work = this.#tail.then(async () => {
      await this.#refresh();
      const wanted = edit(this.whole);
      if (!isObject(wanted)) throw new RpcError('INVALID_PARAMS', 'The configuration must be an object.');
      // Misfits stay as they are unless they are edited: then they must fit or be deleted.
      const { document: edited, misfits } = takeOut(wanted, this.#aside);
      parseParams(settings, edited);
      this.#checkReferences(edited);
      const { document, changed } = takeSecrets(edited);
      const named = new Set(secretPaths(document));
      const moved = movedSecrets(this.#parsed, settings.parse(document)).filter((path) => !changed.has(path));
      for (const path of moved) {
        if (!named.has(path)) continue;
        const owner = path.replace(/\.(headers\..*|oauth\.clientSecret|[^.]*)$/, '');
        throw unfit(path, `must be entered again because ${owner} now points to another server`);
      }
      for (const path of named) {
        if (changed.has(path) || this.#secrets.has(path)) continue;
        throw unfit(path, `has no saved secret to keep as ${REDACTED}`);
      }
      const lost = this.#lost.filter((path) => !changed.has(path) && !moved.includes(path));
      const stored = putBack(lost.reduce(keepSecret, document), misfits);
      const kept = new Set(secretPaths(stored));
      for (const path of secretPaths(this.#stored)) if (!kept.has(path)) changed.set(path, null);
      const ended = endedPermissions(this.#parsed.tools.mcpServers, settings.parse(document).tools.mcpServers);
      const written = new Map([...changed, ...ended.map((name): [string, null] => [name, null])]);
      await this.#vault.config.write(stored, written, this.#stored);
      for (const [path, secret] of changed) {
        if (secret === null) this.#secrets.delete(path);
        else this.#secrets.set(path, secret);
      }
      this.#lost = this.#lost.filter((path) => kept.has(path) && !this.#secrets.has(path));
      this.#stored = stored;
      this.#document = document;
      this.#aside = misfits;
      const before = this.#parsed;
      this.#parsed = guarded(settings.parse(document), misfits);
      this.#hash = await hashOf(document);
      this.#changed();
      // The change itself is stored.
      await this.#onedited(before, this.#parsed).catch(this.#fault);
      return this.#hash;
    });
    this.#tail = work.catch(() => {});
    return work;
  }

  /** Throws if a reference is invalid, or would send its secret to another server. */
  #checkReferences(document: Json): void {
    const moved = movedSecrets(this.#parsed, settings.parse(document));
    for (const path of secretPaths(document)) {
      const wrong = wrongReference(valueAt(document, path));
      if (wrong !== undefined) throw unfit(path, wrong);
      const name = referenceAt(document, path);
      if (name === undefined || !moved.includes(path) || name !== this.reference(path)) continue;
      throw unfit(path, `would send \${${name}} to another server. Set it to null first, then set it again`);
    }
  }

  #changed(): void {
    this.#onchange();
    this.#hub.emit({ event: 'config.changed', payload: { hash: this.#hash } }, null);
  }
}

/** Dotted paths of the keys whose provider's address has changed: they are not sent there until they are entered again. */
function movedSecrets(before: Settings, after: Settings): string[] {
  const originOf = (part: Settings['providers'][string] | undefined): string | undefined => {
    const baseUrl = part && baseUrlOf(part);
    return baseUrl === undefined ? undefined : new URL(baseUrl).origin;
  };
  const ofProviders = Object.entries(after.providers).flatMap(([id, part]) => {
    const old = originOf(before.providers[id]);
    return old !== undefined && old !== originOf(part) ? [`providers.${id}.apiKey`] : [];
  });
  return [
    ...ofProviders,
    ...movedHeaders(before.tools.mcpServers, after.tools.mcpServers),
    ...movedTokens(before.channels, after.channels),
  ];
}

/** The error for the setting at a dotted path, in the form of `parseParams`. */
const unfit = (key: string, message: string): RpcError =>
  new RpcError('INVALID_PARAMS', `\`${key}\` ${message}.`, { details: { issues: [{ key, message }] } });

/** Dotted paths of the secrets in a document. */
function secretPaths(document: Json): string[] {
  const paths: string[] = [];
  const walk = (value: unknown, path: string[]): void => {
    if (isSecret(path)) return void paths.push(path.join('.'));
    if (isObject(value)) for (const [name, child] of Object.entries(value)) walk(child, [...path, name]);
  };
  walk(document, []);
  return paths;
}

const valueAt = (document: Json, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined), document);

const referenceAt = (document: Json, path: string): string | undefined => referenceOf(valueAt(document, path));

/** The document with `***` at the path of a secret, if the parent of that path still exists. */
function keepSecret(document: Json, path: string): Json {
  const names = path.split('.');
  const owner = names.slice(0, -1).reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), document);
  const kept = isObject(owner) ? mergePatch(document, patchAt(names, REDACTED)) : document;
  return isObject(kept) ? kept : document;
}

/**
 * Replaces secrets in a document with `***`, except for references, and returns the new values by path. An empty value deletes the secret.
 */
function takeSecrets(edited: Json): { document: Json; changed: Map<string, string | null> } {
  const changed = new Map<string, string | null>();
  let document: unknown = edited;
  for (const key of secretPaths(edited)) {
    const path = key.split('.');
    const secret = valueAt(edited, key);
    if (secret === REDACTED) continue;
    if (referenceOf(secret) !== undefined) {
      changed.set(key, null);
      continue;
    }
    changed.set(key, typeof secret === 'string' && secret !== '' ? secret : null);
    document = mergePatch(document, patchAt(path, changed.get(key) === null ? null : REDACTED));
  }
  return { document: isObject(document) ? document : {}, changed };
}

const hashOf = async (document: Json): Promise<string> => (await sha256(canonical(document))).slice(0, 16);
