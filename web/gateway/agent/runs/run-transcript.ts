import type { AnyEvent } from '#shared/rpc/events.ts';
import type { RunningCall, RunningRun } from '#shared/rpc/methods/chat-contracts.ts';
import type { CitedSource } from '#shared/rpc/passage.ts';
import type { Reasoning, ToolCall } from '#shared/rpc/record-schemas.ts';
import { ReasoningBuffer } from './reasoning-buffer.ts';
import type { RunIds } from './run-types.ts';

/** Maximum number of characters of a result for clients that join during the run; the stored result is complete. */
const MAX_RESULT_CHARS = 8_000;

interface RunTranscriptOptions {
  ids: RunIds;
  emit(event: AnyEvent): void;
  now(): number;
}

/** Output of a run so far: text, thoughts, calls and results. Emits an event for each. */
export class RunTranscript {
  /** The reply's text so far, over all steps. */
  text = '';
  /** Text of the current step. */
  stepText = '';
  readonly #calls: RunningCall[] = [];
  /** Texts that the reply can cite. */
  #sources: CitedSource[] = [];
  /** Names of the tools that the model is calling. */
  #pending: string[] = [];
  readonly #reasoning: ReasoningBuffer;
  readonly #options: RunTranscriptOptions;

  constructor(options: RunTranscriptOptions) {
    this.#options = options;
    this.#reasoning = new ReasoningBuffer(options.now);
  }

  /** Snapshot for clients that join during the run. */
  get progress(): RunningRun {
    const { runId } = this.#options.ids;
    const sources = this.#sources.length > 0 ? { sources: this.#sources } : {};
    return { runId, text: this.text, reasoning: this.#reasoning.text, calls: this.#calls, pending: this.#pending, ...sources };
  }

  /** Thoughts of the current step, as fields of its message. */
  get reasoning(): { reasoning?: Reasoning } {
    return this.#reasoning.fields;
  }

  addText(delta: string): void {
    const { ids, emit } = this.#options;
    emit({ event: 'chat.delta', payload: { ...ids, delta, role: 'assistant', offset: this.text.length } });
    this.text += delta;
    this.stepText += delta;
  }

  addReasoning(piece: string): void {
    const { ids, emit } = this.#options;
    const offset = this.#reasoning.text.length;
    const delta = this.#reasoning.add(piece);
    if (delta !== '') emit({ event: 'chat.reasoning', payload: { ...ids, delta, offset } });
  }

  /** Output other than thoughts has arrived. */
  pauseReasoning(): void {
    this.#reasoning.pause();
  }

  /** Another model continues. */
  switchModel(): void {
    this.#reasoning.nextStep();
  }

  setPendingTools(tools: string[]): void {
    const { ids, emit } = this.#options;
    this.#pending = tools;
    emit({ event: 'chat.tool_pending', payload: { ...ids, tools } });
  }

  /** The step that contains the calls has ended. */
  nextStep(): void {
    this.#pending = [];
    this.stepText = '';
    this.#reasoning.nextStep();
  }

  addCall({ id, tool, args }: ToolCall): void {
    const { ids, emit } = this.#options;
    this.#calls.push({ id, tool, args, at: this.text.length, result: null });
    emit({ event: 'chat.tool_call', payload: { ...ids, tool, args, toolCallId: id } });
  }

  addSources(sources: readonly CitedSource[]): void {
    const { ids, emit } = this.#options;
    this.#sources = [...this.#sources, ...sources];
    emit({ event: 'chat.sources', payload: { ...ids, sources: [...sources] } });
  }

  /** `content`: the result as stored. */
  addResult({ id, tool }: ToolCall, { result, content, isError }: { result: unknown; content: string; isError: boolean }): void {
    const { ids, emit } = this.#options;
    for (const call of this.#calls) if (call.id === id) call.result = content.slice(0, MAX_RESULT_CHARS);
    emit({ event: 'chat.tool_result', payload: { ...ids, tool, result, toolCallId: id, ...(isError ? { isError } : {}) } });
  }
}
