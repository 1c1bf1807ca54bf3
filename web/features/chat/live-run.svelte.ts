import type { MarkerFilter } from '#shared/citations/marker-filter.ts';
import type { CitedSource } from '#shared/rpc/passage.ts';
import type { HistoryMessage, Reasoning, RecalledMemory } from '#shared/rpc/record-schemas.ts';
import type { EventPayload } from '#shared/rpc/events.ts';
import type { RunningRun } from '#shared/rpc/methods/chat-contracts.ts';
import { UNFINISHED_RESULT } from '#shared/unfinished-result.ts';
import type { ReplySegment, ToolUse } from '#app/state/chat-items.ts';
import { getReplyText, toToolState } from '#app/state/chat-items.ts';

/** Minimum time between two renders, in milliseconds: fast enough to read along, and half of the frames stay free for scrolling. */
const RENDER_INTERVAL_MS = 30;

type TextSegment = Extract<ReplySegment, { kind: 'text' }>;

/** The text of one segment as far as it was read, without the markers of its model. */
interface VisibleText {
  filter: MarkerFilter;
  /** Number of characters of the received text that were read. */
  read: number;
  text: string;
}

/** A reply in progress, rendered at a steady pace however fast it arrives. */
export class LiveRun {
  readonly runId: string;
  readonly startedAt = Date.now();
  segments = $state.raw<ReplySegment[]>([]);
  /** Memories that were recalled for the model. */
  recalled = $state.raw<readonly RecalledMemory[]>([]);
  /** Stop was requested. */
  isStopping = $state(false);

  /** Received segments; `segments` follows with the next frame. */
  #received: ReplySegment[] = [];
  /** Tools of calls that the model is writing, shown below the received segments. */
  #pendingTools: readonly string[] = [];
  /** Texts that the reply can cite, by number. */
  readonly #sources = new Map<number, CitedSource>();
  /** Creates a filter that removes markers; loaded with the first sources. */
  #createFilter: (() => MarkerFilter) | undefined;
  /** Texts without markers, by the index of their segment. */
  readonly #visible = new Map<number, VisibleText>();
  /** Length of the received text over all steps, in UTF-16 units. */
  #textLength = 0;
  /** Length of the received reasoning, likewise. */
  #reasoningLength = 0;
  #reasoningSince = 0;
  #frame: number | undefined;
  #renderedAt = 0;

  constructor(runId: string) {
    this.runId = runId;
    this.#render();
  }

  /** Applies the state of a running run; segments received before stay. */
  catchUp({ text, reasoning, calls, pending, sources = [] }: RunningRun): void {
    this.addSources(sources);
    this.addReasoning(reasoning, 0);
    for (const { id: toolCallId, tool, args, at, result } of calls) {
      this.addText(text.slice(0, at), 0);
      this.addToolCall({ toolCallId, tool, args });
      if (result !== null) this.setToolResult({ toolCallId, result });
    }
    this.addText(text, 0);
    this.setPendingTools(pending);
  }

