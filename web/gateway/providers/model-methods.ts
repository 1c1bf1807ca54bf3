import { modelContracts } from '#shared/rpc/methods/model-contracts.ts';
import { requirePerson } from '../system/person.ts';
import type { Clock } from '#shared/async/clock.ts';
import { defineMethods } from '../system/methods.ts';
import type { LocalModelDownloads } from './local-models/local-model-downloads.ts';
import { listProviderKinds } from '../config/sections/provider-kinds.ts';
import type { Providers } from './providers.ts';
import type { Lazy } from '../system/modules.ts';

const PROBE_TIMEOUT_MS = 20_000;

interface ModelMethodsDeps {
  providers: Providers;
  clock: Clock;
  localModels: Lazy<LocalModelDownloads>;
}

export const modelMethods = defineMethods(modelContracts)(({ providers, clock, localModels }: ModelMethodsDeps) => ({
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

  'models.local': async (_params, { signal }) => ({ models: await (await localModels.load()).listInstalled(signal) }),

  'models.download': async (params, caller) => {
    requirePerson(caller, 'download models');
    return (await localModels.load()).start(params, caller.signal);
  },

  'models.downloads': async (_params, { signal }) => ({ downloads: await (await localModels.load()).list(signal) }),

  'models.cancelDownload': async (params, caller) => {
    requirePerson(caller, 'cancel downloads');
    return (await localModels.load()).cancel(params, caller.signal);
  },

  'models.deleteLocal': async ({ modelId }, caller) => {
    requirePerson(caller, 'delete models');
    return { deleted: true, ...(await (await localModels.load()).remove(modelId, caller.signal)) };
  },

  'models.select': async ({ modelId }, caller) => {
    requirePerson(caller, 'select a model');
    return (await localModels.load()).select(modelId, caller.signal);
  },
}));
