import { randomUUID } from 'node:crypto';
import { mkdir, rename, statfs } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import type { ModelDownload, modelDownloadsPort } from '#shared/ports/model-downloads-port.ts';
import { modelDownload } from '#shared/ports/model-downloads-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { toCommandLine } from '../../command-line.ts';
import type { OptionalPackage } from '../../extras/extra.ts';
import { readFileIfExists, describeError, writeFileAtomically } from '../../home-directory.ts';
import type { PortHandlers } from '../serve-port.ts';
import { downloadFiles } from './download-model.ts';
import { ModelHub, HubError } from './model-hub.ts';
import type { LocalModels } from './local-models.ts';

type Handlers = PortHandlers<typeof modelDownloadsPort.calls, typeof modelDownloadsPort.events>;

/** Maximum number of concurrent downloads. */
const MAX_RUNNING = 8;
/** Maximum number of finished downloads to keep in the list. */
const MAX_ENDED = 50;
/** Milliseconds between progress events of a download. */
const PROGRESS_MS = 250;

const downloadsFileSchema = z.object({ version: z.literal(1), downloads: z.array(modelDownload).max(100) });

interface ModelDownloadsOptions {
  /** The bridge's home directory. */
  home: string;
  models: LocalModels;
  extra: Pick<OptionalPackage, 'state' | 'spec'>;
  /** Why MLX models can't run here; null if they can. */
  mlx(): Promise<string | null>;
  /** Unloads a model before its files are deleted. */
  unload(id: string): Promise<void>;
  log(line: string): void;
  /** Environment variables that name hubs and their tokens. */
  env?: NodeJS.ProcessEnv;
  waitMs?: number;
}

interface RunningDownload {
  download: ModelDownload;
  aborter: AbortController;
  notifiedAt: number;
  /** Resolves when the download has ended, successfully or not. */
  finished: Promise<void>;
}

/** Downloads to this machine's disk, independent of any connection. Running ones are recorded in the home, and resume after a restart. */
export class ModelDownloads {
  readonly #options: ModelDownloadsOptions;
  readonly #file: string;
  readonly #byId = new Map<string, RunningDownload>();
  readonly #watchers = new Set<(download: ModelDownload) => void>();
  #lastWrite: Promise<unknown> = Promise.resolve();
  #closed = false;

