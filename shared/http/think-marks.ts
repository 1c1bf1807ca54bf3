import { AnswerText, longestBeginning, THINK, THOUGHT } from '../answer-text.ts';
import type { Glance } from './completion-watch.ts';

type Json = Record<string, unknown>;
type Choice = NonNullable<Glance['choices']>[number];

/** The answer and the thoughts of a piece. */
interface Split {
  content: string;
  reasoning: string;
}

type Attention = 'all' | 'marks' | 'none';

/** An event as it came, or the data of a changed one. */
export type PassingEvent<T> = { event: T } | { data: string };

/** An event that waits until it is known whether its text begins a mark. */
interface QueuedEvent<T> {
  event: T;
  chunk: Glance;
  /** Some of its text was moved. */
  isChanged: boolean;
  /** Text at the end of a choice's content that may belong to a mark. */
  held: Map<Choice, string>;
}

/**
 * Tells thoughts within the text of a passing stream of chat completions from the answer: the text between the marks goes into `reasoning_content`.
 * Events without marks stay as they are; only an event that ends with the beginning of a mark waits for the next one. The rules are those of `AnswerText`.
 */
export class ThinkMarks<T> {
  readonly #choices = new Map<number, ChoiceText>();
  readonly #thinksFirst: boolean;
  #queue: QueuedEvent<T>[] = [];
  #attention: Attention = 'all';

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
  get attention(): Attention {
    return this.#attention;
  }

  #computeAttention(): Attention {
    let attention: 'marks' | 'none' = 'none';
    for (const { state, pending } of this.#choices.values()) {
      if (pending !== '' || state === 'start' || state === 'thinking') return 'all';
      if (state === 'answer') attention = 'marks';
    }
    return attention;
  }

  /**
   * The events to send now: unchanged, or the data of a changed one. Undefined: this one, unchanged. `event`: the caller's own form of it.
   */
  see(chunk: Glance, event: T): PassingEvent<T>[] | undefined {
    if (this.#queue.length === 0 && this.#attention === 'none') return undefined;
    const queued: QueuedEvent<T> = { event, chunk, isChanged: false, held: new Map() };
    this.#queue.push(queued);
    for (const choice of chunk.choices ?? []) this.#look(choice, queued);
    this.#attention = this.#computeAttention();
    if (this.#queue.length === 1 && !queued.isChanged && queued.held.size === 0) {
      this.#queue = [];
      return undefined;
    }
    return [...this.#choices.values()].some(({ pending }) => pending !== '') ? [] : this.#release();
  }

  /** The stream has ended: the events that waited. */
  end(): PassingEvent<T>[] {
    return this.#release();
  }

  #look(choice: Choice, event: QueuedEvent<T>): void {
    const index = choice.index ?? 0;
    let text = this.#choices.get(index);
    if (!text) this.#choices.set(index, (text = new ChoiceText(this.#thinksFirst)));
    const delta = isRecord(choice.delta) ? choice.delta : {};
    const before = text.pending;
    const split = text.add(delta, Boolean(choice.finish_reason));
    const { pending } = text;
    const piece = typeof delta['content'] === 'string' ? delta['content'] : '';
    const goesOn = !split && pending !== '' && pending === before + piece;
    if (!goesOn && before !== '') for (const each of this.#queue) settleHeld(each, index, split !== undefined);
    if (split) {
      event.isChanged = true;
      choice.delta = toDelta(delta, split);
    } else if (pending !== '' && piece !== '') event.held.set(choice, goesOn ? piece : pending);
  }

  #release(): PassingEvent<T>[] {
    const queue = this.#queue;
    this.#queue = [];
    return queue
      .filter(({ isChanged, chunk }) => !isChanged || !isEmpty(chunk))
      .map(({ isChanged, chunk, event }) => (isChanged ? { data: JSON.stringify(chunk) } : { event }));
  }
}

/** Keeps the held text in its event, or removes it because it continues in a later one. */
function settleHeld(event: QueuedEvent<unknown>, index: number, isTaken: boolean): void {
  for (const [choice, held] of event.held) {
    if ((choice.index ?? 0) !== index || !isRecord(choice.delta)) continue;
    event.held.delete(choice);
    if (!isTaken) continue;
    const content = String(choice.delta['content']);
    choice.delta = { ...choice.delta, content: content.slice(0, content.length - held.length) };
    event.isChanged = true;
  }
}

/** Text of one choice as it comes. */
class ChoiceText {
  /** `start`: no text so far. `answer`: an unopened closing mark may follow. `thinking`: a mark has come, and no answer after it. `plain`: no mark counts any more. */
  state: 'start' | 'answer' | 'thinking' | 'plain';
  /** The beginning of a mark, perhaps. */
  pending = '';
  isUnopened = false;
  #last = '';
  #text: AnswerText | undefined;
  #split: Split = { content: '', reasoning: '' };

