import { call } from '../contract.ts';
import { modelDownload, wantedModel } from '../../ports/model-downloads.ts';
import { localModel, localModelId } from '../../ports/models.ts';
import { kindEntry } from '../records.ts';
import { z } from '../zod.ts';

/** Models and the providers they come from (interface document 1, section 4.1). */
export const models = {
  'models.catalog': call({
    params: z.strictObject({}),
    result: z.object({ kinds: z.array(kindEntry) }),
    docs: 'Lists the kinds of providers that can be configured under `providers.<id>.kind`.',
    policy: { scope: 'read' },
  }),
  'models.probe': call({
    params: z.strictObject({ model: z.string().min(1).max(300), provider: z.string().max(128).optional() }),
    result: z.object({ available: z.boolean(), latency: z.number().nullable(), error: z.string().optional() }),
    docs: 'Whether a model answers; `latency` in milliseconds. A server that is left alone is asked all the same, and goes on being left alone unless it answers.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read', metered: true },
  }),
  'models.local': call({
    params: z.strictObject({}),
    result: z.object({ models: z.array(localModel) }),
    docs: 'Lists the models that are kept on this machine: on the bridge’s disk (`gguf`, `mlx`) and in the browser that hosts the gateway (`browser`). Their keys are `<backend>/<id>`.',
    policy: { scope: 'read' },
  }),
  'models.download': call({
    params: z.strictObject(wantedModel),
    result: z.object({ id: z.string() }),
    emits: ['models.progress'],
    docs: 'Begins to download a model from a hub, which goes on without the caller and, to the bridge’s disk, again after a restart. What was cut short goes on where it stopped. For `browser` the hub is Hugging Face, or the mirror of the setting `models.hub`. Only a person can.',
    policy: { scope: 'admin' },
  }),
  'models.downloads': call({
    params: z.strictObject({}),
    result: z.object({ downloads: z.array(modelDownload) }),
    docs: 'Lists the downloads under way and those that have ended since the start, the newest first; bytes. `interrupted` ones were begun in this browser and left.',
    policy: { scope: 'read' },
  }),
  'models.cancelDownload': call({
    params: z.strictObject({ id: z.string().min(1).max(300), forget: z.boolean().default(false) }),
    result: z.object({ cancelled: z.boolean() }),
    emits: ['models.progress'],
    docs: 'Ends a download; what is here of it stays, for the next time. With `forget` it does not, and the download is listed no longer, also one that had ended. `cancelled` is false where it had ended before. Only a person can.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'models.deleteLocal': call({
    params: z.strictObject({ modelId: localModelId }),
    result: z.object({ deleted: z.literal(true), sizeBytes: z.number() }),
    docs: 'Deletes the files of a model that is kept on this machine. Only a person can.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'models.select': call({
    params: z.strictObject({ modelId: localModelId }),
    result: z.object({ selected: z.string() }),
    emits: ['config.changed'],
    docs: 'Makes a model that is kept on this machine the default one: `selected` is its key, the setting `chat.model`. Only a person can.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
};
