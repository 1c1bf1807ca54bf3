import type { ModelEvent, ModelMessage, Provider } from './provider.ts';

/** A successful response of an upstream endpoint, as it arrives. */
export interface RelayedResponse {
  contentType: string | null;
  /** Ends or throws as the upstream does; leaving early cancels the upstream. */
  chunks: AsyncGenerator<Uint8Array>;
  /** Removes the provider's key from a failure found in the response. */
  told(error: unknown): unknown;
}

/** A provider of OpenAI's format: endpoints other than chat take a caller's request unchanged. */
export interface RelayingProvider extends Provider {
  /**
   * Posts JSON or a multipart form to an endpoint such as `/audio/speech`. Resolves when the upstream has accepted it. Rejects with
   * `ProviderError`. `streamed`: the answer begins before all of it exists.
   */
  relay(path: string, body: object | FormData, signal: AbortSignal, options?: { streamed?: boolean | undefined }): Promise<RelayedResponse>;
}

export function canRelay(provider: Provider): provider is RelayingProvider {
  return 'relay' in provider && typeof provider.relay === 'function';
}

/** A provider whose chat models answer with images. */
export interface DrawingProvider extends Provider {
  /** Events of a reply that may contain images (`picture`). Throws `ProviderError`. */
  draw(model: string, content: ModelMessage['content'], signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export function canDraw(provider: Provider): provider is DrawingProvider {
  return 'draw' in provider && typeof provider.draw === 'function';
}
