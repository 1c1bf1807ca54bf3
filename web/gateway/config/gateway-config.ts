import { sha256 } from '#shared/sha256.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import { parseParams } from '#shared/rpc/parse-params.ts';
import type { EventBus } from '../system/event-bus.ts';
import { findMovedTokens } from './sections/channel-settings.ts';
import { findEndedPermissions, findMovedHeaders } from './sections/mcp-settings.ts';
import { checkNames, isObject, type Json, mergePatch, createPatch, parsePath } from '#shared/merge-patch.ts';
import { separateUnknown, withSafeDefaults, type UnknownSetting, mergeUnknown, extractUnknown } from './unknown-settings.ts';
import { getBaseUrl } from './sections/provider-kinds.ts';
import { parseReference, findReferenceProblem } from './secrets/secret-reference.ts';
import { findMovedSearchKey } from './sections/web-search-settings.ts';
import { isSecret, settingsSchema, type Settings } from './settings-schema.ts';
import type { Vault } from '../storage/vault-interface.ts';

/** Placeholder that secrets read as; writing it back keeps the secret. */
export const REDACTED = '***';

/** The configuration: one validated document, with its secrets stored separately and encrypted. Changes are applied one after another. */
export class Config {
  readonly #vault: Vault;
  readonly #hub: EventBus;
  readonly #onchange: () => void;
  readonly #fault: (error: unknown) => void;
  readonly #onedited: (before: Settings, after: Settings) => Promise<void>;
  /** The document as last read or written. */
  #stored: Json = {};
  /** The visible document: without misfits, and with secrets redacted. */
  #document: Json = {};
  /** Settings that do not fit this build (or this browser). They are kept unchanged for builds that they do fit. */
  #unknown: readonly UnknownSetting[] = [];
  #parsed: Settings = settingsSchema.parse({});
  #secrets = new Map<string, string>();
  /** Values of the secrets that the document references, by name. Never stored. */
  #referenceValues: ReadonlyMap<string, string> = new Map();
  /** Paths of secrets in the stored document that cannot be read here; another host may be able to. */
  #unreadable: string[] = [];
  /** Whether the stored document is newer than the one in memory. */
  #isStale = false;
  #hash = '';
  #queue: Promise<unknown> = Promise.resolve();

  /** `onchange`: called after every change; `onedited`: only after changes of this host, which wait for it. */
  constructor(
    vault: Vault,
    hub: EventBus,
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
    const { document: knownDocument, misfits } = separateUnknown(stored);
    const secrets = new Map<string, string>();
    const unreadable: string[] = [];
    let document: unknown = knownDocument;
    for (const path of findSecretPaths(knownDocument)) {
      if (readReference(knownDocument, path) !== undefined) continue;
      const secret = await this.#vault.secrets.get(path).catch((error: unknown) => void this.#fault(error));
      if (secret !== undefined) secrets.set(path, secret);
      else {
        // Remove it from the visible document, so that the person is asked for it again.
        unreadable.push(path);
        document = mergePatch(document, createPatch(path.split('.'), null));
      }
    }
    const visible = isObject(document) ? document : {};
    this.#hash = await hashDocument(visible);
    this.#stored = stored;
    this.#document = visible;
    this.#unknown = misfits;
    this.#parsed = withSafeDefaults(settingsSchema.parse(visible), misfits);
    this.#secrets = secrets;
    this.#unreadable = unreadable;
  }

  /**
   * Re-reads the document after another host has changed it or its secrets; nothing is written before that. Rejects if it cannot be read.
   */
  reload(): Promise<void> {
    this.#isStale = true;
    const work = this.#queue.then(() => this.#refresh());
    this.#queue = work.catch(() => {});
    return work;
  }

  /** Resolves once pending changes, of this host and of others, are in force. Never rejects. */
  async whenSettled(): Promise<void> {
    await this.#queue.catch(() => {});
  }