  /** Adds text that begins at `offset` of the run's text. Returns false if text before it is missing. */
  addText(delta: string, offset: number): boolean {
    if (offset > this.#textLength) return false;
    const fresh = delta.slice(this.#textLength - offset);
    if (fresh !== '') this.#append(fresh);
    return true;
  }

  /** Adds reasoning. If a part before it is missing, it is loaded with the stored message. */
  addReasoning(delta: string, offset: number): void {
    const fresh = delta.slice(Math.max(0, this.#reasoningLength - offset));
    if (fresh === '') return;
    this.#reasoningLength = offset + delta.length;
    const last = this.#received.at(-1);
    if (last?.kind === 'reasoning') this.#received[this.#received.length - 1] = { ...last, text: last.text + fresh };
    else {
      this.#reasoningSince = Date.now();
      this.#received.push({ kind: 'reasoning', text: fresh, ms: null });
    }
    this.#render();
  }

  setPendingTools(tools: readonly string[]): void {
    if (tools.length > 0) this.#endReasoning();
    this.#pendingTools = tools;
    this.#render();
  }

  addToolCall({ toolCallId, tool, args }: Pick<EventPayload<'chat.tool_call'>, 'toolCallId' | 'tool' | 'args'>): void {
    if (this.#findToolUse(toolCallId)) return;
    this.#endReasoning();
    this.#pendingTools = [];
    this.#received.push({ kind: 'tool', use: { id: toolCallId, tool, args, result: null, state: 'running' } });
    this.#render();
  }

  setToolResult({ toolCallId, result }: Pick<EventPayload<'chat.tool_result'>, 'toolCallId' | 'result'>): void {
    const use = this.#findToolUse(toolCallId);
    if (use?.result !== null) return;
    const at = this.#received.findIndex((segment) => segment.kind === 'tool' && segment.use === use);
    const resultText = typeof result === 'string' ? result : JSON.stringify(result);
    this.#received[at] = { kind: 'tool', use: { ...use, result: resultText, state: toToolState(resultText) } };
    this.#render();
  }

  /** Adds texts that the reply can cite. The markers of its model then become marks. */
  addSources(sources: readonly CitedSource[]): void {
    if (sources.length === 0) return;
    for (const source of sources) this.#sources.set(source.number, source);
    // Markers stay as text if this cannot be loaded; the stored reply has none.
    if (!this.#createFilter) void this.#loadFilter().catch(() => {});
  }

  async #loadFilter(): Promise<void> {
    const { MarkerFilter } = await import('#shared/citations/marker-filter.ts');
    this.#createFilter = () => new MarkerFilter({ isKnown: (number) => this.#sources.has(number) });
    this.#render();
  }

  /** The text so far, as it would be copied. */
  get text(): string {
    return getReplyText(this.#toVisible());
  }

  /** The run as messages, shown until the stored ones are loaded. */
  toMessages(end: Pick<HistoryMessage, 'aborted' | 'error' | 'interrupted' | 'usage'> & { id: string }): HistoryMessage[] {
    const timestamp = Date.now();
    const messages: HistoryMessage[] = [];
    let content = '';
    let reasoning: { reasoning?: Reasoning } = {};
    for (const [index, segment] of this.#toVisible().entries()) {
      if (segment.kind === 'reasoning') {
        reasoning = { reasoning: { text: segment.text, ms: segment.ms ?? 0 } };
        continue;
      }
      if (segment.kind === 'text') {
        content += segment.text;
        continue;
      }
      // Files of a reply are loaded with the stored message.
      if (segment.kind === 'files' || segment.kind === 'left-out') continue;
      const { id, tool, args, result } = segment.use;
      messages.push({ id: `${this.runId}:${index}`, role: 'assistant', content, timestamp, ...reasoning, toolCalls: [{ id, tool, args }] });
      messages.push({
        id: `${this.runId}:${index}r`,
        role: 'tool',
        content: result ?? UNFINISHED_RESULT,
        timestamp,
        toolCallId: id,
        name: tool,
      });
      content = '';
      reasoning = {};
    }
    const recalled = this.recalled.length > 0 ? { recalled: [...this.recalled] } : {};
    return [...messages, { role: 'assistant', content, timestamp, ...reasoning, ...recalled, ...end }];
  }

  /** Shows all received segments immediately and stops rendering. */
  settle(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    this.#endReasoning();
    this.segments = this.#toVisible();
  }

  /** The received segments, with marks instead of markers. */
  #toVisible(): ReplySegment[] {
    return this.#received.map((segment, index) =>
      segment.kind === 'text' && this.#createFilter ? this.#withMarks(segment, index, this.#createFilter) : segment,
    );
  }

  #withMarks({ text, ...segment }: TextSegment, index: number, createFilter: () => MarkerFilter): TextSegment {
    let visible = this.#visible.get(index);
    if (!visible) this.#visible.set(index, (visible = { filter: createFilter(), read: 0, text: '' }));
    visible.text += visible.filter.push(text.slice(visible.read));
    visible.read = text.length;
    const citations = visible.filter.markers.flatMap(({ at, numbers }) => numbers.map((number) => ({ end: at, number })));
    return { ...segment, text: visible.text, ...(citations.length > 0 ? { citations, sources: [...this.#sources.values()] } : {}) };
  }

  #endReasoning(): void {
    const last = this.#received.at(-1);
    if (last?.kind === 'reasoning' && last.ms === null)
      this.#received[this.#received.length - 1] = { ...last, ms: Date.now() - this.#reasoningSince };
  }

  #findToolUse(id: string): ToolUse | undefined {
    for (const segment of this.#received) if (segment.kind === 'tool' && segment.use.id === id) return segment.use;
    return undefined;
  }

  #append(text: string): void {
    this.#textLength += text.length;
    this.#endReasoning();
    const last = this.#received.at(-1);
    // A new object each time, since components compare segments by identity.
    if (last?.kind === 'text') this.#received[this.#received.length - 1] = { kind: 'text', text: last.text + text };
    else this.#received.push({ kind: 'text', text });
    this.#render();
  }

  #render(): void {
    this.#frame ??= requestAnimationFrame((now) => {
      this.#frame = undefined;
      if (now - this.#renderedAt < RENDER_INTERVAL_MS) return this.#render();
      this.#renderedAt = now;
      this.segments = [...this.#toVisible(), ...this.#pendingTools.map(toPendingCall)];
    });
  }
}

const toPendingCall = (tool: string, at: number): ReplySegment => ({
  kind: 'tool',
  use: { id: `pending:${at}`, tool, args: {}, result: null, state: 'pending' },
});
