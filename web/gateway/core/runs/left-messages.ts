import type { MessageRecord } from '../vault.ts';

type Fields = Pick<MessageRecord, 'role' | 'content'> & Partial<MessageRecord>;

/** The messages that a run leaves below the one that it answers: calls of tools, their results, and at the end the reply. */
export class LeftMessages {
  readonly #all: MessageRecord[] = [];
  readonly #run: { sessionKey: string; runId: string; now(): number };

  constructor(run: { sessionKey: string; runId: string; now(): number }) {
    this.#run = run;
  }

  get count(): number {
    return this.#all.length;
  }

  push(user: MessageRecord, fields: Fields): void {
    this.#all.push(this.#next(user, fields));
  }

  /** All of them, the reply at the end. */
  with(user: MessageRecord, fields: Omit<Fields, 'role'>): { messages: MessageRecord[]; replyId: string } {
    this.#answerCalls(user);
    const reply = this.#next(user, { role: 'assistant', ...fields });
    return { messages: [...this.#all, reply], replyId: reply.id };
  }

  #next(user: MessageRecord, fields: Fields): MessageRecord {
    const { sessionKey, runId, now } = this.#run;
    const parent = this.#all.at(-1) ?? user;
    return { id: crypto.randomUUID(), sessionKey, parentId: parent.id, depth: parent.depth + 1, timestamp: now(), runId, ...fields };
  }

  /** A call without its result would be refused by the next provider that reads this branch. */
  #answerCalls(user: MessageRecord): void {
    const content = '{"error":"the run ended before the tool did"}';
    for (const call of this.#all.at(-1)?.toolCalls ?? []) this.push(user, { role: 'tool', content, toolCallId: call.id, name: call.tool });
  }
}
