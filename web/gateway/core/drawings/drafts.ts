import { RpcError } from '#shared/rpc/errors.ts';
import type { EventPayload } from '#shared/rpc/events.ts';
import { DRAWING_LIMITS } from '#shared/rpc/methods/drawings.ts';
import type { Clock } from '../clock.ts';
import type { Caller } from '../dispatch.ts';
import type { Hub } from '../hub.ts';
import { Throttle } from '../throttle.ts';

type Draft = EventPayload<'drawing.draft'>;

/** Minimum interval between two events about a shape in progress. */
const TELL_MS = 50;

/** Shapes that people are currently drawing. */
export class Drafts {
  readonly #hub: Hub;
  /** The newest draft by connection and drawing. */
  readonly #open = new Map<string, Draft>();
  readonly #telling: Throttle<string>;

  constructor({ hub, clock }: { hub: Hub; clock: Clock }) {
    this.#hub = hub;
    this.#telling = new Throttle(clock, TELL_MS, (names) => {
      for (const name of names) this.#tell(this.#open.get(name));
    });
  }

  stop(): void {
    this.#telling.stop();
  }

  /** Throws `INVALID_PARAMS` for a shape that is too large to be shown while it is drawn. */
  show(drawingId: string, shape: Draft['shape'], { connId, signal }: Pick<Caller, 'connId' | 'signal'>): void {
    const name = `${connId} ${drawingId}`;
    const draft = { drawingId, from: connId, shape };
    if (shape === null) return this.#end(name, draft);
    if (JSON.stringify(shape).length > DRAWING_LIMITS.draftChars)
      throw new RpcError('INVALID_PARAMS', `\`shape\` must have at most ${DRAWING_LIMITS.draftChars} characters of JSON.`);
    if (!this.#open.has(name)) signal.addEventListener('abort', () => this.#end(name, { ...draft, shape: null }), { once: true });
    this.#open.set(name, draft);
    this.#telling.add([name]);
  }

  #end(name: string, draft: Draft): void {
    if (this.#open.delete(name)) this.#tell(draft);
  }

  #tell(draft: Draft | undefined): void {
    if (draft) this.#hub.tellOpen({ event: 'drawing.draft', payload: draft }, draft.drawingId, draft.from);
  }
}
