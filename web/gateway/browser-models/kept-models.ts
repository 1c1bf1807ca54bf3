import { type KeptModel, keptModel } from '#shared/ports/browser-models.ts';

const CACHE = 'perch-models';
const ABOUT = 'perch.json';
/** In bytes. Files are stored in parts, so that an interrupted download loses at most one. */
export const PART_BYTES = 4 * 1024 * 1024;

const partsOf = (size: number): number => Math.max(1, Math.ceil(size / PART_BYTES));

/** The part of the Cache API that is used. */
export interface FileCaches {
  open(name: string): Promise<{
    keys(): Promise<readonly Request[]>;
    match(url: string): Promise<Response | undefined>;
    put(url: string, response: Response): Promise<void>;
    delete(url: string): Promise<boolean>;
  }>;
}

/** Models in the browser's Cache storage: their files and metadata. Shared by the worker that downloads and the one that runs them. */
export class KeptModels {
  readonly #cache: () => ReturnType<FileCaches['open']>;
  readonly #base: string;

  /** `origin`: for the addresses of cache entries; nothing is requested there. */
  constructor(storage: FileCaches, origin: string) {
    this.#cache = () => storage.open(CACHE);
    this.#base = `${origin}/models/`;
  }

  /** All models by repository, including incomplete ones. */
  async list(): Promise<KeptModel[]> {
    const cache = await this.#cache();
    const found: KeptModel[] = [];
    for (const { url } of await cache.keys()) {
      if (!url.endsWith(`/${ABOUT}`)) continue;
      const about = keptModel.safeParse(await (await cache.match(url))?.json().catch(() => undefined));
      if (about.success) found.push(about.data);
    }
    return found.sort((a, b) => (a.repo < b.repo ? -1 : 1));
  }

  async find(repo: string): Promise<KeptModel | undefined> {
    return (await this.list()).find((each) => each.repo === repo);
  }

  async note(model: KeptModel): Promise<void> {
    await (await this.#cache()).put(this.#url(model.repo, ABOUT), Response.json(model));
  }

  /** Number of stored bytes of a file of `size`. */
  async bytesOf(repo: string, path: string, size: number): Promise<number> {
    const cache = await this.#cache();
    const parts = partsOf(size);
    for (let part = 0; part < parts; part++) if (!(await cache.match(this.#part(repo, path, part)))) return part * PART_BYTES;
    return size;
  }

  /** Stores the part of a file that starts at `from`, a multiple of `PART_BYTES`. Rejects with `QuotaExceededError` if there is no room. */
  async put(repo: string, path: string, from: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await (await this.#cache()).put(this.#part(repo, path, from / PART_BYTES), new Response(bytes));
  }

  /** A whole file; undefined if a part is missing. */
  async read(model: KeptModel, path: string): Promise<Response | undefined> {
    const size = model.files.find((file) => file.path === path)?.size;
    if (size === undefined || (await this.bytesOf(model.repo, path, size)) < size) return undefined;
    const cache = await this.#cache();
    let part = 0;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: async (controller) => {
        const kept = await cache.match(this.#part(model.repo, path, part));
        if (!kept) throw new Error(`${path} was deleted.`);
        controller.enqueue(new Uint8Array(await kept.arrayBuffer()));
        if (++part === partsOf(size)) controller.close();
      },
    });
    return new Response(body, { headers: { 'content-length': String(size) } });
  }

  /** Deletes everything stored of a repository, except the named files. */
  async remove(repo: string, but: readonly string[] = []): Promise<void> {
    const cache = await this.#cache();
    const left = new Set(but.map((path) => this.#url(repo, path)));
    for (const { url } of await cache.keys())
      if (url.startsWith(this.#url(repo, '')) && !left.has(url.replace(/\?part=\d+$/, ''))) await cache.delete(url);
  }

  #url(repo: string, path: string): string {
    return `${this.#base}${repo}/${path.split('/').map(encodeURIComponent).join('/')}`;
  }

  #part(repo: string, path: string, part: number): string {
    return `${this.#url(repo, path)}?part=${part}`;
  }
}
