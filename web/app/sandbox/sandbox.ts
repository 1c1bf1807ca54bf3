import { z } from '#shared/rpc/zod.ts';
import { BASE_PATH } from '../state/demo.ts';
import { FRAME_FILE } from '#shared/preview-frame.ts';

const text = z.string().max(1_000);
const MAX_ANSWERED = 2_000_000;
const messageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), closed: z.boolean() }),
  z.object({ kind: z.literal('begun') }),
  z.object({ kind: z.literal('flood') }),
  z.object({ kind: z.literal('left') }),
  z.object({ kind: z.literal('pong') }),
  z.object({ kind: z.literal('escape') }),
  z.object({ kind: z.literal('undrawn') }),
  z.object({ kind: z.literal('employed') }),
  z.object({ kind: z.literal('answer'), text: z.string().max(MAX_ANSWERED) }),
  z.object({ kind: z.literal('note'), level: z.enum(['log', 'info', 'warn', 'error', 'blocked']), text }),
]);

/** Message from a sandboxed document. Untrusted. */
export type SandboxMessage = z.infer<typeof messageSchema>;

/** Timeout for loading the frame, which is a small file of this app. */
const OPEN_TIMEOUT_MS = 15_000;
/** Maximum rate of messages to the app's window, far above that of its own frames. */
const MAX_MESSAGES_PER_SECOND = 500;

/**
 * A frame for untrusted documents (docs/decisions/0057), without an origin, storage or network, under the policy of public/frame.html.
 */
export class Sandbox {
  readonly #onMessage: (message: SandboxMessage) => void;
  readonly #opening = Promise.withResolvers<void>();
  readonly #destroyed = new AbortController();
  #frame: HTMLIFrameElement | undefined;
  #port: MessagePort | undefined;

  /** Opens it within `host`. `onMessage` is called with the messages of the document. */
  constructor(host: HTMLElement, title: string, onMessage: (message: SandboxMessage) => void) {
    this.#onMessage = onMessage;
    this.#opening.promise.catch(() => {});
    setTimeout(() => this.#opening.reject(new Error('the preview frame couldn’t be loaded')), OPEN_TIMEOUT_MS);
    this.#load(host, title, () => {
      // A static file host sends none of our headers; once the service worker is active, it does.
      void navigator.serviceWorker?.ready.then(() => this.#load(host, title, () => {}));
    });
    this.#endFloods();
  }

  /** Resolves when documents can be shown; rejects if the frame cannot be loaded or lacks its headers. */
  get open(): Promise<void> {
    return this.#opening.promise;
  }

  /** Replaces the document, ending its scripts: messages after `begun` belong to the new one. */
  show(html: string, title: string): void {
    this.#port?.postMessage({ do: 'show', html, title });
  }

  /** Removes the document, even if its script is in an endless loop. */
  clear(): void {
    this.#port?.postMessage({ do: 'clear' });
  }

  /** Requests a `pong`, which a document with a busy script does not send. */
  ping(): void {
    this.#port?.postMessage({ do: 'ping' });
  }

  /** Sends the document a question; it replies with one `answer`. Wait until it has sent `employed`. */
  request(question: unknown): void {
    this.#port?.postMessage({ do: 'ask', question });
  }

  destroy(): void {
    this.#destroyed.abort();
    this.#port?.close();
    this.#frame?.remove();
    this.#opening.reject(new Error('the preview was closed'));
  }

  #load(host: HTMLElement, title: string, onNotIsolated: () => void): void {
    if (this.#destroyed.signal.aborted) return;
    this.#frame?.remove();
    const frame = (this.#frame = document.createElement('iframe'));
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }: MessageEvent<unknown>) => {
      const message = parseMessage(data);
      if (message?.kind !== 'ready') {
        if (message) this.#onMessage(message);
      } else if (message.closed) this.#opening.resolve();
      else onNotIsolated();
    };
    frame.title = title;
    frame.src = `${BASE_PATH}${FRAME_FILE}`;
    frame.addEventListener('load', () => frame.contentWindow?.postMessage('', location.origin, [port2]), { once: true });
    host.append(frame);
  }

  /** Removes a document that floods the app's own window with messages, which the app ignores. */
  #endFloods(): void {
    let messageCount = 0;
    let since = 0;
    const count = ({ source, timeStamp }: MessageEvent): void => {
      if (source === window) return;
      if (timeStamp - since > 1_000) [since, messageCount] = [timeStamp, 0];
      if (++messageCount !== MAX_MESSAGES_PER_SECOND) return;
      this.clear();
      this.#onMessage({ kind: 'flood' });
    };
    addEventListener('message', count, { signal: this.#destroyed.signal });
  }
}

function parseMessage(data: unknown): SandboxMessage | null {
  try {
    return messageSchema.parse(JSON.parse(String(data)));
  } catch {
    return null;
  }
}
