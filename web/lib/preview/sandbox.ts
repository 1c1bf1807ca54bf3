import { z } from '#shared/rpc/zod.ts';
import { BASE } from '#lib/demo.ts';
import { FRAME_FILE } from '#shared/preview-frame.ts';

const text = z.string().max(1_000);
const MOST_ANSWERED = 2_000_000;
const message = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), closed: z.boolean() }),
  z.object({ kind: z.literal('begun') }),
  z.object({ kind: z.literal('flood') }),
  z.object({ kind: z.literal('left') }),
  z.object({ kind: z.literal('pong') }),
  z.object({ kind: z.literal('escape') }),
  z.object({ kind: z.literal('undrawn') }),
  z.object({ kind: z.literal('employed') }),
  z.object({ kind: z.literal('answer'), text: z.string().max(MOST_ANSWERED) }),
  z.object({ kind: z.literal('note'), level: z.enum(['log', 'info', 'warn', 'error', 'blocked']), text }),
]);

/** Message from a sandboxed document. Untrusted. */
export type SandboxMessage = z.infer<typeof message>;

/** Timeout for loading the frame, which is a small file of this app. */
const OPENS_WITHIN_MS = 15_000;
/** The app's own frames send it far fewer. */
const MOST_PER_SECOND = 500;

/**
 * A place on the page for documents that are not to be trusted (docs/decisions/0057): without an origin, storage or network, in a frame of
 * public/frame.html's policy.
 */
export class Sandbox {
  readonly #hear: (said: SandboxMessage) => void;
  readonly #opening = Promise.withResolvers<void>();
  readonly #destroyed = new AbortController();
  #frame: HTMLIFrameElement | undefined;
  #port: MessagePort | undefined;

  /** Opens it within `host`. `hear` is called with the messages of the document. */
  constructor(host: HTMLElement, title: string, hear: (said: SandboxMessage) => void) {
    this.#hear = hear;
    this.#opening.promise.catch(() => {});
    setTimeout(() => this.#opening.reject(new Error('the preview frame couldn’t be loaded')), OPENS_WITHIN_MS);
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
  ask(question: unknown): void {
    this.#port?.postMessage({ do: 'ask', question });
  }

  destroy(): void {
    this.#destroyed.abort();
    this.#port?.close();
    this.#frame?.remove();
    this.#opening.reject(new Error('the preview was closed'));
  }

  #load(host: HTMLElement, title: string, unclosed: () => void): void {
    if (this.#destroyed.signal.aborted) return;
    this.#frame?.remove();
    const frame = (this.#frame = document.createElement('iframe'));
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }: MessageEvent<unknown>) => {
      const said = parse(data);
      if (said?.kind !== 'ready') {
        if (said) this.#hear(said);
      } else if (said.closed) this.#opening.resolve();
      else unclosed();
    };
    frame.title = title;
    frame.src = `${BASE}${FRAME_FILE}`;
    frame.addEventListener('load', () => frame.contentWindow?.postMessage('', location.origin, [port2]), { once: true });
    host.append(frame);
  }

  /** A document can also post messages to the app's own window, which ignores them. */
  #endFloods(): void {
    let heard = 0;
    let since = 0;
    const count = ({ source, timeStamp }: MessageEvent): void => {
      if (source === window) return;
      if (timeStamp - since > 1_000) [since, heard] = [timeStamp, 0];
      if (++heard !== MOST_PER_SECOND) return;
      this.clear();
      this.#hear({ kind: 'flood' });
    };
    addEventListener('message', count, { signal: this.#destroyed.signal });
  }
}

function parse(data: unknown): SandboxMessage | null {
  try {
    return message.parse(JSON.parse(String(data)));
  } catch {
    return null;
  }
}
