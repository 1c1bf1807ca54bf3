import { parseJson } from '#shared/parse-json.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { toFrameRecord, type FrameRecord } from './protocol-frames.ts';
import { redactSecrets } from './redact-secrets.ts';
import type { MethodDoc } from './method-doc.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';

/** Maximum number of listed frames; the oldest are dropped first. */
const MAX_FRAMES = 500;

/** An answer of the gateway, without secrets. */
export interface ConsoleResponse {
  method: string;
  ok: boolean;
  text: string;
  /** Milliseconds. */
  tookMs: number;
}

/** Calls methods of the protocol by hand, and lists the frames of this page's connection. */
class ProtocolConsole {
  /** By name; null before they are loaded. */
  methods = $state.raw<readonly MethodDoc[] | null>(null);
  problem = $state<Problem | null>(null);
  /** The oldest first. */
  frames = $state.raw<readonly FrameRecord[]>([]);
  isPaused = $state(false);
  /** How params are entered, for all methods. */
  view = $state<'form' | 'json'>('form');
  #frameCount = 0;

  /** Loads the methods and records frames. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    return gateway.watch((direction, text) => {
      if (this.isPaused) return;
      this.frames = [...this.frames.slice(1 - MAX_FRAMES), toFrameRecord(++this.#frameCount, Date.now(), direction, text)];
    });
  }

  async load(): Promise<void> {
    if (this.methods) return;
    this.problem = null;
    try {
      this.methods = (await import('./method-docs.ts')).getMethodDocs();
    } catch (error) {
      this.problem = toProblem(error, m.console_doing_load());
    }
  }

  clear(): void {
    this.frames = [];
  }

  /** Calls a method with params as JSON. An error of the gateway is a response; rejects if the JSON is invalid or the connection is lost. */
  async send(method: string, paramsText: string): Promise<ConsoleResponse> {
    const params = parseJson(paramsText.trim() || '{}');
    const startedAt = performance.now();
    const toResponse = (ok: boolean, result: unknown): ConsoleResponse => ({
      ...{ method, ok, tookMs: Math.round(performance.now() - startedAt) },
      text: JSON.stringify(redactSecrets(result), null, 2),
    });
    try {
      return toResponse(true, await gateway.request(method, params));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return toResponse(false, { code: error.code, message: error.message, ...error.extra });
    }
  }
}

export const protocolConsole = new ProtocolConsole();
