import { parseJson } from '#shared/parse-json.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { toFrameRecord, type FrameRecord } from '#lib/console/protocol-frames.ts';
import { redactSecrets } from '#lib/console/redact-secrets.ts';
import type { MethodDoc } from '#lib/console/method-doc.ts';
import { type Problem, toProblem } from '#lib/problems.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { m } from '#lib/i18n/page-messages.ts';

/** Frames that are kept; the oldest go first. */
const MAX_FRAMES = 500;

/** An answer of the gateway, without secrets. */
export interface ConsoleResponse {
  method: string;
  ok: boolean;
  text: string;
  /** Milliseconds. */
  tookMs: number;
}

/** The protocol by hand: every method, its answers, and the frames of this page's connection. */
class ProtocolConsole {
  /** By name; null before they are loaded. */
  methods = $state.raw<readonly MethodDoc[] | null>(null);
  problem = $state<Problem | null>(null);
  /** The oldest first. */
  frames = $state.raw<readonly FrameRecord[]>([]);
  isPaused = $state(false);
  /** How params are written, of whichever method. */
  view = $state<'form' | 'json'>('form');
  #count = 0;

  /** Loads the methods, and sees frames until the result is called. */
  watch(): () => void {
    void this.load();
    return gateway.watch((way, text) => {
      if (this.isPaused) return;
      this.frames = [...this.frames.slice(1 - MAX_FRAMES), toFrameRecord(++this.#count, Date.now(), way, text)];
    });
  }

  async load(): Promise<void> {
    if (this.methods) return;
    this.problem = null;
    try {
      this.methods = (await import('#lib/console/method-docs.ts')).getMethodDocs();
    } catch (error) {
      this.problem = toProblem(error, m.console_doing_load());
    }
  }

  clear(): void {
    this.frames = [];
  }

  /** Calls a method with params as JSON. Rejects where they are none, and where the connection is lost; what the gateway refuses is an answer. */
  async send(method: string, paramsText: string): Promise<ConsoleResponse> {
    const params = parseJson(paramsText.trim() || '{}');
    const began = performance.now();
    const toResponse = (ok: boolean, result: unknown): ConsoleResponse => ({
      ...{ method, ok, tookMs: Math.round(performance.now() - began) },
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