  readonly handlers: Handlers = {
    'downloads.start': ({ repo, filename, source, backend }) => {
      if (backend === 'browser') throw new RpcError('INVALID_PARAMS', 'backend: models in the browser are managed by the browser');
      const same = this.#running().find(({ download: each }) => each.repo === repo && each.backend === backend && each.source === source);
      if (same && same.download.filename === (filename ?? null)) return Promise.resolve({ id: same.download.id });
      if (this.#running().length >= MAX_RUNNING)
        throw new RpcError('INVALID_PARAMS', `${MAX_RUNNING} downloads are already running. Wait for one to finish.`);
      // Removes earlier results of the same download.
      for (const { download: each } of this.#byId.values())
        if (isSameDownload(each, { repo, filename, source, backend }) && each.state !== 'running') this.#byId.delete(each.id);
      const id = randomUUID();
      this.#start({
        ...{ id, repo, filename: filename ?? null, source, backend, startedAt: Date.now() },
        ...{ file: null, bytes: 0, total: null, state: 'running', modelId: null },
      });
      return Promise.resolve({ id });
    },

    'downloads.list': () => Promise.resolve({ downloads: [...this.#byId.values()].map((each) => each.download) }),

    'downloads.watch': async (_params, { signal, send }) => {
      const allFinished = Promise.withResolvers<void>();
      const watcher = (download: ModelDownload): void => {
        send('downloads.progress', download);
        if (this.#running().length === 0) allFinished.resolve();
      };
      this.#watchers.add(watcher);
      signal.addEventListener('abort', () => allFinished.resolve());
      try {
        for (const { download: each } of this.#byId.values()) send('downloads.progress', each);
        if (this.#running().length > 0) await allFinished.promise;
        return {};
      } finally {
        this.#watchers.delete(watcher);
      }
    },

    'downloads.cancel': async ({ id, forget }) => {
      const found = this.#byId.get(id);
      if (!found) throw new RpcError('NOT_FOUND', `No download "${id}"`);
      const cancelled = found.download.state === 'running';
      if (cancelled) this.#updateProgress(found, { state: 'cancelled' });
      found.aborter.abort(new Error('Cancelled'));
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
        install: toCommandLine('models runtime install'),
      };
    },
  };

  constructor(options: ModelDownloadsOptions) {
    this.#options = options;
    this.#file = join(options.home, 'model-downloads.json');
  }

  /** Resumes downloads that were running when the bridge ended. Never rejects. */
  async resume(): Promise<void> {
    try {
      const text = await readFileIfExists(this.#file);
      if (text === undefined) return;
      const parsed = downloadsFileSchema.safeParse(parseJsonSafely(text));
      if (!parsed.success) throw new Error('the file can’t be read');
      for (const download of parsed.data.downloads) if (!this.#closed && !this.#byId.has(download.id)) this.#start(download);
    } catch (error) {
      this.#options.log(`${this.#file}: unfinished downloads won’t resume (${describeError(error)})`);
    }
  }

  /** Stops all downloads; running ones resume at the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { aborter } of this.#byId.values()) aborter.abort(new Error('the bridge is stopping'));
    await Promise.all([...this.#byId.values()].map(({ finished }) => finished));
    await this.#lastWrite;
  }

  #running(): RunningDownload[] {
    return [...this.#byId.values()].filter((each) => each.download.state === 'running');
  }

  async #forget({ download: { id, repo }, finished }: RunningDownload): Promise<void> {
    await finished;
    this.#byId.delete(id);
    // Another download of the repository may resume from them.
    const isNeeded = [...this.#byId.values()].some(({ download: each }) => each.repo === repo && each.state !== 'done');
    if (!isNeeded) await this.#options.models.removeParts(repo);
  }

  #start(download: ModelDownload): void {
    const running: RunningDownload = { download, aborter: new AbortController(), notifiedAt: 0, finished: Promise.resolve() };
    this.#byId.set(download.id, running);
    this.#save();
    running.finished = this.#runDownload(running);
  }

  async #runDownload(running: RunningDownload): Promise<void> {
    const { models, env, waitMs, log } = this.#options;
    const { repo, filename, source } = running.download;
    const backend = running.download.backend === 'mlx' ? 'mlx' : 'gguf';
    this.#updateProgress(running, {});
    try {
      const { id } = await downloadFiles({
        ...{ hub: new ModelHub(source, { ...(env ? { env } : {}) }), models, repo, filename: filename ?? undefined, backend },
        ...{ memory: Math.max(freemem(), totalmem() / 2), signal: running.aborter.signal },
        ...(waitMs === undefined ? {} : { waitMs }),
        onprogress: ({ file, received, total }) => this.#updateProgress(running, { file, bytes: received, total }),
      });
      this.#updateProgress(running, { state: 'done', modelId: id });
    } catch (error) {
      // Stopped by the bridge's own end: it stays recorded as running.
      if (this.#closed) return;
      if (!(error instanceof HubError) && running.download.state === 'running') log(`models: ${describeError(error)}`);
      this.#updateProgress(running, { state: 'failed', error: describeError(error) });
    }
    const ended = [...this.#byId.values()].filter((each) => each.download.state !== 'running');
    for (const each of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) this.#byId.delete(each.download.id);
  }

  #updateProgress(running: RunningDownload, change: Partial<ModelDownload>): void {
    // A cancelled download stays cancelled, whatever happens later.
    if (running.download.state !== 'running') return;
    const before = running.download;
    running.download = { ...before, ...change };
    if (running.download.state !== before.state) this.#save();
    const now = performance.now();
    if (running.download.state === before.state && running.download.file === before.file && now - running.notifiedAt < PROGRESS_MS) return;
    running.notifiedAt = now;
    for (const watcher of this.#watchers) watcher(running.download);
  }

  /** Records the running downloads. */
  #save(): void {
    this.#lastWrite = this.#lastWrite
      .then(() =>
        writeFileAtomically(this.#file, JSON.stringify({ version: 1, downloads: this.#running().map((each) => each.download) }), rename),
      )
      .catch((error: unknown) => this.#options.log(`${this.#file}: ${describeError(error)}`));
  }
}

const isSameDownload = (
  download: ModelDownload,
  request: Pick<ModelDownload, 'repo' | 'source' | 'backend'> & { filename?: string | undefined },
): boolean =>
  download.repo === request.repo &&
  download.source === request.source &&
  download.backend === request.backend &&
  download.filename === (request.filename ?? null);

function parseJsonSafely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
