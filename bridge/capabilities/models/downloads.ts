import { randomUUID } from 'node:crypto';
import { mkdir, rename, statfs } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import type { ModelDownload, modelDownloadsPort } from '#shared/ports/model-downloads.ts';
import { modelDownload } from '#shared/ports/model-downloads.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { z } from '#shared/rpc/zod.ts';
import { commandLine } from '../../command-line.ts';
import type { Extra } from '../../extras/extra.ts';
import { readIfThere, reasonOf, writeWhole } from '../../home.ts';
import type { PortHandlers } from '../../server/serve-port.ts';
import { download } from './download.ts';
import { Hub, HubError } from './hub.ts';
import type { LocalModels } from './local-models.ts';

type Handlers = PortHandlers<typeof modelDownloadsPort.calls, typeof modelDownloadsPort.events>;

/** Maximum number of concurrent downloads. */
const MOST_RUNNING = 8;
/** Maximum number of finished downloads to keep in the list. */
const MOST_ENDED = 50;
/** Milliseconds between progress events of a download. */
const TELL_MS = 250;

const kept = z.object({ version: z.literal(1), downloads: z.array(modelDownload).max(100) });

export interface DownloadsOptions {
  /** The bridge's home directory. */
  home: string;
  models: LocalModels;
  extra: Pick<Extra, 'state' | 'spec'>;
  /** Why MLX models can't run here; null if they can. */
  mlx(): Promise<string | null>;
  /** Unloads a model before its files are deleted. */
  unload(id: string): Promise<void>;
  log(line: string): void;
  /** Environment variables that name hubs and their tokens. */
  env?: NodeJS.ProcessEnv;
  waitMs?: number;
}

interface Running {
  download: ModelDownload;
  stop: AbortController;
  toldAt: number;
  /** Resolves when the download has ended, successfully or not. */
  over: Promise<void>;
}

/** Downloads to this machine's disk, independent of any connection. Running ones are recorded in the home, and resume after a restart. */
export class Downloads {
  readonly #options: DownloadsOptions;
  readonly #file: string;
  readonly #all = new Map<string, Running>();
  readonly #watchers = new Set<(download: ModelDownload) => void>();
  #noting: Promise<unknown> = Promise.resolve();
  #closed = false;

