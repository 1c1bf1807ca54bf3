import type { AnyEvent } from '#shared/rpc/events.ts';
import type { CallUnder, RunUnder } from '#shared/rpc/methods/chat.ts';
import type { Reasoning, ToolCall } from '#shared/rpc/records.ts';
import { Thoughts } from './thoughts.ts';

/** Characters of a call's result for who comes while the run is under way: what is stored at the end has all. */
const MOST_OF_RESULT = 8_000;

export interface SaidOptions {
  ids: { sessionId: string; agentId: string; runId: string };
  emit(event: AnyEvent): void;
  now(): number;
}

/** What a run has told its readers so far: text, thoughts, calls and results, each as an event when it comes. */
export class Said {
  /** The reply's text so far, over all steps. */
  text = '';
  /** That of the step under way. */
  stepText = '';
  readonly #calls: CallUnder[] = [];
  /** Tools of the calls that the model is writing. */
  #pending: string[] = [];
  readonly #thoughts: Thoughts;
  readonly #options: SaidOptions;

  constructor(options: SaidOptions) {
    this.#options = options;
    this.#thoughts = new Thoughts(options.now);
  }

  /** For who comes in between. */
  get underWay(): RunUnder {
    const { runId } = this.#options.ids;
    return { runId, text: this.text, reasoning: this.#thoughts.text, calls: this.#calls, pending: this.#pending };
  }

  /** Thoughts of the step under way, as its message has them. */
  get thoughts(): { reasoning?: Reasoning } {
    return this.#thoughts.fields;
  }

  write(delta: string): void {
    const { ids, emit } = this.#options;
    emit({ event: 'chat.delta', payload: { ...ids, delta, role: 'assistant', offset: this.text.length } });
    this.text += delta;
    this.stepText += delta;
  }

  think(piece: string): void {
    const { ids, emit } = this.#options;
    const offset = this.#thoughts.text.length;
    const delta = this.#thoughts.add(piece);
    if (delta !== '') emit({ event: 'chat.reasoning', payload: { ...ids, delta, offset } });
  }

  /** Something else than thoughts has come. */
  pause(): void {
    this.#thoughts.pause();
  }

  /** Another model answers from here on. */
  otherModel(): void {
    this.#thoughts.next();
  }

  calling(tools: string[]): void {
    const { ids, emit } = this.#options;
    this.#pending = tools;
    emit({ event: 'chat.tool_pending', payload: { ...ids, tools } });
  }

  /** The step that made them has ended; they follow. */
  nextStep(): void {
    this.#pending = [];
    this.stepText = '';
    this.#thoughts.next();
  }

  call({ id, tool, args }: ToolCall): void {
    const { ids, emit } = this.#options;
    this.#calls.push({ id, tool, args, at: this.text.length, result: null });
    emit({ event: 'chat.tool_call', payload: { ...ids, tool, args, toolCallId: id } });
  }

  /** `content`: the result as it is stored. */
  result({ id, tool }: ToolCall, { result, content, isError }: { result: unknown; content: string; isError: boolean }): void {
    const { ids, emit } = this.#options;
    for (const call of this.#calls) if (call.id === id) call.result = content.slice(0, MOST_OF_RESULT);
    emit({ event: 'chat.tool_result', payload: { ...ids, tool, result, toolCallId: id, ...(isError ? { isError } : {}) } });
  }
}
