import type { Bridge } from '../../ports/bridge-interface.ts';
import { requireCapability } from '../../ports/bridge-interface.ts';
import { foldersPort } from '#shared/ports/folders-port.ts';
import { webPort } from '#shared/ports/web-port.ts';
import { FILES_SOURCE } from '#shared/rpc/methods/collection-contracts.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { fromBase64 } from '#shared/base64.ts';
import { decodeText } from '../../documents/plain-text.ts';
import type { DocumentStore } from '../../storage/document-store.ts';
import type { CollectionDocumentRecord, CollectionRecord, StoredSource } from '../../storage/records/collection-records.ts';

/** A file that a source has listed. */
export interface SourceFile {
  path: string;
  size: number;
  modifiedAt: number | null;
  /** Position in an mbox file. */
  offset?: number;
  url?: string;
}

/** The file of a document, to be split into passages. */
export interface ReadFile {
  /** A string is base64. */
  bytes: Uint8Array<ArrayBuffer> | string;
  mimeType: string;
  modifiedAt: number | null;
  /** Web pages: the final address, and the declared encoding. */
  base?: string;
  charset?: string | undefined;
}

interface SourceFilesDeps {
  bridge: Bridge;
  files: Pick<DocumentStore, 'getFile'>;
  /** Private hosts that the user allows (`tools.webFetch.allow`). */
  allow(): readonly string[];
}

type DiskSource = Extract<StoredSource, { kind: 'folder' | 'repository' | 'mail' }>;
export const isDiskSource = (source: StoredSource): source is DiskSource => source.kind !== 'web';

/** Whether a repository has to be cloned: its address is not a path on the bridge's disk. */
const isRemoteRepository = (url: string): boolean => /^(https?|ssh):\/\/|^[\w.-]+@[\w.-]+:/i.test(url);

/** The path of a source on the bridge's disk; undefined if it is cloned or on the web. */
export function getDiskPath(source: { kind: string; path?: string; url?: string }): string | undefined {
  if (source.kind === 'folder' || source.kind === 'mail') return source.path;
  return source.kind === 'repository' && source.url !== undefined && !isRemoteRepository(source.url) ? source.url : undefined;
}

/** Lists and reads the files of sources. */
export class SourceFiles {
  readonly #deps: SourceFilesDeps;

  constructor(deps: SourceFilesDeps) {
    this.#deps = deps;
  }

  /** Throws if the bridge does not provide what a source needs. */
  require(source: StoredSource): void {
    requireCapability(this.#deps.bridge, source.kind === 'web' ? webPort : foldersPort);
  }

  /** Lists the folders in a folder on the bridge's disk, for a person. Throws `NOT_FOUND`. */
  async listFolders(path: string | undefined, signal: AbortSignal): Promise<MethodResult<'collections.folders'>> {
    return this.#deps.bridge.call(foldersPort, 'folders.list', path === undefined ? {} : { path }, { signal });
  }

  /** Allows the bridge to read a path on its disk, for a person. Returns it with links resolved. Throws `NOT_FOUND`. */
  async approve(path: string): Promise<string> {
    const { root } = await this.#deps.bridge.call(foldersPort, 'folders.approve', { path });
    return root;
  }

  /** Ends the permission to read below a root; never rejects. */
  async revoke(root: string): Promise<void> {
    await this.#deps.bridge.call(foldersPort, 'folders.revoke', { root }).catch(() => {});
  }

  /** Clones a repository, or updates its copy; returns the folder of any other source. Undefined if the person has not approved it. */
  async prepare(source: DiskSource, signal: AbortSignal): Promise<string> {
    this.require(source);
    if (source.kind === 'repository' && isRemoteRepository(source.url)) {
      const params = { url: source.url, allow: [...this.#deps.allow()], ...(source.branch === undefined ? {} : { ref: source.branch }) };
      return (await this.#deps.bridge.call(foldersPort, 'folders.clone', params, { signal })).root;
    }
    return source.root ?? getDiskPath(source) ?? '';
  }

  /** Files of a source, page by page. `root`: the result of `prepare`. */
  async *list(source: DiskSource, root: string, signal: AbortSignal): AsyncGenerator<SourceFile[]> {
    const patterns = source.kind === 'mail' ? {} : { include: source.include ?? [], exclude: source.exclude ?? [] };
    let cursor: string | undefined;
    do {
      const page = await this.#deps.bridge.call(
        foldersPort,
        'folders.scan',
        { root, kind: source.kind, ...patterns, ...(cursor === undefined ? {} : { cursor }) },
        { signal },
      );
      yield page.entries;
      cursor = page.next;
    } while (cursor !== undefined);
  }

  /** Reads the file of a document. Throws `NOT_FOUND` if it is gone. */
  async read(collection: CollectionRecord, document: CollectionDocumentRecord, signal: AbortSignal): Promise<ReadFile> {
    const { sourceId, mimeType, modifiedAt } = document;
    if (sourceId === FILES_SOURCE) {
      const [hash = ''] = document.blobs ?? [];
      const bytes = await this.#deps.files.getFile(hash);
      if (!bytes) throw new RpcError('NOT_FOUND', 'The file is not in the vault. Add it again.');
      return { bytes, mimeType, modifiedAt };
    }
    const source = collection.sources.find(({ id }) => id === sourceId);
    if (!source) throw new RpcError('NOT_FOUND', 'The source was removed.');
    this.require(source);
    if (!isDiskSource(source)) return this.#fetch(document.url ?? document.path, signal);
    const { offset, size } = document;
    const file = await this.#deps.bridge.call(
      foldersPort,
      'folders.read',
      { root: source.root ?? '', path: document.path, ...(offset === undefined ? {} : { offset, maxBytes: Math.max(1, size) }) },
      { signal },
    );
    if (file.truncated && offset === undefined) throw new RpcError('INVALID_PARAMS', 'The file is too large.');
    return { bytes: file.content, mimeType, modifiedAt: offset === undefined ? file.modifiedAt : modifiedAt };
  }

  /** Fetches a text on the web. */
  async fetchText(url: string, signal: AbortSignal): Promise<string> {
    const { bytes, charset } = await this.#fetch(url, signal);
    return decodeText(typeof bytes === 'string' ? fromBase64(bytes) : bytes, charset);
  }

  async #fetch(url: string, signal: AbortSignal): Promise<ReadFile> {
    const page = await this.#deps.bridge.call(webPort, 'web.fetch', { url, allow: [...this.#deps.allow()] }, { signal });
    if (page.status >= 400) throw new RpcError('NOT_FOUND', `The server answered with status ${page.status}.`);
    return {
      bytes: page.body,
      mimeType: page.contentType.split(';', 1)[0]?.trim() ?? '',
      modifiedAt: null,
      base: page.url,
      charset: /;\s*charset\s*=\s*["']?([\w-]+)/i.exec(page.contentType)?.[1],
    };
  }
}
