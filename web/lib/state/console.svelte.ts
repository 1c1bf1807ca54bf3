import { parseJson } from '#shared/parse-json.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { seenFrame, type SeenFrame } from '#lib/console/frames.ts';
import { withoutSecrets } from '#lib/console/hidden.ts';
import type { MethodDoc } from '#lib/console/method-doc.ts';
import { type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';

/** Frames that are kept; the oldest go first. */
const KEPT = 500;

/** An answer of the gateway, without secrets. */
export interface ConsoleAnswer {
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
  frames = $state.raw<readonly SeenFrame[]>([]);
  paused = $state(false);
  /** How params are written, of whichever method. */
  view = $state<'form' | 'json'>('form');
  #count = 0;

  /** Loads the methods, and sees frames until the result is called. */
  show(): () => void {
    void this.load();
    return gateway.watch((way, text) => {
      if (this.paused) return;
      this.frames = [...this.frames.slice(1 - KEPT), seenFrame(++this.#count, Date.now(), way, text)];
    });
  }

  async load(): Promise<void> {
    if (this.methods) return;
    this.problem = null;
    try {
      this.methods = (await import('#lib/console/methods.ts')).methodDocs();
    } catch (error) {
      this.problem = problemOf(error, m.console_doing_load());
    }
  }

  clear(): void {
    this.frames = [];
  }

  /** Calls a method with params as JSON. Rejects where they are none, and where the connection is lost; what the gateway refuses is an answer. */
  async send(method: string, written: string): Promise<ConsoleAnswer> {
    const params = parseJson(written.trim() || '{}');
    const began = performance.now();
    const answered = (ok: boolean, answer: unknown): ConsoleAnswer => ({
      ...{ method, ok, tookMs: Math.round(performance.now() - began) },
      text: JSON.stringify(withoutSecrets(answer), null, 2),
    });
    try {
      return answered(true, await gateway.request(method, params));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return answered(false, { code: error.code, message: error.message, ...error.extra });
    }
  }
}

export const protocolConsole = new ProtocolConsole();
