import { RpcError } from '#shared/rpc/errors.ts';
import type { Providers } from '../providers/providers.ts';
import type { Chosen } from '../runs/deps.ts';
import { AUTO, SAME_AS_CHAT } from './settings.ts';

/** Finds the model for titles, summaries and memory extraction of a chat; undefined if the chat's own model is used. */
export type FindSmallModel = (chat: Chosen) => Promise<Chosen | undefined>;

/** `setting`: value of `chat.smallModel`. If that model no longer exists, the chat's own is used. */
export const smallModelFinder =
  (providers: Pick<Providers, 'resolve' | 'findSmallModel'>, setting: () => string): FindSmallModel =>
  async (chat) => {
    const wanted = setting();
    const key = wanted === AUTO ? await providers.findSmallModel(chat.key) : wanted === SAME_AS_CHAT ? null : wanted;
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
