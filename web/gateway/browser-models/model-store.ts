import { type StoredBrowserModel, storedBrowserModel } from '#shared/ports/browser-models-port.ts';

const CACHE_NAME = 'perch-models';
const METADATA_FILE = 'perch.json';
/** In bytes. Files are stored in parts, so that an interrupted download loses at most one. */
export const PART_BYTES = 4 * 1024 * 1024;

const countParts = (size: number): number => Math.max(1, Math.ceil(size / PART_BYTES));

/** The part of the Cache API that is used. */
export interface CacheOpener {
  open(name: string): Promise<{
    keys(): Promise<readonly Request[]>;
    match(url: string): Promise<Response | undefined>;
    put(url: string, response: Response): Promise<void>;
    delete(url: string): Promise<boolean>;
  }>;
}

/** Models in the browser's Cache storage: their files and metadata. Shared by the worker that downloads and the one that runs them. */
export class ModelStore {
  readonly #openCache: () => ReturnType<CacheOpener['open']>;
  readonly #base: string;

  /** `origin`: for the addresses of cache entries; nothing is requested there. */
  constructor(storage: CacheOpener, origin: string) {
    this.#openCache = () => storage.open(CACHE_NAME);
    this.#base = `${origin}/models/`;
  }

  /** All models by repository, including incomplete ones. */
  async list(): Promise<StoredBrowserModel[]> {
    const cache = await this.#openCache();
    const found: StoredBrowserModel[] = [];
    for (const { url } of await cache.keys()) {
      if (!url.endsWith(`/${METADATA_FILE}`)) continue;
      const parsed = storedBrowserModel.safeParse(await (await cache.match(url))?.json().catch(() => undefined));
      if (parsed.success) found.push(parsed.data);
    }
    return found.sort((a, b) => (a.repo < b.repo ? -1 : 1));
  }

  async find(repo: string): Promise<StoredBrowserModel | undefined> {
    return (await this.list()).find((model) => model.repo === repo);
  }

  async putMetadata(model: StoredBrowserModel): Promise<void> {
    await (await this.#openCache()).put(this.#toUrl(model.repo, METADATA_FILE), Response.json(model));
  }

  /** Number of stored bytes of a file of `size`. */
  async countStoredBytes(repo: string, path: string, size: number): Promise<number> {
    const cache = await this.#openCache();
    const parts = countParts(size);
    for (let part = 0; part < parts; part++) if (!(await cache.match(this.#toPartUrl(repo, path, part)))) return part * PART_BYTES;
    return size;
  }

  /** Stores the part of a file that starts at `from`, a multiple of `PART_BYTES`. Rejects with `QuotaExceededError` if there is no room. */
  async put(repo: string, path: string, from: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await (await this.#openCache()).put(this.#toPartUrl(repo, path, from / PART_BYTES), new Response(bytes));
  }

  /** A whole file; undefined if a part is missing. */
  async readFile(model: StoredBrowserModel, path: string): Promise<Response | undefined> {
    const size = model.files.find((file) => file.path === path)?.size;
    if (size === undefined || (await this.countStoredBytes(model.repo, path, size)) < size) return undefined;
    const cache = await this.#openCache();
    let part = 0;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: async (controller) => {
        const cached = await cache.match(this.#toPartUrl(model.repo, path, part));
        if (!cached) throw new Error(`${path} was deleted.`);
        controller.enqueue(new Uint8Array(await cached.arrayBuffer()));
        if (++part === countParts(size)) controller.close();
      },
    });
    return new Response(body, { headers: { 'content-length': String(size) } });
  }

  /** Deletes everything stored of a repository, except the named files. */
  async remove(repo: string, except: readonly string[] = []): Promise<void> {
    const cache = await this.#openCache();
    const retained = new Set(except.map((path) => this.#toUrl(repo, path)));
    for (const { url } of await cache.keys())
      if (url.startsWith(this.#toUrl(repo, '')) && !retained.has(url.replace(/\?part=\d+$/, ''))) await cache.delete(url);
  }

  #toUrl(repo: string, path: string): string {
    return `${this.#base}${repo}/${path.split('/').map(encodeURIComponent).join('/')}`;
  }

  #toPartUrl(repo: string, path: string, part: number): string {
    return `${this.#toUrl(repo, path)}?part=${part}`;
  }
}
