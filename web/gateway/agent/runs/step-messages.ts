import { UNFINISHED_RESULT } from '#shared/unfinished-result.ts';
import { mergeSources } from '../trust/content-sources.ts';
import type { CitedSource } from '#shared/rpc/passage.ts';
import type { MessageRecord, RunProgress, RunStep, SharedStep, StepResult } from '../../storage/chat-records.ts';
import { truncateMiddle } from '#shared/truncate-text.ts';
import { toPlainText } from '../../storage/session-views.ts';

/** Maximum characters of a run's steps in the journal, which stores the whole record with each step. */
const MAX_SHARED_CHARS = 64 * 1024;

/** Maximum characters of a result if the steps are longer than that. */
const MAX_RESULT_CHARS = 2000;

const toTruncated = ({ said: { reasoning: _, providerState: __, ...said }, results }: SharedStep): SharedStep => ({
  said,
  results: results.map(([id, { readSources: _, ...result }]) => [
    id,
    { ...result, content: truncateMiddle(toPlainText(result.content), MAX_RESULT_CHARS) },
  ]),
});

type MessageFields = Pick<MessageRecord, 'role' | 'content'> & Partial<MessageRecord>;

interface StepMessagesRun {
  sessionKey: string;
  runId: string;
  now(): number;
  /** Outside sources in the run's context so far. */
  sources?(): readonly string[];
}

/** Messages that a run stores after the one that it answers: tool calls, their results, and finally the reply. */
export class StepMessages {
  readonly #messages: MessageRecord[] = [];
  /** Results of the last step's calls so far, by the calls' ids. */
  readonly #results = new Map<string, StepResult['result']>();
  readonly #run: StepMessagesRun;

  constructor(run: StepMessagesRun) {
    this.#run = run;
  }

  /** The last step if it called tools. */
  get currentStep(): RunStep | undefined {
    const last = this.#messages.at(-1);
    if (!last?.toolCalls) return undefined;
    return { runId: this.#run.runId, at: last.depth, said: toStepOutput(last), results: new Map(this.#results) };
  }

  /** State that another host needs to end the run. `chars`: length of the text of all steps. */
  getProgress(chars: number): RunProgress {
    const steps = toSharedSteps(this.#messages, this.#results);
    return { outside: this.#getOutside().outside ?? [], chars, ...(steps ? { steps } : {}) };
  }

  /** Restores steps stored by an earlier host. */
  replay(user: MessageRecord, steps: readonly (RunStep | SharedStep)[]): void {
    for (const { said, results } of steps) {
      this.addStep(user, said);
      for (const [callId, result] of results) this.#results.set(callId, result);
    }
  }

  /** The texts that its tools have read and that the reply can cite. */
  get readSources(): CitedSource[] {
    return [...this.#messages, ...this.#results.values()].flatMap(({ readSources = [] }) => readSources);
  }

  get count(): number {
    return this.#messages.length;
  }

  /** Adds a model's message of a step, after the results of the previous step. */
  addStep(user: MessageRecord, fields: Omit<MessageFields, 'role'>): void {
    this.#addResults(user);
    if (fields.toolCalls?.length) this.#push(user, { role: 'assistant', ...fields });
  }

  /**
   * Adds the result of a call of the last step, in any order. Returns it in the form stored in case the host dies; undefined if the step
   * has no such call.
   */
  addResult(callId: string, content: MessageRecord['content'], readSources: CitedSource[] = []): StepResult | undefined {
    const result = { content, timestamp: this.#run.now(), ...this.#getOutside(), ...(readSources.length > 0 ? { readSources } : {}) };
    this.#results.set(callId, result);
    const { depth = 0, toolCalls = [] } = this.#messages.at(-1) ?? {};
    const index = toolCalls.findIndex(({ id }) => id === callId);
    // Depth of the message for this result.
    return index === -1 ? undefined : { runId: this.#run.runId, at: depth + 1 + index, callId, result };
  }

  /** All messages, ending with the reply. */
  withReply(user: MessageRecord, fields: Omit<MessageFields, 'role'>): { messages: MessageRecord[]; replyId: string } {
    this.#addResults(user);
    // For a run started by an earlier host, the steps contain all known sources.
    const outside = mergeSources(...this.#messages.map((message) => message.outside), this.#getOutside().outside);
    const reply = this.#createMessage(user, { role: 'assistant', ...fields, ...(outside.length > 0 ? { outside } : {}) });
    return { messages: [...this.#messages, reply], replyId: reply.id };
  }

  #createMessage(user: MessageRecord, fields: MessageFields): MessageRecord {
    const { sessionKey, runId, now } = this.#run;
    const parent = this.#messages.at(-1) ?? user;
    return {
      id: crypto.randomUUID(),
      sessionKey,
      parentId: parent.id,
      depth: parent.depth + 1,
      timestamp: now(),
      runId,
      ...this.#getOutside(),
      ...fields,
    };
  }

  #getOutside(): { outside?: string[] } {
    const sources = this.#run.sources?.() ?? [];
    return sources.length > 0 ? { outside: [...sources] } : {};
  }

  #push(user: MessageRecord, fields: MessageFields): void {
    this.#messages.push(this.#createMessage(user, fields));
  }

  /** In the order of the calls. The next provider that reads this branch would reject a call without a result. */
  #addResults(user: MessageRecord): void {
    for (const { id, tool } of this.#messages.at(-1)?.toolCalls ?? [])
      this.#push(user, { role: 'tool', content: UNFINISHED_RESULT, ...this.#results.get(id), toolCallId: id, name: tool });
    this.#results.clear();
  }
}

/** The part of a step's message that is stored during the run. */
function toStepOutput({ content, toolCalls, model, timestamp, reasoning, outside, providerState }: MessageRecord): RunStep['said'] {
  return {
    ...{ content, toolCalls, model, timestamp },
    ...(reasoning ? { reasoning } : {}),
    ...(outside ? { outside } : {}),
    ...(providerState ? { providerState } : {}),
  };
}

/**
 * The steps of a run for the journal. If they are too long, results are truncated and thoughts omitted; undefined if they are still too
 * long. `underWay`: results of the last step's calls.
 */
function toSharedSteps(messages: readonly MessageRecord[], underWay: ReadonlyMap<string, StepResult['result']>): SharedStep[] | undefined {
  const steps: SharedStep[] = [];
  for (const message of messages) {
    const { role, toolCallId, content, timestamp, outside, readSources } = message;
    if (role === 'assistant') steps.push({ said: toStepOutput(message), results: [] });
    else if (toolCallId !== undefined)
      steps
        .at(-1)
        ?.results.push([toolCallId, { content, timestamp, ...(outside ? { outside } : {}), ...(readSources ? { readSources } : {}) }]);
  }
  steps.at(-1)?.results.push(...underWay);
  const isShort = (shared: readonly SharedStep[]): boolean => JSON.stringify(shared).length <= MAX_SHARED_CHARS;
  if (isShort(steps)) return steps;
  const cut = steps.map(toTruncated);
  return isShort(cut) ? cut : undefined;
}
