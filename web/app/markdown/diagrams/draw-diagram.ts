import { z } from '#shared/rpc/zod.ts';
import { BASE_PATH } from '../../state/demo.ts';
import { withGuard } from '../../sandbox/artifact-document.ts';
import { Sandbox, type SandboxMessage } from '../../sandbox/sandbox.ts';
import { MAX_DIAGRAM_CHARS } from './diagram.ts';
import draw from './draw.js?raw';
import type { DiagramTheme } from './diagram-theme.ts';

const MAX_PX = 100_000;
const sideSchema = z.number().positive().max(MAX_PX);
const replySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('loaded') }),
  z.object({ kind: z.literal('unavailable') }),
  z.object({ kind: z.literal('drawn'), type: z.string().max(100), svg: z.string(), width: sideSchema, height: sideSchema }),
  z.object({ kind: z.literal('mistake'), line: z.int().nullable(), text: z.string().max(2_000) }),
]);
type SandboxReply = z.infer<typeof replySchema>;

/**
 * Result for a source. `drawn`: an untrusted SVG document, to be shown as a picture only, with its size in CSS pixels. `mistake`: the
 * parser's message. `large`: not tried. `endless`: stopped after a time-out. `unavailable`: the library could not be loaded.
 */
export type DiagramResult = Exclude<SandboxReply, { kind: 'loaded' }> | { kind: 'large' } | { kind: 'endless' };

/** Width of a diagram that takes all available width: about that of a reply. */
const FULL_WIDTH_PX = 800;
const LOAD_TIMEOUT_MS = 30_000;
const DRAW_TIMEOUT_MS = 5_000;
/**
 * Browsers keep the process of a removed document and reuse it for the next, so an endless script must have ended before. Chromium keeps it
 * for 2 s.
 */
const PROCESS_EXIT_MS = 4_000;
/** Time without drawings after which the sandbox is closed: Mermaid uses about 50 MB of memory. */
const IDLE_MS = 60_000;
/** Maximum number of cached diagrams, which a reopened chat shows immediately. */
const MAX_CACHED = 40;

class TimeoutFault extends Error {}

async function withTimeout<Value>(promise: Promise<Value>, timeoutMs: number): Promise<Value> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new TimeoutFault()), timeoutMs);
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A document without an origin or network that runs Mermaid (docs/decisions/0058). */
class MermaidSandbox {
  readonly #host: HTMLElement;
  readonly #sandbox: Sandbox;
  readonly #ready = Promise.withResolvers<void>();
  #pending: PromiseWithResolvers<string> | undefined;

  constructor() {
    this.#host = document.body.appendChild(document.createElement('div'));
    this.#host.inert = true;
    // Invisible, but laid out, so that text can be measured.
    this.#host.style.cssText = 'position:fixed;top:0;left:0;width:1px;height:1px;overflow:hidden;visibility:hidden';
    this.#sandbox = new Sandbox(this.#host, 'Diagrams', (message) => this.#onMessage(message));
  }

  async load(): Promise<void> {
    const response = fetch(BASE_PATH + __PERCH_MERMAID__);
    await this.#sandbox.open;
    this.#host.querySelector('iframe')?.style.setProperty('width', `${FULL_WIDTH_PX}px`);
    this.#sandbox.show(withGuard(`<body><script>${draw}</script>`), 'Diagrams');
    const library = await response;
    if (!library.ok) throw new Error(`the diagram renderer couldn’t be loaded: HTTP ${library.status}`);
    const blob = await library.blob();
    await withTimeout(this.#ready.promise, LOAD_TIMEOUT_MS);
    const { kind } = await this.request({ library: blob }, LOAD_TIMEOUT_MS);
    if (kind !== 'loaded') throw new Error('the diagram renderer couldn’t be loaded');
  }

  /** Rejects with `TimeoutFault`, or if the answer is invalid. */
  async request(question: unknown, timeoutMs: number): Promise<SandboxReply> {
    const pending = (this.#pending = Promise.withResolvers<string>());
    this.#sandbox.request(question);
    return replySchema.parse(JSON.parse(await withTimeout(pending.promise, timeoutMs)));
  }

  close(): void {
    this.#sandbox.destroy();
    this.#host.remove();
  }

  #onMessage(message: SandboxMessage): void {
    if (message.kind === 'employed') this.#ready.resolve();
    else if (message.kind === 'answer') this.#pending?.resolve(message.text);
    else if (message.kind === 'left' || message.kind === 'flood') this.#pending?.reject(new Error('the diagram renderer stopped'));
  }
}

const cache = new Map<string, DiagramResult>();
let mermaidSandbox: Promise<MermaidSandbox> | undefined;
let lastDrawing: Promise<unknown> = Promise.resolve();
let idleTimer: ReturnType<typeof setTimeout> | undefined;
/** Settles once another sandbox can be opened. */
let sandboxClosed: Promise<unknown> = Promise.resolve();

/** Draws diagrams one after another. Rejects with the signal's reason if it is aborted before its turn. */
export function drawDiagram(source: string, look: DiagramTheme, signal: AbortSignal): Promise<DiagramResult> {
  if (source.length > MAX_DIAGRAM_CHARS) return Promise.resolve({ kind: 'large' });
  const key = `${JSON.stringify(look.variables)} ${source}`;
  const cached = cache.get(key);
  if (cached) return Promise.resolve(cached);
  const drawing = lastDrawing.then(async () => {
    signal.throwIfAborted();
    const result = await tryDraw(source, look);
    if (result.kind !== 'unavailable') cacheResult(key, result);
    return result;
  });
  lastDrawing = drawing.catch(() => {});
  return drawing;
}

async function tryDraw(source: string, look: DiagramTheme): Promise<DiagramResult> {
  clearTimeout(idleTimer);
  try {
    const sandbox = await (mermaidSandbox ??= openSandbox());
    const reply = await sandbox.request({ source, look, mostPx: MAX_PX }, DRAW_TIMEOUT_MS);
    return reply.kind === 'loaded' ? { kind: 'unavailable' } : reply;
  } catch (error) {
    closeSandbox();
    if (!(error instanceof TimeoutFault)) return { kind: 'unavailable' };
    sandboxClosed = new Promise((resolve) => setTimeout(resolve, PROCESS_EXIT_MS));
    return { kind: 'endless' };
  } finally {
    idleTimer = setTimeout(closeSandbox, IDLE_MS);
  }
}

async function openSandbox(): Promise<MermaidSandbox> {
  await sandboxClosed;
  const created = new MermaidSandbox();
  try {
    await created.load();
    return created;
  } catch (error) {
    created.close();
    // A timeout while loading is not caused by the diagram.
    throw error instanceof TimeoutFault ? new Error('the diagram renderer took too long to load', { cause: error }) : error;
  }
}

function closeSandbox(): void {
  mermaidSandbox?.then(
    (sandbox) => sandbox.close(),
    () => {},
  );
  mermaidSandbox = undefined;
}

function cacheResult(key: string, result: DiagramResult): void {
  cache.set(key, result);
  const [oldest] = cache.keys();
  if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest);
}
