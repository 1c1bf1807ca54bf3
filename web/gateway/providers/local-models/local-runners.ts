import { lazy } from '#shared/async/lazy.ts';
import type { LocalModel } from '#shared/ports/local-model.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { LocalRunner } from '../local-runner.ts';
import type { BrowserModels } from './browser-models.ts';

const loadPort = lazy(async () => (await import('#shared/ports/gguf-port.ts')).ggufPort);

/** Runners of local models. */
export const createLocalRunners = (bridge: Bridge, browserModels: BrowserModels): Record<LocalModel['backend'], LocalRunner> => ({
  gguf: createBridgeRunner(bridge, 'gguf'),
  mlx: createBridgeRunner(bridge, 'mlx'),
  browser: browserModels,
});

/** Runs models on the bridge's disk with one of its backends; lists none without a bridge. */
function createBridgeRunner(bridge: Bridge, backend: LocalModel['backend']): LocalRunner {
  return {
    unsupported: backend === 'mlx' ? ['responseFormat'] : [],
    async list(signal) {
      if (!bridge.provides({ kind: 'gguf' })) return [];
      const { models } = await bridge.call(await loadPort(), 'gguf.list', {}, { signal });
      return models.filter((model) => model.backend === backend);
    },
    generate: async (model, request, { signal, ontext }) =>
      bridge.call(await loadPort(), 'gguf.generate', { model, request }, { signal, on: { 'gguf.text': ontext } }),
    embed: async (model, texts, signal) => bridge.call(await loadPort(), 'gguf.embed', { model, texts }, { signal }),
  };
}
