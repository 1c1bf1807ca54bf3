import { env, type PreTrainedModel } from '@xenova/transformers';
import type { BrowserDtype, StoredBrowserModel } from '#shared/ports/browser-models-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { ModelStore } from './model-store.ts';

export type InferenceDevice = 'webgpu' | 'wasm';

/** The device to run on: a GPU, if an adapter is available and not only the API. */
export async function detectDevice({ gpu }: { gpu?: { requestAdapter(): Promise<unknown> } }): Promise<InferenceDevice> {
  const adapter = await gpu?.requestAdapter().catch(() => null);
  return adapter ? 'webgpu' : 'wasm';
}

/** Prevents all network access: files come from storage, the runtime from the app's own origin. */
export function configureRuntime(store: ModelStore, model: StoredBrowserModel): void {
  Object.assign(env, { allowRemoteModels: false, allowLocalModels: true, useBrowserCache: false, useWasmCache: false });
  env.fetch = () => Promise.resolve(new Response(null, { status: 404 }));
  const prefix = `${env.localModelPath}${model.repo}/`;
  env.useCustomCache = true;
  env.customCache = {
    match: async (name) => (name.startsWith(prefix) ? store.readFile(model, name.slice(prefix.length)) : undefined),
    put: () => Promise.resolve(),
  };
  const { wasm } = env.backends.onnx;
  if (wasm) {
    wasm.wasmPaths = { mjs: `${__PERCH_ONNX__}.mjs`, wasm: `${__PERCH_ONNX__}.wasm` };
    // Threads need shared memory, which requires cross-origin isolation.
    wasm.numThreads = 1;
  }
}

interface LoadOptions {
  device: InferenceDevice;
  dtype: BrowserDtype | Record<string, BrowserDtype>;
  local_files_only: true;
  use_external_data_format: number | Record<string, number>;
  model_file_name?: string;
  subfolder?: string;
}

/** Options of `from_pretrained` for the stored files of a model. */
export function toLoadOptions(metadata: StoredBrowserModel, device: InferenceDevice): LoadOptions {
  const { dtype, encoderDtype, graph, dataFiles, files } = metadata;
  const weights: Pick<LoadOptions, 'dtype' | 'use_external_data_format' | 'model_file_name'> =
    encoderDtype === undefined
      ? { dtype, use_external_data_format: dataFiles, model_file_name: graph }
      : {
          dtype: { encoder_model: encoderDtype, [graph]: dtype },
          use_external_data_format: {
            encoder_model: files.filter(({ path }) => /(^|\/)encoder_model[^/]*\.onnx_data/.test(path)).length,
            [graph]: dataFiles,
          },
        };
  return { device, local_files_only: true, ...weights, ...(files.some(({ path }) => path.startsWith('onnx/')) ? {} : { subfolder: '' }) };
}

/** The model, yielding after each token so that an abort can arrive. */
export function createYieldingModel<Model extends PreTrainedModel>(model: Model, signal: AbortSignal, interrupt: () => void): Model {
  return new Proxy(model, {
    get(target, name) {
      if (name !== 'forward') return Reflect.get(target, name, target) as unknown;
      return async (modelInputs: Parameters<PreTrainedModel['forward']>[0]) => {
        await yieldToMessages();
        if (signal.aborted) interrupt();
        return target.forward(modelInputs);
      };
    },
  });
}

export const createInvalidParams = (message: string, field: string): RpcError =>
  new RpcError('INVALID_PARAMS', message, { details: { field } });

/** Resolves after pending messages have been handled. Timers would be throttled in a hidden page. */
export function yieldToMessages(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
