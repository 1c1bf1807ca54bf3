import type { ContractParams } from '#shared/rpc/contract.ts';
import type { browserViewContracts } from '#shared/rpc/methods/browser-view-contracts.ts';

/** Input of a person, in the form of `browser.input`. */
export type Input = Omit<ContractParams<(typeof browserViewContracts)['browser.input']>, 'profile'>;

/** Maximum number of waiting inputs, so that a page that was unresponsive does not receive too many at once. */
const MAX_WAITING = 200;
/** Maximum length of text in one message. */
const MAX_TEXT_CHARS = 10_000;
/** Minimum time between two moves or wheel inputs, in milliseconds: a gateway accepts 600 requests a minute, including frames. */
const MIN_INTERVAL_MS = 150;

/**
 * Sends user input in order, one at a time. Among queued inputs only the last move is kept, wheel deltas are added up, and texts are
 * joined. If `send` rejects, the queue continues.
 */
export class InputQueue {
  readonly #send: (input: Input) => Promise<unknown>;
  readonly #onError: (error: unknown) => void;
  #queue: Input[] = [];
  #isRunning = false;
  #movedAt = -Infinity;

  constructor(send: (input: Input) => Promise<unknown>, onError: (error: unknown) => void) {
    this.#send = send;
    this.#onError = onError;
  }

  add(input: Input): void {
    if (input.type === 'text' && (input.text?.length ?? 0) > MAX_TEXT_CHARS) {
      for (const text of splitText(input.text ?? '')) this.add({ ...input, text });
      return;
    }
    const last = this.#queue.at(-1);
    const merged = last && mergeInputs(last, input);
    if (merged) this.#queue[this.#queue.length - 1] = merged;
    // Releases are always added, so that no button stays pressed.
    else if (this.#queue.length < MAX_WAITING || input.type === 'release') this.#queue.push(input);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#queue[0]) {
      if (isMoving(this.#queue[0])) {
        await sleep(this.#movedAt + MIN_INTERVAL_MS - performance.now());
        this.#movedAt = performance.now();
      }
      // Read now, since the input may have been merged with a later one.
      const next = this.#queue.shift();
      try {
        if (next) await this.#send(next);
      } catch (error) {
        this.#onError(error);
      }
    }
    this.#isRunning = false;
  }
}

const isMoving = ({ type }: Input): boolean => type === 'move' || type === 'wheel';
const sleep = (ms: number): Promise<void> | void => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined);

function mergeInputs(before: Input, next: Input): Input | null {
  if (before.type !== next.type) return null;
  if (next.type === 'move') return next;
  if (next.type === 'wheel')
    return { ...next, deltaX: (before.deltaX ?? 0) + (next.deltaX ?? 0), deltaY: (before.deltaY ?? 0) + (next.deltaY ?? 0) };
  if (next.type === 'text') {
    const text = `${before.text ?? ''}${next.text ?? ''}`;
    return text.length <= MAX_TEXT_CHARS ? { ...next, text } : null;
  }
  return null;
}

/** Splits a text without breaking surrogate pairs. */
function splitText(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + MAX_TEXT_CHARS);
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1)) && end < text.length) end--;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}
