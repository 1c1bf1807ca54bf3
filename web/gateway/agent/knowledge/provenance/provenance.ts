import { Mutex } from '#shared/async/mutex.ts';
import type { Clock } from '#shared/async/clock.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import { normalizeSpacing } from '../../../knowledge/memory/content-id.ts';
import type { MessageRecord } from '../../../storage/chat-records.ts';
import type {
  FileOrigin,
  MessageOrigin,
  ProvenanceAuthor,
  ProvenanceKind,
  ProvenanceRecord,
  ProvenanceVersion,
} from '../../../storage/records/provenance-record.ts';
import { toPlainText } from '../../../storage/session-views.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import { type ProvenanceKey, ProvenanceKeys } from './provenance-keys.ts';

export interface ProvenanceDeps {
  vault: Pick<Vault, 'collection' | 'secrets' | 'messages'>;
  clock: Pick<Clock, 'now'>;
}

/** Names a piece of content. */
export interface ContentName {
  workspace: string;
  kind: ProvenanceKind;
  name: string;
}

/** Lines of a file that content was made from, with their text. */
export interface FileExcerpt {
  path: string;
  lines?: string | undefined;
  text: string;
}

export type OriginMessage = Pick<MessageRecord, 'id' | 'sessionKey' | 'role' | 'content' | 'timestamp'>;

export interface NewVersion {
  text: string;
  by: ProvenanceAuthor;
  messages?: readonly OriginMessage[];
  files?: readonly FileExcerpt[];
  createdAt?: number | undefined;
}

/** Maximum number of messages and file excerpts recorded for a version, the newest. */
const MAX_ORIGINS = 500;
/** Maximum number of versions; the first one stays. */
const MAX_VERSIONS = 50;

const toProvenanceId = ({ workspace, kind, name }: ContentName): string => `${workspace}/${kind}/${name}`;

/**
 * Origins of memories, daily summaries, claims and dreams: which messages each version was made from, as keyed hashes. A version is signed
 * with the one before it, so that a change that was not recorded shows.
 */
export class Provenance {
  readonly #deps: ProvenanceDeps;
  readonly #keys: ProvenanceKeys;
  /** Serializes changes, which read before they write. */
  readonly #mutex = new Mutex();

  constructor(deps: ProvenanceDeps) {
    this.#deps = deps;
    this.#keys = new ProvenanceKeys(deps.vault.secrets);
  }

  get(name: ContentName): Promise<ProvenanceRecord | undefined> {
    return this.#store.get(toProvenanceId(name));
  }

  /** The records of a workspace, or those of one kind. */
  list(workspace: string, kind?: ProvenanceKind): Promise<ProvenanceRecord[]> {
    return this.#store.list(kind === undefined ? `${workspace}/` : `${workspace}/${kind}/`);
  }

  /** Adds a version, unless the newest one has the same text. */
  record(name: ContentName, version: NewVersion): Promise<void> {
    return this.#mutex.run(() => this.#add(toProvenanceId(name), version));
  }

  /** Adds a version whose name changed, such as a memory with another text: it continues the chain of `before`. */
  rename(before: ContentName, after: ContentName, version: NewVersion): Promise<void> {
    return this.#mutex.run(async () => {
      const id = toProvenanceId(after);
      const earlier = await this.#store.get(toProvenanceId(before));
      if (earlier && !(await this.#store.get(id))) {
        await this.#store.put({ ...earlier, id });
        if (id !== earlier.id) await this.#store.remove(earlier.id);
      }
      await this.#add(id, version);
    });
  }

  /** False if there was none. */
  remove(name: ContentName): Promise<boolean> {
    return this.#mutex.run(() => this.#store.remove(toProvenanceId(name)));
  }

  /** Key of a version; undefined if this replica does not have it. */
  findKey({ keyId }: ProvenanceVersion): Promise<ProvenanceKey | undefined> {
    return this.#keys.find(keyId);
  }

  /** Whether the signatures of all versions are right, one after the other; undefined if a key is missing. */
  async isSigned({ chain, versions }: ProvenanceRecord): Promise<boolean | undefined> {
    let previous: string | null | undefined;
    for (const version of versions) {
      const key = await this.findKey(version);
      if (!key) return undefined;
      // The first version of a long chain follows one that is no longer stored.
      if (previous !== undefined && version.previous !== previous) return false;
      if ((await sign(key, chain, version)) !== version.signature) return false;
      previous = version.signature;
    }
    return true;
  }

  async #add(id: string, { text, by, messages = [], files = [], createdAt }: NewVersion): Promise<void> {
    const key = await this.#keys.current();
    const hash = await key.hash(normalizeSpacing(text));
    const before = await this.#store.get(id);
    const last = before?.versions.at(-1);
    const lastKey = last && (await this.findKey(last));
    if (last && lastKey && (await lastKey.hash(normalizeSpacing(text))) === last.hash) return;
    const chain = before?.chain ?? crypto.randomUUID();
    const unsigned = {
      at: this.#deps.clock.now(),
      by,
      hash,
      messages: await Promise.all(messages.slice(-MAX_ORIGINS).map((message) => toMessageOrigin(message, key))),
      files: await Promise.all(files.slice(-MAX_ORIGINS).map((file) => toFileOrigin(file, key))),
      keyId: key.id,
      previous: last?.signature ?? null,
    };
    const version: ProvenanceVersion = { ...unsigned, signature: await sign(key, chain, unsigned) };
    const versions = [...(before?.versions ?? []), version].slice(-MAX_VERSIONS);
    const time = createdAt ?? before?.createdAt;
    await this.#store.put({ id, chain, ...(time === undefined ? {} : { createdAt: time }), versions });
  }

  get #store() {
    return this.#deps.vault.collection('provenance');
  }
}

async function sign(key: ProvenanceKey, chain: string, version: Omit<ProvenanceVersion, 'signature'>): Promise<string> {
  const { at, by, hash, messages, files, keyId, previous } = version;
  return key.hash(toCanonicalJson({ chain, at, by, hash, messages, files, keyId, previous }));
}

async function toMessageOrigin({ id, sessionKey, role, content, timestamp }: OriginMessage, key: ProvenanceKey): Promise<MessageOrigin> {
  return { sessionKey, messageId: id, role, at: timestamp, hash: await key.hash(normalizeSpacing(toPlainText(content))) };
}

async function toFileOrigin({ path, lines, text }: FileExcerpt, key: ProvenanceKey): Promise<FileOrigin> {
  return { path, ...(lines === undefined ? {} : { lines }), hash: await key.hash(normalizeSpacing(text)) };
}
