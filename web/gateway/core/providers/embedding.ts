import type { Provider } from './provider.ts';

/** A provider that makes vectors of texts. */
export interface EmbeddingProvider extends Provider {
  /**
   * Answers a body of `POST /embeddings` in the OpenAI format with what that gives, as far as the server told; the caller checks it. Rejects
   * with `ProviderError`.
   */
  embed(body: Record<string, unknown>, signal: AbortSignal): Promise<unknown>;
}

export function canEmbed(provider: Provider): provider is EmbeddingProvider {
  return 'embed' in provider && typeof provider.embed === 'function';
}