  readonly handlers: Handlers = {
    'downloads.start': ({ repo, filename, source, backend }) => {
      if (backend === 'browser') throw new RpcError('INVALID_PARAMS', 'backend: models in the browser are managed by the browser');
      const same = this.#running().find(({ download: each }) => each.repo === repo && each.backend === backend && each.source === source);
      if (same && same.download.filename === (filename ?? null)) return Promise.resolve({ id: same.download.id });
      if (this.#running().length >= MOST_RUNNING)
        throw new RpcError('INVALID_PARAMS', `${MOST_RUNNING} downloads are already running. Wait for one to finish.`);
      // Removes earlier results of the same download.
      for (const { download: each } of this.#all.values())
        if (isSame(each, { repo, filename, source, backend }) && each.state !== 'running') this.#all.delete(each.id);
      const id = randomUUID();
      this.#begin({
        ...{ id, repo, filename: filename ?? null, source, backend, startedAt: Date.now() },
        ...{ file: null, bytes: 0, total: null, state: 'running', modelId: null },
      });
      return Promise.resolve({ id });
    },

    'downloads.list': () => Promise.resolve({ downloads: [...this.#all.values()].map((each) => each.download) }),

    'downloads.watch': async (_params, { signal, send }) => {
      const over = Promise.withResolvers<void>();
      const watcher = (one: ModelDownload): void => {
        send('downloads.progress', one);
        if (this.#running().length === 0) over.resolve();
      };
      this.#watchers.add(watcher);
      signal.addEventListener('abort', () => over.resolve());
      try {
        for (const { download: each } of this.#all.values()) send('downloads.progress', each);
        if (this.#running().length > 0) await over.promise;
        return {};
      } finally {
        this.#watchers.delete(watcher);
      }
    },

    'downloads.cancel': async ({ id, forget }) => {
      const found = this.#all.get(id);
      if (!found) throw new RpcError('NOT_FOUND', `No download "${id}"`);
      const cancelled = found.download.state === 'running';
      if (cancelled) this.#tell(found, { state: 'cancelled' });
      found.stop.abort(new Error('Cancelled'));
      if (forget) await this.#forget(found);
      return { cancelled };
    },

    'downloads.delete': async ({ model }) => {
      await this.#options.unload(model);
      return { sizeBytes: await this.#options.models.remove(model) };
    },

    'downloads.room': async () => {
      const { models, extra, mlx } = this.#options;
      await mkdir(models.dir, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = await statfs(models.dir);
      const state = await extra.state();
      const version = 'version' in state ? state.version : null;
      return {
        freeBytes: bavail * bsize,
        gguf: { state: state.state, package: extra.spec.package, wanted: extra.spec.version, version },
        mlx: await mlx(),
        install: commandLine('models runtime install'),
      };
    },
  };

  constructor(options: DownloadsOptions) {
    this.#options = options;
    this.#file = join(options.home, 'model-downloads.json');
  }

  /** Resumes downloads that were running when the bridge ended. Never rejects. */
  async resume(): Promise<void> {
    try {
      const text = await readIfThere(this.#file);
      if (text === undefined) return;
      const parsed = kept.safeParse(jsonOf(text));
      if (!parsed.success) throw new Error('the file can’t be read');
      for (const one of parsed.data.downloads) if (!this.#closed && !this.#all.has(one.id)) this.#begin(one);
    } catch (error) {
      this.#options.log(`${this.#file}: unfinished downloads won’t resume (${reasonOf(error)})`);
    }
  }

  /** Stops all downloads; running ones resume at the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { stop } of this.#all.values()) stop.abort(new Error('the bridge is stopping'));
    await Promise.all([...this.#all.values()].map(({ over }) => over));
    await this.#noting;
  }

  #running(): Running[] {
    return [...this.#all.values()].filter((each) => each.download.state === 'running');
  }

  async #forget({ download: { id, repo }, over }: Running): Promise<void> {
    await over;
    this.#all.delete(id);
    // Another download of the repository may resume from them.
    const wanted = [...this.#all.values()].some(({ download: each }) => each.repo === repo && each.state !== 'done');
    if (!wanted) await this.#options.models.removeParts(repo);
  }

  #begin(one: ModelDownload): void {
    const running: Running = { download: one, stop: new AbortController(), toldAt: 0, over: Promise.resolve() };
    this.#all.set(one.id, running);
    this.#note();
    running.over = this.#fetch(running);
  }

  async #fetch(running: Running): Promise<void> {
    const { models, env, waitMs, log } = this.#options;
    const { repo, filename, source } = running.download;
    const backend = running.download.backend === 'mlx' ? 'mlx' : 'gguf';
    this.#tell(running, {});
    try {
      const { id } = await download({
        ...{ hub: new Hub(source, { ...(env ? { env } : {}) }), models, repo, filename: filename ?? undefined, backend },
        ...{ memory: Math.max(freemem(), totalmem() / 2), signal: running.stop.signal },
        ...(waitMs === undefined ? {} : { waitMs }),
        onprogress: ({ file, received, total }) => this.#tell(running, { file, bytes: received, total }),
      });
      this.#tell(running, { state: 'done', modelId: id });
    } catch (error) {
      // Stopped by the bridge's own end: it stays recorded as running.
      if (this.#closed) return;
      if (!(error instanceof HubError) && running.download.state === 'running') log(`models: ${reasonOf(error)}`);
      this.#tell(running, { state: 'failed', error: reasonOf(error) });
    }
    const ended = [...this.#all.values()].filter((each) => each.download.state !== 'running');
    for (const each of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#all.delete(each.download.id);
  }

  #tell(running: Running, change: Partial<ModelDownload>): void {
    // A cancelled download stays cancelled, whatever happens later.
    if (running.download.state !== 'running') return;
    const before = running.download;
    running.download = { ...before, ...change };
    if (running.download.state !== before.state) this.#note();
    const now = performance.now();
    if (running.download.state === before.state && running.download.file === before.file && now - running.toldAt < TELL_MS) return;
    running.toldAt = now;
    for (const watcher of this.#watchers) watcher(running.download);
  }

  /** Records the running downloads. */
  #note(): void {
    this.#noting = this.#noting
      .then(() => writeWhole(this.#file, JSON.stringify({ version: 1, downloads: this.#running().map((each) => each.download) }), rename))
      .catch((error: unknown) => this.#options.log(`${this.#file}: ${reasonOf(error)}`));
  }
}

const isSame = (
  one: ModelDownload,
  wish: Pick<ModelDownload, 'repo' | 'source' | 'backend'> & { filename?: string | undefined },
): boolean =>
  one.repo === wish.repo && one.source === wish.source && one.backend === wish.backend && one.filename === (wish.filename ?? null);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
