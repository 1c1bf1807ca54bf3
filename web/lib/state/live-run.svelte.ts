import type { HistoryMessage, Reasoning, RecalledMemory } from '#shared/rpc/records.ts';
import type { EventPayload } from '#shared/rpc/events.ts';
import type { RunUnder } from '#shared/rpc/methods/chat.ts';
import type { Segment, ToolUse } from '#lib/chat/items.ts';
import { replyText, stateOf } from '#lib/chat/items.ts';

/** Text is shown at most this often, milliseconds: fast enough to read along, and half the frames are left to scrolling. */
const SHOW_EVERY_MS = 30;

/** A reply that is being written, shown at a steady pace however fast it comes. */
export class LiveRun {
  readonly runId: string;
  readonly startedAt = Date.now();
  segments = $state.raw<Segment[]>([]);
  /** Memories that were recalled for the model. */
  recalled = $state.raw<readonly RecalledMemory[]>([]);
  /** Stop was asked for. */
  stopping = $state(false);

  /** Received segments; `segments` follows with the next frame. */
  #parts: Segment[] = [];
  /** Tools of the calls that the model is writing: they stand below what has come. */
  #pending: readonly string[] = [];
  /** Text received in all, in UTF-16 units, over all steps. */
  #length = 0;
  /** Thoughts received in all, likewise. */
  #thought = 0;
  #thinksSince = 0;
  #frame: number | undefined;
  #shownAt = 0;

  constructor(runId: string) {
    this.runId = runId;
    this.#show();
  }

  /** Takes over what has come so far; what is here already stays. */
  catchUp({ text, reasoning, calls, pending }: RunUnder): void {
    this.think(reasoning, 0);
    for (const { id: toolCallId, tool, args, at, result } of calls) {
      this.add(text.slice(0, at), 0);
      this.toolCall({ toolCallId, tool, args });
      if (result !== null) this.toolResult({ toolCallId, result });
    }
    this.add(text, 0);
    this.toolsPending(pending);
  }

  /** Adds a piece that begins at `offset` of the run's text. False when a piece before it is missing. */
  add(delta: string, offset: number): boolean {
    if (offset > this.#length) return false;
    const fresh = delta.slice(this.#length - offset);
    if (fresh !== '') this.#append(fresh);
    return true;
  }

  /** Adds a piece of what the model thinks. One that is missing before it is read with what is stored. */
  think(delta: string, offset: number): void {
    const fresh = delta.slice(Math.max(0, this.#thought - offset));
    if (fresh === '') return;
    this.#thought = offset + delta.length;
    const last = this.#parts.at(-1);
    if (last?.kind === 'reasoning') this.#parts[this.#parts.length - 1] = { ...last, text: last.text + fresh };
    else {
      this.#thinksSince = Date.now();
      this.#parts.push({ kind: 'reasoning', text: fresh, ms: null });
    }
    this.#show();
  }

  toolsPending(tools: readonly string[]): void {
    if (tools.length > 0) this.#thoughtEnds();
    this.#pending = tools;
    this.#show();
  }

  toolCall({ toolCallId, tool, args }: Pick<EventPayload<'chat.tool_call'>, 'toolCallId' | 'tool' | 'args'>): void {
    if (this.#use(toolCallId)) return;
    this.#thoughtEnds();
    this.#pending = [];
    this.#parts.push({ kind: 'tool', use: { id: toolCallId, tool, args, result: null, state: 'running' } });
    this.#show();
  }

  toolResult({ toolCallId, result }: Pick<EventPayload<'chat.tool_result'>, 'toolCallId' | 'result'>): void {
    const use = this.#use(toolCallId);
    if (use?.result !== null) return;
    const at = this.#parts.findIndex((part) => part.kind === 'tool' && part.use === use);
    const shown = typeof result === 'string' ? result : JSON.stringify(result);
    this.#parts[at] = { kind: 'tool', use: { ...use, result: shown, state: stateOf(shown) } };
    this.#show();
  }

  /** The text so far, as it would be copied. */
  get text(): string {
    return replyText(this.#parts);
  }

  /** The run as the messages that the gateway has stored, until they are read from there. */
  toMessages(end: Pick<HistoryMessage, 'aborted' | 'error' | 'interrupted' | 'usage'> & { id: string }): HistoryMessage[] {
    const timestamp = Date.now();
    const messages: HistoryMessage[] = [];
    let content = '';
    let thought: { reasoning?: Reasoning } = {};
    for (const [index, part] of this.#parts.entries()) {
      if (part.kind === 'reasoning') {
        thought = { reasoning: { text: part.text, ms: part.ms ?? 0 } };
        continue;
      }
      if (part.kind === 'text') {
        content += part.text;
        continue;
      }
      // A reply's files are read with what is stored.
      if (part.kind === 'files' || part.kind === 'left-out') continue;
      const { id, tool, args, result } = part.use;
      messages.push({ id: `${this.runId}:${index}`, role: 'assistant', content, timestamp, ...thought, toolCalls: [{ id, tool, args }] });
      messages.push({
        id: `${this.runId}:${index}r`,
        role: 'tool',
        content: result ?? '{"error":"the run ended before the tool did"}',
        timestamp,
        toolCallId: id,
        name: tool,
      });
      content = '';
      thought = {};
    }
    const recalled = this.recalled.length > 0 ? { recalled: [...this.recalled] } : {};
    return [...messages, { role: 'assistant', content, timestamp, ...thought, ...recalled, ...end }];
  }

  /** Shows at once what has come; nothing is shown later. */
  settle(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    this.#thoughtEnds();
    this.segments = [...this.#parts];
  }

  #thoughtEnds(): void {
    const last = this.#parts.at(-1);
    if (last?.kind === 'reasoning' && last.ms === null)
      this.#parts[this.#parts.length - 1] = { ...last, ms: Date.now() - this.#thinksSince };
  }

  #use(id: string): ToolUse | undefined {
    for (const part of this.#parts) if (part.kind === 'tool' && part.use.id === id) return part.use;
    return undefined;
  }

  #append(text: string): void {
    this.#length += text.length;
    this.#thoughtEnds();
    const last = this.#parts.at(-1);
    // A new object each time: what is shown compares by identity.
    if (last?.kind === 'text') this.#parts[this.#parts.length - 1] = { kind: 'text', text: last.text + text };
    else this.#parts.push({ kind: 'text', text });
    this.#show();
  }

  #show(): void {
    this.#frame ??= requestAnimationFrame((now) => {
      this.#frame = undefined;
      if (now - this.#shownAt < SHOW_EVERY_MS) return this.#show();
      this.#shownAt = now;
      this.segments = [...this.#parts, ...this.#pending.map(pendingCall)];
    });
  }
}

const pendingCall = (tool: string, at: number): Segment => ({
  kind: 'tool',
  use: { id: `pending:${at}`, tool, args: {}, result: null, state: 'pending' },
});
