import { z } from '#shared/rpc/zod.ts';
import { BASE } from '#lib/demo.ts';
import { guarded } from '#lib/preview/documents.ts';
import { Sandbox, type SandboxMessage } from '#lib/preview/sandbox.ts';
import { MOST_CHARS } from './diagram.ts';
import draw from './draw.js?raw';
import type { Look } from './look.ts';

const MOST_PX = 100_000;
const side = z.number().positive().max(MOST_PX);
const answer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('loaded') }),
  z.object({ kind: z.literal('unavailable') }),
  z.object({ kind: z.literal('drawn'), type: z.string().max(100), svg: z.string(), width: side, height: side }),
  z.object({ kind: z.literal('mistake'), line: z.int().nullable(), text: z.string().max(2_000) }),
]);
type Answer = z.infer<typeof answer>;

/**
 * Result for a source. `drawn`: an untrusted SVG document, to be shown as a picture only, with its size in CSS pixels. `mistake`: the
 * parser's message. `large`: not tried. `endless`: stopped after a time-out. `unavailable`: the library could not be loaded.
 */
export type Drawing = Exclude<Answer, { kind: 'loaded' }> | { kind: 'large' } | { kind: 'endless' };

/** Width of a diagram that takes all available width: about that of a reply. */
const WIDTH_PX = 800;
const LOADS_WITHIN_MS = 30_000;
const DRAWS_WITHIN_MS = 5_000;
/**
 * Browsers keep the process of a removed document and reuse it for the next, so an endless script must have ended before. Chromium keeps it
 * for 2 s.
 */
const PROCESS_ENDS_MS = 4_000;
/** The place for drawing goes when nothing was drawn for so long: Mermaid takes some 50 MB of memory. */
const IDLE_MS = 60_000;
/** Drawings that are kept, as a chat that is opened again shows them at once. */
const KEPT = 40;

class TooLong extends Error {}

async function within<Value>(promise: Promise<Value>, mostMs: number): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new TooLong()), mostMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A document without an origin or network that has Mermaid in it (docs/decisions/0058). */
class Workplace {
  readonly #host: HTMLElement;
  readonly #sandbox: Sandbox;
  readonly #employed = Promise.withResolvers<void>();
  #asked: PromiseWithResolvers<string> | undefined;

  constructor() {
    this.#host = document.body.appendChild(document.createElement('div'));
    this.#host.inert = true;
    // Laid out, so that words can be measured, and out of sight.
    this.#host.style.cssText = 'position:fixed;top:0;left:0;width:1px;height:1px;overflow:hidden;visibility:hidden';
    this.#sandbox = new Sandbox(this.#host, 'Diagrams', (said) => this.#hear(said));
  }

  async load(): Promise<void> {
    const response = fetch(BASE + __PERCH_MERMAID__);
    await this.#sandbox.open;
    this.#host.querySelector('iframe')?.style.setProperty('width', `${WIDTH_PX}px`);
    this.#sandbox.show(guarded(`<body><script>${draw}</script>`), 'Diagrams');
    const library = await response;
    if (!library.ok) throw new Error(`the diagram renderer couldn’t be loaded: HTTP ${library.status}`);
    const blob = await library.blob();
    await within(this.#employed.promise, LOADS_WITHIN_MS);
    const { kind } = await this.ask({ library: blob }, LOADS_WITHIN_MS);
    if (kind !== 'loaded') throw new Error('the diagram renderer couldn’t be loaded');
  }

  /** Rejects with `TooLong`, or if the answer is invalid. */
  async ask(question: unknown, withinMs: number): Promise<Answer> {
    const asked = (this.#asked = Promise.withResolvers<string>());
    this.#sandbox.ask(question);
    return answer.parse(JSON.parse(await within(asked.promise, withinMs)));
  }

  close(): void {
    this.#sandbox.destroy();
    this.#host.remove();
  }

  #hear(said: SandboxMessage): void {
    if (said.kind === 'employed') this.#employed.resolve();
    else if (said.kind === 'answer') this.#asked?.resolve(said.text);
    else if (said.kind === 'left' || said.kind === 'flood') this.#asked?.reject(new Error('the diagram renderer stopped'));
  }
}

const kept = new Map<string, Drawing>();
let workplace: Promise<Workplace> | undefined;
let last: Promise<unknown> = Promise.resolve();
let idle: ReturnType<typeof setTimeout> | undefined;
/** Settles once there can be another place. */
let over: Promise<unknown> = Promise.resolve();

/** Draws diagrams one after another. Rejects with the signal's reason if it is aborted before its turn. */
export function drawing(source: string, look: Look, signal: AbortSignal): Promise<Drawing> {
  if (source.length > MOST_CHARS) return Promise.resolve({ kind: 'large' });
  const key = `${JSON.stringify(look.variables)} ${source}`;
  const before = kept.get(key);
  if (before) return Promise.resolve(before);
  const turn = last.then(async () => {
    signal.throwIfAborted();
    const drawn = await attempt(source, look);
    if (drawn.kind !== 'unavailable') keep(key, drawn);
    return drawn;
  });
  last = turn.catch(() => {});
  return turn;
}

async function attempt(source: string, look: Look): Promise<Drawing> {
  clearTimeout(idle);
  try {
    const place = await (workplace ??= opened());
    const drawn = await place.ask({ source, look, mostPx: MOST_PX }, DRAWS_WITHIN_MS);
    return drawn.kind === 'loaded' ? { kind: 'unavailable' } : drawn;
  } catch (error) {
    closeWorkplace();
    if (!(error instanceof TooLong)) return { kind: 'unavailable' };
    over = new Promise((resolve) => setTimeout(resolve, PROCESS_ENDS_MS));
    return { kind: 'endless' };
  } finally {
    idle = setTimeout(closeWorkplace, IDLE_MS);
  }
}

async function opened(): Promise<Workplace> {
  await over;
  const place = new Workplace();
  try {
    await place.load();
    return place;
  } catch (error) {
    place.close();
    // Too long to load says nothing of a diagram.
    throw error instanceof TooLong ? new Error('the diagram renderer took too long to load', { cause: error }) : error;
  }
}

function closeWorkplace(): void {
  workplace?.then(
    (place) => place.close(),
    () => {},
  );
  workplace = undefined;
}

function keep(key: string, drawn: Drawing): void {
  kept.set(key, drawn);
  const [oldest] = kept.keys();
  if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
}
