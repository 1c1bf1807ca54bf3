import type { ggufAnswer, ggufRequest, ggufText, ggufVectors } from '#shared/ports/gguf.ts';
import type { LocalModel } from '#shared/ports/models.ts';
import type { z } from '#shared/rpc/zod.ts';
import type { ModelRequest } from './provider.ts';

export type LocalRequest = z.input<typeof ggufRequest>;
export type LocalAnswer = z.output<typeof ggufAnswer>;
export type LocalVectors = z.output<typeof ggufVectors>;
export type LocalText = z.output<typeof ggufText>;

/** A model as who runs it tells of it; `problem`: why it cannot be run. */
export type Runnable = Pick<LocalModel, 'id' | 'name' | 'contextWindow' | 'problem'>;

/** Runs models that are on this machine: on the bridge's disk, or in this browser. */
export interface LocalRunner<Model extends Runnable = LocalModel> {
  /** The models that are there, those too that cannot be run. */
  list(signal: AbortSignal): Promise<Model[]>;
  /** Answers a chat, a piece at a time. Rejects with `RpcError`: `NOT_FOUND` without such a model, `INVALID_PARAMS` with `details.field` for what it cannot be asked. */
  generate(model: string, request: LocalRequest, options: { signal: AbortSignal; ontext(piece: LocalText): void }): Promise<LocalAnswer>;
  /** A vector of each text. */
  embed(model: string, texts: string[], signal: AbortSignal): Promise<LocalVectors>;
  /** What its models cannot be asked: refused where a program wants it to the letter, else left out. */
  readonly cannot: readonly (keyof ModelRequest)[];
}