  async #refresh(): Promise<void> {
    if (!this.#isStale) return;
    this.#isStale = false;
    try {
      await this.load();
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
    this.#notifyChange();
  }

  get settings(): Settings {
    return this.#parsed;
  }

  get hash(): string {
    return this.#hash;
  }

  /** The whole document, misfits included; secrets read as `***`. */
  get fullDocument(): Json {
    return mergeUnknown(this.#document, this.#unknown);
  }

  /** A provider's key in plain text, to be sent to that provider only. */
  getSecret(path: string): string | undefined {
    const name = this.getReference(path);
    return name === undefined ? this.#secrets.get(path) : this.#referenceValues.get(name);
  }

  /** All secrets that can be read here, for redaction. */
  get secrets(): Iterable<string> {
    return [...this.#secrets.values(), ...this.#referenceValues.values()];
  }

  /** The name in a `${NAME}` reference at the path of a secret; undefined if there is no reference. */
  getReference(path: string): string | undefined {
    return readReference(this.#document, path);
  }

  /** The names of all secrets that the document references. */
  get references(): readonly string[] {
    return [...new Set(findSecretPaths(this.#document).flatMap((path) => this.getReference(path) ?? []))];
  }

  /** Sets the values of referenced secrets, and applies the configuration again if they have changed. */
  setReferenceValues(values: ReadonlyMap<string, string>): void {
    if (toCanonicalJson([...this.#referenceValues].sort()) === toCanonicalJson([...values].sort())) return;
    this.#referenceValues = values;
    this.#notifyChange();
  }

  /** Faults of the stored document: dotted paths of secrets that cannot be read here, and of settings that are ignored. */
  get faults(): { lost: readonly string[]; misfits: readonly string[] } {
    return { lost: this.#unreadable, misfits: this.#unknown.map(({ path }) => path.join('.')) };
  }

  /** Number of secrets that can be read here. */
  get secretCount(): number {
    return findSecretPaths(this.#document).filter((path) => this.getSecret(path) !== undefined).length;
  }

  /** The document without misfits; secrets read as `***`. */
  get document(): Json {
    return this.#document;
  }

  /** Sets one key. `check` receives the change as a merge patch and the document before it. */
  set(key: string, value: unknown, check = (change: Json, _document: Json): Json => change): Promise<string> {
    checkNames(value);
    const path = parsePath(key);
    const change = createPatch(path, value);
    // A merge patch cannot replace an object, so the old value is deleted first.
    return this.edit((document) => mergePatch(mergePatch(document, createPatch(path, null)), check(change, document)));
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
    const work = this.#queue.then(async () => {
      await this.#refresh();
      const submitted = edit(this.fullDocument);
      if (!isObject(submitted)) throw new RpcError('INVALID_PARAMS', 'The configuration must be an object.');
      // Misfits stay as they are unless they are edited: then they must fit or be deleted.
      const { document: edited, misfits } = extractUnknown(submitted, this.#unknown);
      parseParams(settingsSchema, edited);
      this.#checkReferences(edited);
      const { document, changed } = extractSecrets(edited);
      const secretPathsInDocument = new Set(findSecretPaths(document));
      const movedSecrets = findMovedSecrets(this.#parsed, settingsSchema.parse(document)).filter((path) => !changed.has(path));
      for (const path of movedSecrets) {
        if (!secretPathsInDocument.has(path)) continue;
        const owner = path.replace(/\.(headers\..*|oauth\.clientSecret|[^.]*)$/, '');
        throw createSettingError(path, `must be entered again because ${owner} now points to another server`);
      }
      for (const path of secretPathsInDocument) {
        if (changed.has(path) || this.#secrets.has(path)) continue;
        throw createSettingError(path, `has no saved secret to keep as ${REDACTED}`);
      }
      const unreadable = this.#unreadable.filter((path) => !changed.has(path) && !movedSecrets.includes(path));
      const stored = mergeUnknown(unreadable.reduce(restoreSecret, document), misfits);
      const secretPaths = new Set(findSecretPaths(stored));
      for (const path of findSecretPaths(this.#stored)) if (!secretPaths.has(path)) changed.set(path, null);
      const endedPermissions = findEndedPermissions(this.#parsed.tools.mcpServers, settingsSchema.parse(document).tools.mcpServers);
      const written = new Map([...changed, ...endedPermissions.map((name): [string, null] => [name, null])]);
      await this.#vault.config.write(stored, written, this.#stored);
      for (const [path, secret] of changed) {
        if (secret === null) this.#secrets.delete(path);
        else this.#secrets.set(path, secret);
      }
      this.#unreadable = this.#unreadable.filter((path) => secretPaths.has(path) && !this.#secrets.has(path));
      this.#stored = stored;
      this.#document = document;
      this.#unknown = misfits;
      const before = this.#parsed;
      this.#parsed = withSafeDefaults(settingsSchema.parse(document), misfits);
      this.#hash = await hashDocument(document);
      this.#notifyChange();
      // The change itself is stored.
      await this.#onedited(before, this.#parsed).catch(this.#fault);
      return this.#hash;
    });
    this.#queue = work.catch(() => {});
    return work;
  }

  /** Throws if a reference is invalid, or would send its secret to another server. */
  #checkReferences(document: Json): void {
    const movedSecrets = findMovedSecrets(this.#parsed, settingsSchema.parse(document));
    for (const path of findSecretPaths(document)) {
      const problem = findReferenceProblem(getValue(document, path));
      if (problem !== undefined) throw createSettingError(path, problem);
      const name = readReference(document, path);
      if (name === undefined || !movedSecrets.includes(path) || name !== this.getReference(path)) continue;
      throw createSettingError(path, `would send \${${name}} to another server. Set it to null first, then set it again`);
    }
  }

  #notifyChange(): void {
    this.#onchange();
    this.#hub.emit({ event: 'config.changed', payload: { hash: this.#hash } }, null);
  }
}

/** Dotted paths of the keys whose provider's address has changed: they are not sent there until they are entered again. */
function findMovedSecrets(before: Settings, after: Settings): string[] {
  const toOrigin = (part: Settings['providers'][string] | undefined): string | undefined => {
    const baseUrl = part && getBaseUrl(part);
    return baseUrl === undefined ? undefined : new URL(baseUrl).origin;
  };
  const movedKeys = Object.entries(after.providers).flatMap(([id, part]) => {
    const old = toOrigin(before.providers[id]);
    return old !== undefined && old !== toOrigin(part) ? [`providers.${id}.apiKey`] : [];
  });
  return [
    ...movedKeys,
    ...findMovedHeaders(before.tools.mcpServers, after.tools.mcpServers),
    ...findMovedTokens(before.channels, after.channels),
    ...findMovedSearchKey(before.tools.webSearch, after.tools.webSearch),
  ];
}

/** The error for the setting at a dotted path, in the form of `parseParams`. */
const createSettingError = (key: string, message: string): RpcError =>
  new RpcError('INVALID_PARAMS', `\`${key}\` ${message}.`, { details: { issues: [{ key, message }] } });

/** Dotted paths of the secrets in a document. */
function findSecretPaths(document: Json): string[] {
  const paths: string[] = [];
  const walk = (value: unknown, path: string[]): void => {
    if (isSecret(path)) return void paths.push(path.join('.'));
    if (isObject(value)) for (const [name, child] of Object.entries(value)) walk(child, [...path, name]);
  };
  walk(document, []);
  return paths;
}

const getValue = (document: Json, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined), document);

const readReference = (document: Json, path: string): string | undefined => parseReference(getValue(document, path));

/** The document with `***` at the path of a secret, if the parent of that path still exists. */
function restoreSecret(document: Json, path: string): Json {
  const names = path.split('.');
  const owner = names.slice(0, -1).reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), document);
  const restored = isObject(owner) ? mergePatch(document, createPatch(names, REDACTED)) : document;
  return isObject(restored) ? restored : document;
}

/**
 * Replaces secrets in a document with `***`, except for references, and returns the new values by path. An empty value deletes the secret.
 */
function extractSecrets(edited: Json): { document: Json; changed: Map<string, string | null> } {
  const changed = new Map<string, string | null>();
  let document: unknown = edited;
  for (const key of findSecretPaths(edited)) {
    const path = key.split('.');
    const secret = getValue(edited, key);
    if (secret === REDACTED) continue;
    if (parseReference(secret) !== undefined) {
      changed.set(key, null);
      continue;
    }
    changed.set(key, typeof secret === 'string' && secret !== '' ? secret : null);
    document = mergePatch(document, createPatch(path, changed.get(key) === null ? null : REDACTED));
  }
  return { document: isObject(document) ? document : {}, changed };
}

const hashDocument = async (document: Json): Promise<string> => (await sha256(toCanonicalJson(document))).slice(0, 16);
