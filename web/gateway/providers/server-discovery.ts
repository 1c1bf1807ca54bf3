import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../ports/fetch.ts';
import { parseModelList } from './read-models.ts';
import { withTimeout } from '#shared/async/watchdog.ts';

/** A local model server with its usual port. */
export interface LocalServer {
  id: string;
  name: string;
  port: number;
}

export const LOCAL_SERVERS: readonly LocalServer[] = [
  { id: 'ollama', name: 'Ollama', port: 11434 },
  { id: 'lmstudio', name: 'LM Studio', port: 1234 },
  { id: 'llamacpp', name: 'llama.cpp', port: 8080 },
  { id: 'vllm', name: 'vLLM', port: 8000 },
];

const PROBE_TIMEOUT_MS = 1000;
/** Maximum size of a model list; another program on the port may send data endlessly. */
const MAX_PROBE_BYTES = 4 * 1024 * 1024;

export interface DiscoveredServer {
  id: string;
  name: string;
  baseUrl: string;
}

async function hasModelList(fetch: Fetch, baseUrl: string, signal: AbortSignal): Promise<boolean> {
  const response = await fetch(`${baseUrl}/models`, { headers: { accept: 'application/json' }, signal });
  if (!response.ok || !response.body) {
    await response.body?.cancel();
    return false;
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let size = 0; ;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MAX_PROBE_BYTES) {
      await reader.cancel();
      return false;
    }
    text += decoder.decode(value, { stream: true });
  }
  return parseModelList(JSON.parse(text + decoder.decode())) !== undefined;
}

/** Finds the servers that respond to `GET /v1/models` with a list of models. Probes all at once, with a time-out of one second each. */
export async function discoverServers(
  fetch: Fetch,
  clock: Clock,
  servers: readonly LocalServer[],
  signal: AbortSignal,
): Promise<DiscoveredServer[]> {
  const found = await Promise.all(
    servers.map(async ({ id, name, port }): Promise<DiscoveredServer[]> => {
      const baseUrl = `http://127.0.0.1:${port}/v1`;
      try {
        return (await withTimeout(clock, PROBE_TIMEOUT_MS, signal, (limit) => hasModelList(fetch, baseUrl, limit)))
          ? [{ id, name, baseUrl }]
          : [];
      } catch {
        // Nothing listens on the port, or another program does: the usual case, not an error.
        return [];
      }
    }),
  );
  return found.flat();
}
