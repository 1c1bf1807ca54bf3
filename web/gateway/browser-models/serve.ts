import { answer } from '#shared/link/calls.ts';
import { portLink } from '#shared/link/link.ts';
import { browserModelsPort } from '#shared/ports/browser-models.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { KeptModels } from './kept-models.ts';
import type { LoadedModel } from './loaded-model.ts';

/**
 * Runs in a dedicated worker that a page starts for the gateway's worker: runs one model, which ends with it, for calls over the port in
 * its first message.
 */
export function serveModels(scope: DedicatedWorkerGlobalScope): void {
  scope.addEventListener(
    'message',
    ({ ports: [port] }) => {
      if (port) serve(port, new KeptModels(scope.caches, scope.location.origin));
    },
    { once: true },
  );
}

function serve(port: MessagePort, kept: KeptModels): void {
  let loaded: LoadedModel | undefined;
  let underWay: Promise<unknown> = Promise.resolve();
  const model = (): LoadedModel => {
    if (!loaded) throw new RpcError('INTERNAL_ERROR', 'No model is loaded.');
    return loaded;
  };
  const said = answer<typeof browserModelsPort.calls, typeof browserModelsPort.events>(
    portLink<string>(port),
    browserModelsPort.calls,
    {
      'run.load': async ({ model: about }) => {
        const { LoadedModel } = await import('./loaded-model.ts');
        loaded = await LoadedModel.load(kept, about).catch((error: unknown) => {
          throw cannotRun(about.repo, error);
        });
        return { device: loaded.device };
      },
      'run.generate': (request, signal) => {
        const answered = model().generate(request, signal, (piece) => said.send('run.text', piece));
        underWay = answered.catch(() => {});
        return answered;
      },
      'run.embed': ({ texts }, signal) => {
        const answered = model().embed(texts, signal);
        underWay = answered.catch(() => {});
        return answered;
      },
      'run.idle': async () => {
        await underWay;
        return {};
      },
    },
    { fault: (error) => console.error('[perch models]', error) },
  );
}

/** Converts a library's error about a file to a message for people. */
function cannotRun(repo: string, error: unknown): RpcError {
  const why = (error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 300) ?? '';
  return new RpcError(
    'INTERNAL_ERROR',
    `Couldn’t run ${repo} in this browser: ${why}`,
    { details: { reason: 'damaged' } },
    { cause: error },
  );
}
