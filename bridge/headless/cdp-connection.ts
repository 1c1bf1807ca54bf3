import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';

/** An event of the protocol. `session`: its target; undefined for the browser itself. */
export interface CdpEvent {
  method: string;
  params: Record<string, unknown>;
  session: string | undefined;
}

const paramsSchema = z.record(z.string(), z.unknown());
const messageSchema = z.object({
  id: z.number().optional(),
  method: z.string().optional(),
  params: paramsSchema.optional(),
  result: paramsSchema.optional(),
  error: z.object({ message: z.string() }).optional(),
  sessionId: z.string().optional(),
});

/** The Chrome DevTools Protocol over a debugging pipe: JSON messages, each terminated by a zero byte. */
export class CdpConnection {
  readonly #to: Writable;
  readonly #calls = new Map<number, { resolve(result: Record<string, unknown>): void; reject(error: Error): void }>();
  readonly #listeners = new Set<(event: CdpEvent) => void>();
  #last = 0;
  #hasEnded = false;
  #pending: Buffer[] = [];

  constructor(to: Writable, from: Readable) {
    this.#to = to;
    to.on('error', () => {});
    from.on('error', () => {});
    from.on('data', (chunk: Buffer) => this.#read(chunk));
    from.on('close', () => this.#end());
  }

  /** The result removes the listener. */
  listen(listener: (event: CdpEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Rejects with the browser's error, or when the browser is gone. */
  call(method: string, params: Record<string, unknown> = {}, sessionId?: string): Promise<Record<string, unknown>> {
    if (this.#hasEnded) return Promise.reject(new Error('the browser has ended'));
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.#to.write(`${JSON.stringify({ id, method, params: params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`);
    });
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let end; (end = chunk.indexOf(0, from)) !== -1; from = end + 1) {
      const text = Buffer.concat([...this.#pending, chunk.subarray(from, end)]).toString();
      this.#pending = [];
      this.#receive(text);
    }
    if (from < chunk.length) this.#pending.push(chunk.subarray(from));
  }

  #receive(text: string): void {
    const { id, method, params: about = {}, result = {}, error, sessionId } = messageSchema.parse(JSON.parse(text));
    if (method !== undefined) {
      for (const listener of [...this.#listeners]) listener({ method, params: about, session: sessionId });
      return;
    }
    const call = this.#calls.get(id ?? 0);
    this.#calls.delete(id ?? 0);
    if (error) call?.reject(new Error(error.message));
    else call?.resolve(result);
  }

  #end(): void {
    this.#hasEnded = true;
    for (const { reject } of this.#calls.values()) reject(new Error('the browser has ended'));
    this.#calls.clear();
  }
}
