import type { ParamsOf } from '#shared/rpc/contract.ts';
import type { browserView } from '#shared/rpc/methods/browser-view.ts';

/** Input of a person, as `browser.input` takes it. */
export type Input = Omit<ParamsOf<(typeof browserView)['browser.input']>, 'profile'>;

/** Maximum number of waiting inputs: an unresponsive page does not get all of them at once later. */
const MAX_WAITING = 200;
/** Maximum length of text in one message. */
const MAX_TEXT = 10_000;
/** Moves and turns of the wheel are so far apart at the least, milliseconds: a gateway takes 600 requests a minute, frames among them. */
const APART_MS = 150;

/**
 * Sends user input in order, one at a time. Among queued inputs only the last move is kept, wheel deltas are added up, and texts are
 * joined. If `send` rejects, the queue continues.
 */
export class InputQueue {
  readonly #send: (input: Input) => Promise<unknown>;
  readonly #failed: (error: unknown) => void;
  #waiting: Input[] = [];
  #running = false;
  #movedAt = -Infinity;

  constructor(send: (input: Input) => Promise<unknown>, failed: (error: unknown) => void) {
    this.#send = send;
    this.#failed = failed;
  }

  add(input: Input): void {
    if (input.type === 'text' && (input.text?.length ?? 0) > MAX_TEXT) {
      for (const text of pieces(input.text ?? '')) this.add({ ...input, text });
      return;
    }
    const last = this.#waiting.at(-1);
    const joined = last && together(last, input);
    if (joined) this.#waiting[this.#waiting.length - 1] = joined;
    // Releases always pass, so that no button stays pressed.
    else if (this.#waiting.length < MAX_WAITING || input.type === 'release') this.#waiting.push(input);
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting[0]) {
      if (isMoving(this.#waiting[0])) {
        await sleep(this.#movedAt + APART_MS - performance.now());
        this.#movedAt = performance.now();
      }
      // The input may have grown while it waited.
      const next = this.#waiting.shift();
      try {
        if (next) await this.#send(next);
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#running = false;
  }
}

const isMoving = ({ type }: Input): boolean => type === 'move' || type === 'wheel';
const sleep = (ms: number): Promise<void> | void => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined);

function together(before: Input, next: Input): Input | null {
  if (before.type !== next.type) return null;
  if (next.type === 'move') return next;
  if (next.type === 'wheel')
    return { ...next, deltaX: (before.deltaX ?? 0) + (next.deltaX ?? 0), deltaY: (before.deltaY ?? 0) + (next.deltaY ?? 0) };
  if (next.type === 'text') {
    const text = `${before.text ?? ''}${next.text ?? ''}`;
    return text.length <= MAX_TEXT ? { ...next, text } : null;
  }
  return null;
}

/** Cut so that no character is halved. */
function pieces(text: string): string[] {
  const all: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + MAX_TEXT);
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1)) && end < text.length) end--;
    all.push(text.slice(at, end));
    at = end;
  }
  return all;
}
