import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Providers } from '../../providers/providers.ts';
import type { SelectedModel } from '../runs/run-types.ts';
import { AUTO_MODEL, SAME_AS_CHAT } from '../../config/sections/small-model-setting.ts';

/** Finds the model for titles, summaries and memory extraction of a chat; undefined if the chat's own model is used. */
export type FindSmallModel = (chat: SelectedModel) => Promise<SelectedModel | undefined>;

/** `setting`: value of `chat.smallModel`. If that model no longer exists, the chat's own is used. */
export const createSmallModelFinder =
  (providers: Pick<Providers, 'resolve' | 'findSmallModel'>, setting: () => string): FindSmallModel =>
  async (chat) => {
    const configured = setting();
    const key = configured === AUTO_MODEL ? await providers.findSmallModel(chat.key) : configured === SAME_AS_CHAT ? null : configured;
    if (key === null || key === chat.key) return undefined;
    try {
      return await providers.resolve(key);
    } catch (error) {
      if (error instanceof RpcError) return undefined;
      throw error;
    }
  };

/** Resolves with the first result. Rejects with the failure of the last model, or the reason of `signal`. */
export async function tryInOrder<M, T>(
  models: readonly [M, ...M[]],
  signal: AbortSignal,
  work: (model: M) => Promise<T>,
  onfailure: (error: unknown, model: M) => void = () => {},
): Promise<T> {
  const [model, ...rest] = models;
  try {
    return await work(model);
  } catch (error) {
    signal.throwIfAborted();
    const [next, ...others] = rest;
    if (next === undefined) throw error;
    onfailure(error, model);
    return tryInOrder([next, ...others], signal, work, onfailure);
  }
}
