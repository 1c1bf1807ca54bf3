import type { Provider } from './provider.ts';

/** A provider whose server may support other endpoints of the OpenAI format, such as `/rerank`. */
export interface EndpointProvider extends Provider {
  /** Posts a body and returns the response unchanged. Rejects with `ProviderError`; its status is 404 if the server lacks the endpoint. */
  post(path: '/rerank' | '/moderations', body: Record<string, unknown>, signal: AbortSignal): Promise<unknown>;
}

export const hasEndpoints = (provider: Provider): provider is EndpointProvider => 'post' in provider && typeof provider.post === 'function';
