import type { Clock } from '../clock.ts';
import type { Fetch } from '../fetch.ts';
import { readModels } from './listed-models.ts';
import { withTimeout } from './watchdog.ts';

/** A model server that runs on this machine by custom on a port of its own. */
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

const PROBE_MS = 1000;
/** Lists of models are far smaller; something else on the port may send without end. */
const PROBE_BYTES = 4 * 1024 * 1024;

export interface FoundServer {
  id: string;
  name: string;
  baseUrl: string;
}

async function looksLikeModels(fetch: Fetch, baseUrl: string, signal: AbortSignal): Promise<boolean> {
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
    if (size > PROBE_BYTES) {
      await reader.cancel();
      return false;
    }
    text += decoder.decode(value, { stream: true });
  }
  return readModels(JSON.parse(text + decoder.decode())) !== undefined;
}

/** Which of the servers answer `GET /v1/models` with a list of models, asked all at once, a second each. */
export async function discover(fetch: Fetch, clock: Clock, servers: readonly LocalServer[], signal: AbortSignal): Promise<FoundServer[]> {
  const found = await Promise.all(
    servers.map(async ({ id, name, port }): Promise<FoundServer[]> => {
      const baseUrl = `http://127.0.0.1:${port}/v1`;
      try {
        return (await withTimeout(clock, PROBE_MS, signal, (limit) => looksLikeModels(fetch, baseUrl, limit)))
          ? [{ id, name, baseUrl }]
          : [];
      } catch {
        // Nothing listens there, or something that is no model server: the usual case, and no fault.
        return [];
      }
    }),
  );
  return found.flat();
}
