import type { ggufPort } from '#shared/ports/gguf.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { Extra } from '../../extras/extra.ts';
import { ggufExtra } from '../../extras/gguf.ts';
import type { Keeper } from '../../processes/keep.ts';
import type { PortHandlers } from '../../server/serve-port.ts';
import { GgufModels } from '../gguf/gguf.ts';
import { MlxModels, type MlxOptions } from '../mlx/mlx.ts';
import { Downloads } from './downloads.ts';
import { LocalModels } from './local-models.ts';
import { isMlx } from './mlx-files.ts';

export interface ModelsOfDiskOptions extends Omit<MlxOptions, 'models'> {
  /** The bridge's home directory. */
  home: string;
  keeper: Keeper;
  /** Milliseconds before an interrupted download is retried. */
  waitMs?: number;
}

/** Everything about models on the bridge's disk: listing, running and downloading them. */
export interface ModelsOfDisk {
  running: PortHandlers<typeof ggufPort.calls, typeof ggufPort.events>;
  downloads: Downloads;
  close(): Promise<void>;
}

export function modelsOfDisk({ home, keeper, log, waitMs, ...rest }: ModelsOfDiskOptions): ModelsOfDisk {
  const models = new LocalModels(home);
  const extra = new Extra(ggufExtra(), { home, keeper });
  const gguf = new GgufModels({ models, extra, keeper, log });
  const mlx = new MlxModels({ ...rest, models, keeper, log });
  const unload = async (id?: string): Promise<void> => void (await Promise.all([gguf.unload(id), mlx.unload(id)]));
  const downloads = new Downloads({
    ...{ home, models, extra, unload, log },
    mlx: () => mlx.problem(),
    ...(rest.env ? { env: rest.env } : {}),
    ...(waitMs === undefined ? {} : { waitMs }),
  });
  return {
    downloads,
    running: {
      'gguf.list': async () => {
        const { models: found } = await gguf.handlers['gguf.list']({}, { signal: new AbortController().signal, send: () => {} });
        const cannot = found.some(({ backend }) => backend === 'mlx') ? await mlx.problem() : null;
        return { models: found.map((each) => (each.backend === 'mlx' ? { ...each, problem: each.problem ?? cannot } : each)) };
      },
      'gguf.generate': (params, call) =>
        isMlx(params.model)
          ? mlx.generate(params.model, params.request, call.signal, (piece) => call.send('gguf.text', piece))
          : gguf.handlers['gguf.generate'](params, call),
      'gguf.embed': (params, call) => {
        if (isMlx(params.model))
          throw new RpcError('INVALID_PARAMS', 'MLX models don’t support embeddings', { details: { field: 'model' } });
        return gguf.handlers['gguf.embed'](params, call);
      },
    },
    async close() {
      await Promise.all([downloads.close(), unload()]);
    },
  };
}
