import type { ggufReply, ggufRequest, ggufTextEvent, ggufVectors } from '#shared/ports/gguf-port.ts';
import type { LocalModel } from '#shared/ports/local-model.ts';
import type { Transcript, TranscriptRequest } from '#shared/ports/transcript.ts';
import type { z } from '#shared/rpc/zod.ts';
import type { ModelRequest } from './provider.ts';

export type LocalRequest = z.input<typeof ggufRequest>;
export type LocalResult = z.output<typeof ggufReply>;
type LocalVectors = z.output<typeof ggufVectors>;
export type LocalText = z.output<typeof ggufTextEvent>;

/** A model as its runner lists it. `problem`: why it cannot run. */
export type RunnableModel = Pick<LocalModel, 'id' | 'name' | 'contextWindow' | 'problem' | 'task'>;

/** Runs local models: on the bridge's disk, or in this browser. */
export interface LocalRunner<Model extends RunnableModel = LocalModel> {
  /** All models, including those that cannot run. */
  list(signal: AbortSignal): Promise<Model[]>;
  /**
   * Answers a chat, piece by piece. Rejects with `RpcError`: `NOT_FOUND` if the model does not exist, `INVALID_PARAMS` with `details.field`
   * for an unsupported option.
   */
  generate(model: string, request: LocalRequest, options: { signal: AbortSignal; ontext(piece: LocalText): void }): Promise<LocalResult>;
  /** One vector per text. */
  embed(model: string, texts: string[], signal: AbortSignal): Promise<LocalVectors>;
  /** Transcribes a recording; only for runners of speech recognition models. */
  transcribe?(model: string, request: TranscriptRequest, signal: AbortSignal): Promise<Transcript>;
  /** Options that its models do not support: rejected if an API client requires exactness, otherwise omitted. */
  readonly unsupported: readonly (keyof ModelRequest)[];
}
