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
  /** As it was read or written last. */
  #stored: Json = {};
  /** What is seen of it. */
  #document: Json = {};
  /** What does not fit this build (or this browser): kept as it is, for those that it does fit. */
  #aside: readonly Misfit[] = [];
  #parsed: Settings = settings.parse({});
  #secrets = new Map<string, string>();
  /** Values of the secrets that the document refers to, by name: never stored. */
  #resolved: ReadonlyMap<string, string> = new Map();
  /** Secrets that the stored document names and that cannot be read here: another host may be able to. */
  #lost: string[] = [];
  /** The stored document is newer than what is here. */
  #stale = false;
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
    // What another build stored may not fit: only the parts that do are used.
    const { document: fitting, misfits } = fit(stored);
    const secrets = new Map<string, string>();
    const lost: string[] = [];
    let document: unknown = fitting;
    for (const path of secretPaths(fitting)) {
      if (referenceAt(fitting, path) !== undefined) continue;
      const secret = await this.#vault.secrets.get(path).catch((error: unknown) => void this.#fault(error));
      if (secret !== undefined) secrets.set(path, secret);
      else {
        // Taken out of what is seen, so that the person is asked for it again.
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

  /** Another host has changed the document or its secrets: it is read anew, before anything is written. Rejects where it cannot be read. */
  reload(): Promise<void> {
    this.#stale = true;
    const work = this.#tail.then(() => this.#refresh());
    this.#tail = work.catch(() => {});
    return work;
  }

  /** Resolves once what other hosts have changed is in force here, and what is being changed. Never rejects. */
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

  /** The whole document, with what does not fit here; secrets read as `***`. */
  get whole(): Json {
    return putBack(this.#document, this.#aside);
  }

  /** A provider's key, in the clear: for the provider alone. */
  secret(path: string): string | undefined {
    const name = this.reference(path);
    return name === undefined ? this.#secrets.get(path) : this.#resolved.get(name);
  }

  /** All secrets that can be read here, for what must not show them. */
  get secrets(): Iterable<string> {
    return [...this.#secrets.values(), ...this.#resolved.values()];
  }

  /** The name that stands in the place of a secret, `${NAME}`; undefined where none does. */
  reference(path: string): string | undefined {
    return referenceAt(this.#document, path);
  }

  /** The names that stand in the places of secrets. */
  get references(): readonly string[] {
    return [...new Set(secretPaths(this.#document).flatMap((path) => this.reference(path) ?? []))];
  }

  /** Takes the values of the names that are referred to; what follows from the configuration follows from them too. */
  resolved(values: ReadonlyMap<string, string>): void {
    if (canonical([...this.#resolved].sort()) === canonical([...values].sort())) return;
    this.#resolved = values;
    this.#changed();
  }

  /** What is wrong with what is stored: dotted paths of secrets that cannot be read here, and of settings that are left out. */
  get faults(): { lost: readonly string[]; misfits: readonly string[] } {
    return { lost: this.#lost, misfits: this.#aside.map(({ path }) => path.join('.')) };
  }

  /** Secrets that can be read here. */
  get secretCount(): number {
    return secretPaths(this.#document).filter((path) => this.secret(path) !== undefined).length;
  }

  /** What is set, without what does not fit; secrets read as `***`. */
  get document(): Json {
    return this.#document;
  }

  /** `check` gets the change as a merge patch, and the document before it. */
  set(key: string, value: unknown, check = (change: Json, _document: Json): Json => change): Promise<string> {
    checkNames(value);
    const path = pathOf(key);
    const change = patchAt(path, value);
    // A merge patch cannot replace an object, so what stands there goes first.
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

  /** Changes the whole document, of which `edit` gives the next version; what that throws rejects, and nothing is changed. Resolves with the new hash. */
  edit(edit: (document: Json) => unknown): Promise<string> {
    const work = this.#tail.then(async () => {
      await this.#refresh();
      const wanted = edit(this.whole);
      if (!isObject(wanted)) throw new RpcError('INVALID_PARAMS', 'The configuration must be an object.');
      // What does not fit stays as it is, unless it is that which changes: then it has to fit, or to go.
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
      this.#parsed = guarded(settings.parse(document), misfits);
      this.#hash = await hashOf(document);
      this.#changed();
      return this.#hash;
    });
    this.#tail = work.catch(() => {});
    return work;
  }

  /** Throws where a reference is none, or would take its secret to another server. */
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

/** Dotted paths of the keys whose provider has another address than before: they are not sent there without being given again. */
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

/** What is wrong with the setting at a dotted path, told as `parseParams` tells it. */
const unfit = (key: string, message: string): RpcError =>
  new RpcError('INVALID_PARAMS', `\`${key}\` ${message}.`, { details: { issues: [{ key, message }] } });

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

const valueAt = (document: Json, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined), document);

const referenceAt = (document: Json, path: string): string | undefined => referenceOf(valueAt(document, path));

/** The document with `***` at the path of a secret, where what the secret belongs to is there still. */
function keepSecret(document: Json, path: string): Json {
  const names = path.split('.');
  const owner = names.slice(0, -1).reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), document);
  const kept = isObject(owner) ? mergePatch(document, patchAt(names, REDACTED)) : document;
  return isObject(kept) ? kept : document;
}

/** Puts `***` where secrets stand, but for references; the secrets that are new, by path. An empty one is taken away. */
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
