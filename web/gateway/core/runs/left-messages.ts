import { mergeSources } from '../trust/sources.ts';
import type { MessageRecord, RunProgress, RunStep, SharedStep, StepResult } from '../vault.ts';
import { toSaid, toSharedSteps } from './shared-steps.ts';

type Fields = Pick<MessageRecord, 'role' | 'content'> & Partial<MessageRecord>;

/** What stands in the place of a result that did not come. */
const NO_RESULT = '{"error":"the run ended before the tool did"}';

interface RunOfMessages {
  sessionKey: string;
  runId: string;
  now(): number;
  /** Outside sources in the run's context so far. */
  sources?(): readonly string[];
}

/** The messages that a run leaves below the one that it answers: calls of tools, their results, and at the end the reply. */
export class LeftMessages {
  readonly #all: MessageRecord[] = [];
  /** Results that have come of the last step's calls, by the calls' ids. */
  readonly #results = new Map<string, StepResult['result']>();
  readonly #run: RunOfMessages;

  constructor(run: RunOfMessages) {
    this.#run = run;
  }

  /** The last step, where it called tools. */
  get underWay(): RunStep | undefined {
    const last = this.#all.at(-1);
    if (!last?.toolCalls) return undefined;
    return { runId: this.#run.runId, at: last.depth, said: toSaid(last), results: new Map(this.#results) };
  }

  /** What another host needs to end the run. `chars`: length of the text of all steps. */
  progress(chars: number): RunProgress {
    const steps = toSharedSteps(this.#all, this.#results);
    return { outside: this.#outside().outside ?? [], chars, ...(steps ? { steps } : {}) };
  }

  /** Steps as an earlier host kept them. */
  replay(user: MessageRecord, steps: readonly (RunStep | SharedStep)[]): void {
    for (const { said, results } of steps) {
      this.step(user, said);
      for (const [callId, result] of results) this.#results.set(callId, result);
    }
  }

  get count(): number {
    return this.#all.length;
  }

  /** What a model said before its next step; the results of the step before come first. */
  step(user: MessageRecord, fields: Omit<Fields, 'role'>): void {
    this.#answerCalls(user);
    if (fields.toolCalls?.length) this.#push(user, { role: 'assistant', ...fields });
  }

  /** Of a call of the last step; in whichever order they come. As it is kept for a host that dies; undefined where the step has no such call. */
  result(callId: string, content: MessageRecord['content']): StepResult | undefined {
    const result = { content, timestamp: this.#run.now(), ...this.#outside() };
    this.#results.set(callId, result);
    const { depth = 0, toolCalls = [] } = this.#all.at(-1) ?? {};
    const place = toolCalls.findIndex(({ id }) => id === callId);
    // As deep as the message will be that it becomes.
    return place === -1 ? undefined : { runId: this.#run.runId, at: depth + 1 + place, callId, result };
  }

  /** All of them, the reply at the end. */
  with(user: MessageRecord, fields: Omit<Fields, 'role'>): { messages: MessageRecord[]; replyId: string } {
    this.#answerCalls(user);
    // Of a run that an earlier host began, all that is known of its sources is in its steps.
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

  /** In the calls' order. A call without its result would be refused by the next provider that reads this branch. */
  #answerCalls(user: MessageRecord): void {
    for (const { id, tool } of this.#all.at(-1)?.toolCalls ?? [])
      this.#push(user, { role: 'tool', content: NO_RESULT, ...this.#results.get(id), toolCallId: id, name: tool });
    this.#results.clear();
  }
}
