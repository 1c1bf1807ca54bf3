import { ReasoningParser, longestBeginning, THINK_OPEN, THINK_CLOSE } from '../reasoning-parser.ts';
import type { CompletionChunk } from './completion-tracker.ts';

type Json = Record<string, unknown>;
type Choice = NonNullable<CompletionChunk['choices']>[number];

/** Answer text and reasoning of a chunk. */
interface ReasoningSplit {
  content: string;
  reasoning: string;
}

type ScanMode = 'all' | 'marks' | 'none';

/** An unchanged event, or the data of a changed one. */
export type PassthroughEvent<T> = { event: T } | { data: string };

/** An event held until it is known whether its text begins a mark. */
interface QueuedEvent<T> {
  event: T;
  chunk: CompletionChunk;
  /** Some of its text was moved. */
  isChanged: boolean;
  /** Text at the end of a choice's content that may belong to a mark. */
  heldText: Map<Choice, string>;
}

/**
 * Separates reasoning from the answer in a stream of chat completions: the text between the marks is moved to `reasoning_content`.
 * Events without marks stay as they are; only an event that ends with the beginning of a mark waits for the next one. The rules are those of `ReasoningParser`.
 */
export class ThinkTagSplitter<T> {
  readonly #choices = new Map<number, ChoiceText>();
  readonly #thinksFirst: boolean;
  #queue: QueuedEvent<T>[] = [];
  #scanMode: ScanMode = 'all';

  /** `choices`: number of completions in the stream; `thinksFirst`: the prompts end with the opening mark, so that only the closing one comes. */
  constructor(choices: number, thinksFirst = false) {
    this.#thinksFirst = thinksFirst;
    for (let index = 0; index < choices; index++) this.#choices.set(index, new ChoiceText(thinksFirst));
  }

  /** The closing mark came without an opening one. */
  get isUnopened(): boolean {
    return [...this.#choices.values()].some(({ isUnopened }) => isUnopened);
  }

  /** Events to examine: all, those whose text may contain a mark, or none. */
  get scanMode(): ScanMode {
    return this.#scanMode;
  }

  #computeScanMode(): ScanMode {
    let scanMode: 'marks' | 'none' = 'none';
    for (const { state, pending } of this.#choices.values()) {
      if (pending !== '' || state === 'start' || state === 'thinking') return 'all';
      if (state === 'answer') scanMode = 'marks';
    }
    return scanMode;
  }

  /**
   * The events to send now: unchanged, or the data of a changed one. Undefined: this one, unchanged. `event`: the caller's own form of it.
   */
  add(chunk: CompletionChunk, event: T): PassthroughEvent<T>[] | undefined {
    if (this.#queue.length === 0 && this.#scanMode === 'none') return undefined;
    const queued: QueuedEvent<T> = { event, chunk, isChanged: false, heldText: new Map() };
    this.#queue.push(queued);
    for (const choice of chunk.choices ?? []) this.#processChoice(choice, queued);
    this.#scanMode = this.#computeScanMode();
    if (this.#queue.length === 1 && !queued.isChanged && queued.heldText.size === 0) {
      this.#queue = [];
      return undefined;
    }
    return [...this.#choices.values()].some(({ pending }) => pending !== '') ? [] : this.#flush();
  }

  /** Ends the stream. Returns the held events. */
  end(): PassthroughEvent<T>[] {
    return this.#flush();
  }

  #processChoice(choice: Choice, event: QueuedEvent<T>): void {
    const index = choice.index ?? 0;
    let text = this.#choices.get(index);
    if (!text) this.#choices.set(index, (text = new ChoiceText(this.#thinksFirst)));
    const delta = isRecord(choice.delta) ? choice.delta : {};
    const before = text.pending;
    const split = text.add(delta, Boolean(choice.finish_reason));
    const { pending } = text;
    const piece = typeof delta['content'] === 'string' ? delta['content'] : '';
    const continues = !split && pending !== '' && pending === before + piece;
    if (!continues && before !== '') for (const each of this.#queue) resolveHeldText(each, index, split !== undefined);
    if (split) {
      event.isChanged = true;
      choice.delta = toDelta(delta, split);
    } else if (pending !== '' && piece !== '') event.heldText.set(choice, continues ? piece : pending);
  }

  #flush(): PassthroughEvent<T>[] {
    const queue = this.#queue;
    this.#queue = [];
    return queue
      .filter(({ isChanged, chunk }) => !isChanged || !isEmpty(chunk))
      .map(({ isChanged, chunk, event }) => (isChanged ? { data: JSON.stringify(chunk) } : { event }));
  }
}

/** Keeps the held text in its event, or removes it because it continues in a later one. */
function resolveHeldText(event: QueuedEvent<unknown>, index: number, isRemoved: boolean): void {
  for (const [choice, heldText] of event.heldText) {
    if ((choice.index ?? 0) !== index || !isRecord(choice.delta)) continue;
    event.heldText.delete(choice);
    if (!isRemoved) continue;
    const content = String(choice.delta['content']);
    choice.delta = { ...choice.delta, content: content.slice(0, content.length - heldText.length) };
    event.isChanged = true;
  }
}

/** Streaming state of one choice's text. */
class ChoiceText {
  /** `start`: no text so far. `answer`: an unopened closing mark may follow. `thinking`: a mark has come, and no answer after it. `plain`: no mark counts any more. */
  state: 'start' | 'answer' | 'thinking' | 'plain';
  /** Text that may be the beginning of a mark. */
  pending = '';
  isUnopened = false;
  #lastChar = '';
  #parser: ReasoningParser | undefined;
  #split: ReasoningSplit = { content: '', reasoning: '' };

