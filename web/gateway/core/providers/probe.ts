import { RpcError } from '#shared/rpc/errors.ts';
import type { Clock } from '../clock.ts';
import { ProviderError } from './provider.ts';
import type { Providers } from './providers.ts';
import { withTimeout } from './watchdog.ts';

const PROBE_MS = 15_000;

export interface ProbeResult {
  available: boolean;
  /** Milliseconds to the first event; null where none came. */
  latency: number | null;
  error?: string;
}

/** Whether a model answers: asks it for one token and waits for the first event, 15 s at most (`models.probe`). Throws `NOT_FOUND`. */
export async function probe(providers: Providers, clock: Clock, model: string, provider?: string, signal?: AbortSignal): Promise<ProbeResult> {
  const parent = signal ?? new AbortController().signal;
  const route = await providers.resolve(model, provider, parent);
  const start = clock.monotonic();
  try {
    await withTimeout(clock, PROBE_MS, parent, async (limit) => {
      const messages = [{ role: 'user' as const, content: 'Hi' }];
      for await (const _ of route.provider.stream({ model: route.model, messages, maxTokens: 1 }, limit)) return;
    });
    return { available: true, latency: Math.round(clock.monotonic() - start) };
  } catch (error) {
    parent.throwIfAborted();
    const told = error instanceof ProviderError || error instanceof RpcError || error instanceof DOMException;
    return { available: false, latency: null, error: told ? error.message : 'The provider failed.' };
  }
}
