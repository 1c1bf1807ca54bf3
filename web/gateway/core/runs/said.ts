import type { AnyEvent } from '#shared/rpc/events.ts';
import type { CallUnder, RunUnder } from '#shared/rpc/methods/chat.ts';
import type { Reasoning, ToolCall } from '#shared/rpc/records.ts';
import { Thoughts } from './thoughts.ts';

/** Maximum number of characters of a result for clients that join during the run; the stored result is complete. */
const MOST_OF_RESULT = 8_000;

export interface SaidOptions {
  ids: { sessionId: string; agentId: string; runId: string };
  emit(event: AnyEvent): void;
  now(): number;
}

/** Output of a run so far: text, thoughts, calls and results. Emits an event for each. */
export class Said {
  /** The reply's text so far, over all steps. */
  text = '';
  /** Text of the current step. */
  stepText = '';
  readonly #calls: CallUnder[] = [];
  /** Names of the tools that the model is calling. */
  #pending: string[] = [];
  readonly #thoughts: Thoughts;
  readonly #options: SaidOptions;

  constructor(options: SaidOptions) {
    this.#options = options;
    this.#thoughts = new Thoughts(options.now);
  }

  /** Snapshot for clients that join during the run. */
  get underWay(): RunUnder {
    const { runId } = this.#options.ids;
    return { runId, text: this.text, reasoning: this.#thoughts.text, calls: this.#calls, pending: this.#pending };
  }

  /** Thoughts of the current step, as fields of its message. */
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

  /** Output other than thoughts has arrived. */
  pause(): void {
    this.#thoughts.pause();
  }

  /** Another model continues. */
  otherModel(): void {
    this.#thoughts.next();
  }

  calling(tools: string[]): void {
    const { ids, emit } = this.#options;
    this.#pending = tools;
    emit({ event: 'chat.tool_pending', payload: { ...ids, tools } });
  }

  /** The step that contains the calls has ended. */
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

  /** `content`: the result as stored. */
  result({ id, tool }: ToolCall, { result, content, isError }: { result: unknown; content: string; isError: boolean }): void {
    const { ids, emit } = this.#options;
    for (const call of this.#calls) if (call.id === id) call.result = content.slice(0, MOST_OF_RESULT);
    emit({ event: 'chat.tool_result', payload: { ...ids, tool, result, toolCallId: id, ...(isError ? { isError } : {}) } });
  }
}
