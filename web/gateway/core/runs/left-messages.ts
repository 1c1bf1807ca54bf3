import { mergeSources } from '../trust/sources.ts';
import type { MessageRecord, RunProgress, RunStep, SharedStep, StepResult } from '../vault.ts';
import { toSaid, toSharedSteps } from './shared-steps.ts';

type Fields = Pick<MessageRecord, 'role' | 'content'> & Partial<MessageRecord>;

/** Replaces a missing result. */
const NO_RESULT = '{"error":"the run ended before the tool did"}';

interface RunOfMessages {
  sessionKey: string;
  runId: string;
  now(): number;
  /** Outside sources in the run's context so far. */
  sources?(): readonly string[];
}

/** Messages that a run stores after the one that it answers: tool calls, their results, and finally the reply. */
export class LeftMessages {
  readonly #all: MessageRecord[] = [];
  /** Results of the last step's calls so far, by the calls' ids. */
  readonly #results = new Map<string, StepResult['result']>();
  readonly #run: RunOfMessages;

  constructor(run: RunOfMessages) {
    this.#run = run;
  }

  /** The last step if it called tools. */
  get underWay(): RunStep | undefined {
    const last = this.#all.at(-1);
    if (!last?.toolCalls) return undefined;
    return { runId: this.#run.runId, at: last.depth, said: toSaid(last), results: new Map(this.#results) };
  }

  /** State that another host needs to end the run. `chars`: length of the text of all steps. */
  progress(chars: number): RunProgress {
    const steps = toSharedSteps(this.#all, this.#results);
    return { outside: this.#outside().outside ?? [], chars, ...(steps ? { steps } : {}) };
  }

  /** Restores steps stored by an earlier host. */
  replay(user: MessageRecord, steps: readonly (RunStep | SharedStep)[]): void {
    for (const { said, results } of steps) {
      this.step(user, said);
      for (const [callId, result] of results) this.#results.set(callId, result);
    }
  }

  get count(): number {
    return this.#all.length;
  }

  /** Adds a model's message of a step, after the results of the previous step. */
  step(user: MessageRecord, fields: Omit<Fields, 'role'>): void {
    this.#answerCalls(user);
    if (fields.toolCalls?.length) this.#push(user, { role: 'assistant', ...fields });
  }

  /**
   * Adds the result of a call of the last step, in any order. Returns it in the form stored in case the host dies; undefined if the step
   * has no such call.
   */
  result(callId: string, content: MessageRecord['content']): StepResult | undefined {
    const result = { content, timestamp: this.#run.now(), ...this.#outside() };
    this.#results.set(callId, result);
    const { depth = 0, toolCalls = [] } = this.#all.at(-1) ?? {};
    const place = toolCalls.findIndex(({ id }) => id === callId);
    // Depth of the message for this result.
    return place === -1 ? undefined : { runId: this.#run.runId, at: depth + 1 + place, callId, result };
  }

  /** All messages, ending with the reply. */
  with(user: MessageRecord, fields: Omit<Fields, 'role'>): { messages: MessageRecord[]; replyId: string } {
    this.#answerCalls(user);
    // For a run started by an earlier host, the steps contain all known sources.
    const outside = mergeSources(...this.#all.map((message) => message.outside), this.#outside().outside);
    const reply = this.#next(user, { role: 'assistant', ...fields, ...(outside.length > 0 ? { outside } : {}) });
    return { messages: [...this.#all, reply], replyId: reply.id };
  }

  #next(user: MessageRecord, fields: Fields): MessageRecord {
    const { sessionKey, runId, now } = this.#run;
    const parent = this.#all.at(-1) ?? user;
    return {
      id: crypto.randomUUID(),
      sessionKey,
      parentId: parent.id,
      depth: parent.depth + 1,
      timestamp: now(),
      runId,
      ...this.#outside(),
      ...fields,
    };
  }

  #outside(): { outside?: string[] } {
    const sources = this.#run.sources?.() ?? [];
    return sources.length > 0 ? { outside: [...sources] } : {};
  }

  #push(user: MessageRecord, fields: Fields): void {
    this.#all.push(this.#next(user, fields));
  }

  /** In the order of the calls. The next provider that reads this branch would reject a call without a result. */
  #answerCalls(user: MessageRecord): void {
    for (const { id, tool } of this.#all.at(-1)?.toolCalls ?? [])
      this.#push(user, { role: 'tool', content: NO_RESULT, ...this.#results.get(id), toolCallId: id, name: tool });
    this.#results.clear();
  }
}
