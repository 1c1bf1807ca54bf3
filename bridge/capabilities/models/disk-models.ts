import type { ggufPort } from '#shared/ports/gguf-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { OptionalPackage } from '../../extras/extra.ts';
import { createGgufExtra } from '../../extras/gguf-extra.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import type { PortHandlers } from '../serve-port.ts';
import { GgufModels } from '../gguf/gguf-models.ts';
import { MlxModels, type MlxOptions } from '../mlx/mlx-models.ts';
import { ModelDownloads } from './model-downloads.ts';
import { LocalModels } from './local-models.ts';
import { isMlxFile } from './mlx-files.ts';

interface DiskModelsOptions extends Omit<MlxOptions, 'models'> {
  /** The bridge's home directory. */
  home: string;
  keeper: ProcessKeeper;
  /** Milliseconds before an interrupted download is retried. */
  waitMs?: number;
}

/** Everything about models on the bridge's disk: listing, running and downloading them. */
interface DiskModels {
  running: PortHandlers<typeof ggufPort.calls, typeof ggufPort.events>;
  downloads: ModelDownloads;
  close(): Promise<void>;
}

export function createDiskModels({ home, keeper, log, waitMs, ...rest }: DiskModelsOptions): DiskModels {
  const models = new LocalModels(home);
  const extra = new OptionalPackage(createGgufExtra(), { home, keeper });
  const gguf = new GgufModels({ models, extra, keeper, log });
  const mlx = new MlxModels({ ...rest, models, keeper, log });
  const unload = async (id?: string): Promise<void> => void (await Promise.all([gguf.unload(id), mlx.unload(id)]));
  const downloads = new ModelDownloads({
    ...{ home, models, extra, unload, log },
    mlx: () => mlx.getProblem(),
    ...(rest.env ? { env: rest.env } : {}),
    ...(waitMs === undefined ? {} : { waitMs }),
  });
  return {
    downloads,
    running: {
      'gguf.list': async () => {
        const { models: found } = await gguf.handlers['gguf.list']({}, { signal: new AbortController().signal, send: () => {} });
        const cannot = found.some(({ backend }) => backend === 'mlx') ? await mlx.getProblem() : null;
        return { models: found.map((each) => (each.backend === 'mlx' ? { ...each, problem: each.problem ?? cannot } : each)) };
      },
      'gguf.generate': (params, call) =>
        isMlxFile(params.model)
          ? mlx.generate(params.model, params.request, call.signal, (piece) => call.send('gguf.text', piece))
          : gguf.handlers['gguf.generate'](params, call),
      'gguf.embed': (params, call) => {
        if (isMlxFile(params.model))
          throw new RpcError('INVALID_PARAMS', 'MLX models don’t support embeddings', { details: { field: 'model' } });
        return gguf.handlers['gguf.embed'](params, call);
      },
    },
    async close() {
      await Promise.all([downloads.close(), unload()]);
    },
  };
}
