import { defineMethod } from '../contract.ts';
import { modelDownload, modelDownloadParams } from '../../ports/model-downloads-port.ts';
import { localModel, localModelId } from '../../ports/local-model.ts';
import { providerKindEntry } from '../record-schemas.ts';
import { z } from '../zod.ts';

/** Models and their providers. */
export const modelContracts = {
  'models.catalog': defineMethod({
    params: z.strictObject({}),
    result: z.object({ kinds: z.array(providerKindEntry) }),
    docs: 'Lists the kinds of providers that can be set as `providers.<id>.kind`.',
    policy: { scope: 'read' },
  }),
  'models.probe': defineMethod({
    params: z.strictObject({ model: z.string().min(1).max(300), provider: z.string().max(128).optional() }),
    result: z.object({ available: z.boolean(), latency: z.number().nullable(), error: z.string().optional() }),
    docs: 'Tests whether a model responds. `latency` is in milliseconds. Paused servers are tested too, and stay paused unless they respond.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read', metered: true },
  }),
  'models.local': defineMethod({
    params: z.strictObject({}),
    result: z.object({ models: z.array(localModel) }),
    docs: 'Lists the models stored on this machine: on the bridge’s disk (`gguf`, `mlx`) and in the browser that hosts the gateway (`browser`). Their keys are `<backend>/<id>`.',
    policy: { scope: 'read' },
  }),
  'models.download': defineMethod({
    params: z.strictObject(modelDownloadParams),
    result: z.object({ id: z.string() }),
    emits: ['models.progress'],
    docs: 'Starts to download a model from a hub. The download continues without the caller and, on the bridge’s disk, after a restart; an interrupted download resumes where it stopped. For `browser` models the hub is Hugging Face or the mirror set as `models.hub`. Not available to API keys and channels.',
    policy: { scope: 'admin' },
  }),
  'models.downloads': defineMethod({
    params: z.strictObject({}),
    result: z.object({ downloads: z.array(modelDownload) }),
    docs: 'Lists the downloads in progress and those that ended since the start, newest first. Sizes are in bytes. `interrupted` downloads were started in this browser and not finished.',
    policy: { scope: 'read' },
  }),
  'models.cancelDownload': defineMethod({
    params: z.strictObject({ id: z.string().min(1).max(300), forget: z.boolean().default(false) }),
    result: z.object({ cancelled: z.boolean() }),
    emits: ['models.progress'],
    docs: 'Cancels a download. The part already downloaded is kept for a later attempt. With `forget: true` it is deleted and the download is removed from the list, even if it had already ended. `cancelled` is false if it had already ended. Not available to API keys and channels.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'models.deleteLocal': defineMethod({
    params: z.strictObject({ modelId: localModelId }),
    result: z.object({ deleted: z.literal(true), sizeBytes: z.number(), defaultCleared: z.boolean() }),
    emits: ['config.changed'],
    docs: 'Deletes the files of a model stored on this machine. If it is the default model, the setting `chat.model` is cleared and `defaultCleared` is true. Not available to API keys and channels.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'models.select': defineMethod({
    params: z.strictObject({ modelId: localModelId }),
    result: z.object({ selected: z.string() }),
    emits: ['config.changed'],
    docs: 'Makes a model stored on this machine the default model. `selected` is its key, the value of the setting `chat.model`. Not available to API keys and channels.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
};
