import { serveCalls } from '#shared/link/port-calls.ts';
import { portLink } from '#shared/link/link.ts';
import { browserModelsPort } from '#shared/ports/browser-models-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { ModelStore } from './model-store.ts';
import type { LoadedModel } from './loaded-model.ts';
import type { SpeechModel } from './speech-model.ts';

/** Runs one model in a page's dedicated worker, which ends with it, for calls over `port`. */
export function serveModels(port: MessagePort, scope: Pick<WorkerGlobalScope, 'caches' | 'location'>): void {
  const store = new ModelStore(scope.caches, scope.location.origin);
  let loaded: LoadedModel | undefined;
  let speech: SpeechModel | undefined;
  let current: Promise<unknown> = Promise.resolve();
  const model = (): LoadedModel => {
    if (speech) throw new RpcError('INVALID_PARAMS', 'This model only recognizes speech.', { details: { field: 'model' } });
    if (!loaded) throw new RpcError('INTERNAL_ERROR', 'No model is loaded.');
    return loaded;
  };
  const connection = serveCalls<typeof browserModelsPort.calls, typeof browserModelsPort.events>(
    portLink<string>(port),
    browserModelsPort.calls,
    {
      'run.load': async ({ model: metadata }) => {
        const toError = (error: unknown): never => {
          throw toRunError(metadata.repo, error);
        };
        if (metadata.task === 'automatic-speech-recognition') {
          const { SpeechModel } = await import('./speech-model.ts');
          speech = await SpeechModel.load(store, metadata).catch(toError);
          return { device: speech.device };
        }
        const { LoadedModel } = await import('./loaded-model.ts');
        loaded = await LoadedModel.load(store, metadata).catch(toError);
        return { device: loaded.device };
      },
      'run.generate': (request, signal) => {
        const reply = model().generate(request, signal, (piece) => connection.send('run.text', piece));
        current = reply.catch(() => {});
        return reply;
      },
      'run.embed': ({ texts }, signal) => {
        const reply = model().embed(texts, signal);
        current = reply.catch(() => {});
        return reply;
      },
      'run.transcribe': (request, signal) => {
        if (!speech) throw new RpcError('INVALID_PARAMS', 'This model doesn’t recognize speech.', { details: { field: 'model' } });
        const reply = speech.transcribe(request, signal);
        current = reply.catch(() => {});
        return reply;
      },
      'run.idle': async () => {
        await current;
        return {};
      },
    },
    { fault: (error) => console.error('[perch models]', error) },
  );
}

/** Converts a library's error about a file to a message for people. */
function toRunError(repo: string, error: unknown): RpcError {
  const reason = (error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 300) ?? '';
  return new RpcError(
    'INTERNAL_ERROR',
    `Couldn’t run ${repo} in this browser: ${reason}`,
    { details: { reason: 'damaged' } },
    { cause: error },
  );
}
