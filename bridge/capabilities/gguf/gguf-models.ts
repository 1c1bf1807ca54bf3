import { CallsClosed } from '#shared/link/port-calls.ts';
import type { ggufPort } from '#shared/ports/gguf-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { Mutex } from '#shared/async/mutex.ts';
import { toCommandLine } from '../../command-line.ts';
import type { OptionalPackage } from '../../extras/extra.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import type { PortHandlers } from '../serve-port.ts';
import { type LocalModelFile, type LocalModels, MAX_CONTEXT_TOKENS } from '../models/local-models.ts';
import { type RunnerProcess, startRunner } from './runner-process.ts';

type Handlers = PortHandlers<typeof ggufPort.calls, typeof ggufPort.events>;

/** Time without requests after which a model is unloaded. */
const IDLE_MS = 5 * 60_000;
/** Time of loading or silence after which a runner counts as hung. */
const SILENCE_MS = 10 * 60_000;
/** Time for a runner to stop after a cancellation. */
const CANCEL_MS = 5000;

export interface GgufOptions {
  models: LocalModels;
  extra: Pick<OptionalPackage, 'state' | 'entry' | 'spec'>;
  keeper: Pick<ProcessKeeper, 'keep'>;
  log(line: string): void;
  idleMs?: number;
  silenceMs?: number;
  /** Returns the bytes of memory available to programs. */
  freeBytes?: () => number;
}

/** A loaded model and its process. */
interface RunningModel {
  model: LocalModelFile;
  runner: RunnerProcess;
}

/** Runs GGUF models. One at a time is loaded on its first call, in its own process. Calls are serialized. */
export class GgufModels {
  readonly #options: GgufOptions;
  #loaded: RunningModel | undefined;
  readonly #mutex = new Mutex();
  #idleTimer: NodeJS.Timeout | undefined;

  readonly handlers: Handlers = {
    'gguf.list': async () => ({ models: (await this.#options.models.list()).map(({ path: _path, header: _header, ...model }) => model) }),

    'gguf.generate': ({ model, request }, { signal, send }) =>
      this.#runExclusive(signal, model, async ({ calls }, alive) => {
        calls.on('run.text', (piece) => {
          alive();
          send('gguf.text', piece);
        });
        return calls.call('run.generate', request);
      }),

    'gguf.embed': ({ model, texts }, { signal }) => this.#runExclusive(signal, model, ({ calls }) => calls.call('run.embed', { texts })),
  };

  constructor(options: GgufOptions) {
    this.#options = options;
  }

  /** Id of the process that runs a model. */
  get pid(): number | undefined {
    return this.#loaded?.runner.pid;
  }

  /** Ends the process of this model, or of any; calls in progress fail. */
  async unload(id?: string): Promise<void> {
    const loaded = this.#loaded;
    if (!loaded || (id !== undefined && loaded.model.id !== id)) return;
    this.#loaded = undefined;
    clearTimeout(this.#idleTimer);
    await loaded.runner.end();
  }

  #runExclusive<T>(signal: AbortSignal, id: string, work: (runner: RunnerProcess, alive: () => void) => Promise<T>): Promise<T> {
    return this.#mutex.take(signal, async () => {
      clearTimeout(this.#idleTimer);
      try {
        return await this.#runSupervised(signal, id, work);
      } finally {
        clearTimeout(this.#idleTimer);
        if (this.#loaded) this.#idleTimer = setTimeout(() => void this.unload(), this.#options.idleMs ?? IDLE_MS).unref();
      }
    });
  }

  /** Runs `work` with the model loaded, and ends a runner that hangs or does not stop. */
  async #runSupervised<T>(signal: AbortSignal, id: string, work: (runner: RunnerProcess, alive: () => void) => Promise<T>): Promise<T> {
    const model = await this.#requireModel(id);
    const entry = await this.#getEntry();
    signal.throwIfAborted();
    if (this.#loaded && (this.#loaded.model.id !== id || this.#loaded.model.path !== model.path)) await this.unload();
    const fresh = this.#loaded === undefined;
    const runner = this.#loaded?.runner ?? startRunner(entry, this.#options);
    if (fresh) this.#setLoaded({ model, runner });
    const { silenceMs = SILENCE_MS } = this.#options;
    let silent = false;
    const silence = setTimeout(() => {
      silent = true;
      void this.unload(id);
    }, silenceMs);
    let hanging: NodeJS.Timeout | undefined;
    const cancel = (): void => {
      runner.calls.call('run.cancel', {}).catch(() => {});
      hanging = setTimeout(() => void this.unload(id), CANCEL_MS);
    };
    let loading = fresh;
    try {
      if (fresh) {
        // Loading can't be cancelled, so its process is ended.
        const stop = (): void => void this.unload(id);
        signal.addEventListener('abort', stop);
        try {
          await this.#load(model, runner);
        } finally {
          signal.removeEventListener('abort', stop);
        }
        loading = false;
        silence.refresh();
      }
      signal.throwIfAborted();
      signal.addEventListener('abort', cancel);
      return await work(runner, () => void silence.refresh());
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CallsClosed)) {
        // A process whose model failed to load is not kept.
        if (loading) await this.unload(id);
        throw error;
      }
      const exitReason = await runner.exited;
      const problem = silent
        ? `didn’t respond for ${Math.round(silenceMs / 1000)} s and was stopped`
        : `stopped unexpectedly (${exitReason})`;
      const hint = loading ? ' while loading. The file may be damaged.' : '. It restarts on the next call.';
      throw new RpcError('INTERNAL_ERROR', `The process for ${id} ${problem}${hint}`, { details: { reason: 'runner' } }, { cause: error });
    } finally {
      clearTimeout(silence);
      clearTimeout(hanging);
      signal.removeEventListener('abort', cancel);
    }
  }

  #setLoaded(loaded: RunningModel): void {
    this.#loaded = loaded;
    void loaded.runner.calls.closed.then(() => {
      if (this.#loaded === loaded) this.#loaded = undefined;
    });
  }

  async #load({ path, sizeBytes, header, contextWindow }: LocalModelFile, { calls }: RunnerProcess): Promise<void> {
    const { freeBytes = () => process.availableMemory() } = this.#options;
    await calls.call('run.load', {
      path,
      sizeBytes,
      bytesPerToken: header?.bytesPerToken ?? 0,
      contextSize: contextWindow ?? MAX_CONTEXT_TOKENS,
      freeBytes: freeBytes(),
    });
  }

  async #requireModel(id: string): Promise<LocalModelFile> {
    const model = await this.#options.models.find(id);
    if (!model) throw new RpcError('NOT_FOUND', `No local model "${id}"`, { details: { resource: 'model' } });
    if (model.problem !== null)
      throw new RpcError('INTERNAL_ERROR', `Couldn’t run the model ${id}: ${model.problem}`, { details: { reason: 'damaged' } });
    return model;
  }

  async #getEntry(): Promise<string> {
    const { extra } = this.#options;
    const { state } = await extra.state();
    if (state === 'ready') return extra.entry;
    const { package: name, version } = extra.spec;
    const sentence =
      state === 'unsupported'
        ? `GGUF models can’t run on this computer: ${name} has no build for ${process.platform} on ${process.arch}`
        : `GGUF models require ${name} ${version}, which is not installed. Install it with \`${toCommandLine('models runtime install')}\`.`;
    throw new RpcError('INTERNAL_ERROR', sentence, { details: { reason: 'needs-extra' } });
  }
}