  constructor(thinksFirst: boolean) {
    this.state = thinksFirst ? 'thinking' : 'start';
    if (thinksFirst) this.#parser = this.#createParser(thinksFirst);
  }

  /** Splits the content; undefined if it stays unchanged, including held text. `isLast`: no more content follows. */
  add(delta: Json, isLast: boolean): ReasoningSplit | undefined {
    const { content } = delta;
    const piece = typeof content === 'string' ? content : '';
    // A server that sends reasoning separately has removed it from the text.
    const isApart = Boolean(delta['reasoning_content']) || Boolean(delta['reasoning']) || Array.isArray(content);
    if (this.state === 'plain' || (isApart && this.state !== 'thinking')) return this.#setState('plain');
    if (this.state === 'thinking') return this.#readThinking(piece, isLast);
    if (piece === '' && !isLast) {
      // Thoughts come before calls.
      if (delta['tool_calls'] || delta['function_call']) this.#setState('plain');
      return undefined;
    }
    const text = this.pending + piece;
    if (this.state === 'start') {
      const trimmed = text.trimStart();
      if (trimmed.startsWith(THINK_OPEN) || trimmed.startsWith(THINK_CLOSE)) {
        this.#setState('thinking');
        this.#parser = this.#createParser(false);
        return this.#readThinking(text, isLast);
      }
      // Empty lines in front of everything are passed on.
      if (!isLast && trimmed === '') return undefined;
      if (!isLast && (THINK_OPEN.startsWith(trimmed) || THINK_CLOSE.startsWith(trimmed))) return this.#holdBack(text);
      this.state = 'answer';
    }
    return this.#readAnswer(text, isLast);
  }

  #readAnswer(text: string, isLast: boolean): ReasoningSplit | undefined {
    const at = text.indexOf(THINK_CLOSE);
    const opening = text.indexOf(THINK_OPEN);
    if (opening >= 0 && (at < 0 || opening < at)) return this.#setState('plain');
    if (at >= 0) {
      const before = text.slice(0, at);
      const isQuoted = /[`'"]/.test(before.at(-1) ?? this.#lastChar);
      this.#setState('plain');
      if (isQuoted) return undefined;
      this.isUnopened = true;
      return { content: before + text.slice(at + THINK_CLOSE.length), reasoning: '' };
    }
    const heldChars = isLast ? 0 : longestBeginning(text, [THINK_OPEN, THINK_CLOSE]);
    this.#lastChar = text.at(-heldChars - 1) ?? this.#lastChar;
    return this.#holdBack(text.slice(text.length - heldChars));
  }

  #readThinking(piece: string, isLast: boolean): ReasoningSplit | undefined {
    this.#split = { content: '', reasoning: '' };
    this.#parser?.add(piece);
    if (isLast) this.#parser?.end();
    this.isUnopened ||= this.#parser?.isUnopened ?? false;
    const split = this.#split;
    if (split.content !== '') this.#setState('plain');
    return piece === '' && split.content + split.reasoning === '' ? undefined : split;
  }

  #createParser(thinksFirst: boolean): ReasoningParser {
    const append = ({ text, thought }: { text: string; thought: boolean }): void =>
      void (this.#split[thought ? 'reasoning' : 'content'] += text);
    return new ReasoningParser([], append, thinksFirst);
  }

  #holdBack(text: string): undefined {
    this.pending = text;
  }

  #setState(state: 'thinking' | 'plain'): undefined {
    this.state = state;
    this.pending = '';
  }
}

/** A complete completion with its reasoning separated; undefined if its text contains none. `isUnopened` as in `ThinkTagSplitter`. */
export function splitReasoning(completion: CompletionChunk): { completion: CompletionChunk; isUnopened: boolean } | undefined {
  let isUnopened = false;
  let isChanged = false;
  const choices = completion.choices?.map((choice): Choice => {
    const { message } = choice;
    if (!isRecord(message) || typeof message['content'] !== 'string' || message['reasoning_content'] || message['reasoning']) return choice;
    const split = splitText(message['content']);
    if (!split) return choice;
    isChanged = true;
    isUnopened ||= split.isUnopened;
    const content = split.content === '' && message['tool_calls'] ? null : split.content;
    return { ...choice, message: { ...message, content, ...(split.reasoning === '' ? {} : { reasoning_content: split.reasoning }) } };
  });
  return isChanged ? { completion: { ...completion, choices }, isUnopened } : undefined;
}

function splitText(text: string): (ReasoningSplit & { isUnopened: boolean }) | undefined {
  const at = text.indexOf(THINK_CLOSE);
  const isOpened = text.trimStart().startsWith(THINK_OPEN);
  const isUnopened = at >= 0 && !isOpened && !text.slice(0, at).includes(THINK_OPEN) && !/[`'"]/.test(text[at - 1] ?? '');
  if (!isOpened && !isUnopened) return undefined;
  const split: ReasoningSplit = { content: '', reasoning: '' };
  const parser = new ReasoningParser([], (piece) => void (split[piece.thought ? 'reasoning' : 'content'] += piece.text), isUnopened);
  parser.add(text);
  parser.end();
  return { ...split, isUnopened };
}

const toDelta = (delta: Json, { content, reasoning }: ReasoningSplit): Json => ({
  ...delta,
  ...(content !== '' || typeof delta['content'] === 'string' ? { content: content === '' && reasoning !== '' ? null : content } : {}),
  ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
});

/** An event without its text. */
const isEmpty = ({ choices, usage }: CompletionChunk): boolean =>
  usage == null &&
  (choices ?? []).every(
    ({ delta, finish_reason }) =>
      !finish_reason && isRecord(delta) && Object.entries(delta).every(([name, value]) => name === 'content' && !value),
  );

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