  constructor(thinksFirst: boolean) {
    this.state = thinksFirst ? 'thinking' : 'start';
    if (thinksFirst) this.#text = this.#read(thinksFirst);
  }

  /** Splits the content; undefined if it stays unchanged, including held text. `isLast`: no more content follows. */
  add(delta: Json, isLast: boolean): Split | undefined {
    const { content } = delta;
    const piece = typeof content === 'string' ? content : '';
    // A server that gives thoughts apart has taken them out of the text.
    const isApart = Boolean(delta['reasoning_content']) || Boolean(delta['reasoning']) || Array.isArray(content);
    if (this.state === 'plain' || (isApart && this.state !== 'thinking')) return this.#settle('plain');
    if (this.state === 'thinking') return this.#think(piece, isLast);
    if (piece === '' && !isLast) {
      // Thoughts come before calls.
      if (delta['tool_calls'] || delta['function_call']) this.#settle('plain');
      return undefined;
    }
    const text = this.pending + piece;
    if (this.state === 'start') {
      const begun = text.trimStart();
      if (begun.startsWith(THINK) || begun.startsWith(THOUGHT)) {
        this.#settle('thinking');
        this.#text = this.#read(false);
        return this.#think(text, isLast);
      }
      // Empty lines in front of everything are passed on.
      if (!isLast && begun === '') return undefined;
      if (!isLast && (THINK.startsWith(begun) || THOUGHT.startsWith(begun))) return this.#wait(text);
      this.state = 'answer';
    }
    return this.#answer(text, isLast);
  }

  #answer(text: string, isLast: boolean): Split | undefined {
    const at = text.indexOf(THOUGHT);
    const opening = text.indexOf(THINK);
    if (opening >= 0 && (at < 0 || opening < at)) return this.#settle('plain');
    if (at >= 0) {
      const before = text.slice(0, at);
      const isQuoted = /[`'"]/.test(before.at(-1) ?? this.#last);
      this.#settle('plain');
      if (isQuoted) return undefined;
      this.isUnopened = true;
      return { content: before + text.slice(at + THOUGHT.length), reasoning: '' };
    }
    const waiting = isLast ? 0 : longestBeginning(text, [THINK, THOUGHT]);
    this.#last = text.at(-waiting - 1) ?? this.#last;
    return this.#wait(text.slice(text.length - waiting));
  }

  #think(piece: string, isLast: boolean): Split | undefined {
    this.#split = { content: '', reasoning: '' };
    this.#text?.add(piece);
    if (isLast) this.#text?.end();
    this.isUnopened ||= this.#text?.isUnopened ?? false;
    const split = this.#split;
    if (split.content !== '') this.#settle('plain');
    return piece === '' && split.content + split.reasoning === '' ? undefined : split;
  }

  #read(thinksFirst: boolean): AnswerText {
    const say = ({ text, thought }: { text: string; thought: boolean }): void =>
      void (this.#split[thought ? 'reasoning' : 'content'] += text);
    return new AnswerText([], say, thinksFirst);
  }

  #wait(text: string): undefined {
    this.pending = text;
  }

  #settle(state: 'thinking' | 'plain'): undefined {
    this.state = state;
    this.pending = '';
  }
}

/** A complete completion with its reasoning separated; undefined if its text contains none. `isUnopened` as in `ThinkMarks`. */
export function splitThoughts(completion: Glance): { completion: Glance; isUnopened: boolean } | undefined {
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

function splitText(text: string): (Split & { isUnopened: boolean }) | undefined {
  const at = text.indexOf(THOUGHT);
  const isOpened = text.trimStart().startsWith(THINK);
  const isUnopened = at >= 0 && !isOpened && !text.slice(0, at).includes(THINK) && !/[`'"]/.test(text[at - 1] ?? '');
  if (!isOpened && !isUnopened) return undefined;
  const split: Split = { content: '', reasoning: '' };
  const read = new AnswerText([], (piece) => void (split[piece.thought ? 'reasoning' : 'content'] += piece.text), isUnopened);
  read.add(text);
  read.end();
  return { ...split, isUnopened };
}

const toDelta = (delta: Json, { content, reasoning }: Split): Json => ({
  ...delta,
  ...(content !== '' || typeof delta['content'] === 'string' ? { content: content === '' && reasoning !== '' ? null : content } : {}),
  ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
});

/** An event from which all text was taken. */
const isEmpty = ({ choices, usage }: Glance): boolean =>
  usage == null &&
  (choices ?? []).every(
    ({ delta, finish_reason }) =>
      !finish_reason && isRecord(delta) && Object.entries(delta).every(([name, value]) => name === 'content' && !value),
  );

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
