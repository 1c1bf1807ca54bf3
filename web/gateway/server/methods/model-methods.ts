import type { modelContracts } from '#shared/rpc/methods/model-contracts.ts';
import { requirePerson } from '../../system/person.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Handlers } from '../dispatch.ts';
import type { LocalModelDownloads } from '../../providers/local-models/local-model-downloads.ts';
import { listProviderKinds } from '../../config/sections/provider-kinds.ts';
import type { Providers } from '../../providers/providers.ts';

const PROBE_TIMEOUT_MS = 20_000;

export interface ModelMethodsDeps {
  providers: Providers;
  clock: Clock;
  localModels(): Promise<LocalModelDownloads>;
}

export const modelMethods = ({ providers, clock, localModels }: ModelMethodsDeps): Handlers<typeof modelContracts> => ({
  'models.catalog': () => ({ kinds: listProviderKinds() }),

  'models.probe': async ({ model, provider }, { signal }) => {
    const route = await providers.resolve(model, provider, signal);
    providers.endPause(route.provider.id);
    const started = clock.monotonic();
    try {
      const request = { model: route.model, messages: [{ role: 'user' as const, content: 'Say OK.' }], maxTokens: 8 };
      // Any event proves that the model works.
      for await (const _event of route.provider.stream(request, AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]))) break;
      return { available: true, latency: Math.round(clock.monotonic() - started) };
    } catch (error) {
      signal.throwIfAborted();
      return { available: false, latency: null, error: error instanceof Error ? error.message : String(error) };
    }
  },

  'models.local': async (_params, { signal }) => ({ models: await (await localModels()).listInstalled(signal) }),

  'models.download': async (params, caller) => {
    requirePerson(caller, 'download models');
    return (await localModels()).start(params, caller.signal);
  },

  'models.downloads': async (_params, { signal }) => ({ downloads: await (await localModels()).list(signal) }),

  'models.cancelDownload': async (params, caller) => {
    requirePerson(caller, 'cancel downloads');
    return (await localModels()).cancel(params, caller.signal);
  },

  'models.deleteLocal': async ({ modelId }, caller) => {
    requirePerson(caller, 'delete models');
    return { deleted: true, ...(await (await localModels()).remove(modelId, caller.signal)) };
  },

  'models.select': async ({ modelId }, caller) => {
    requirePerson(caller, 'select a model');
    return (await localModels()).select(modelId, caller.signal);
  },
});
