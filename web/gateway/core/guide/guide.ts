import type { Clock } from '../clock.ts';
import { kindOf, READER } from '../documents/kinds.ts';
import { type ModelEvent, type ModelMessage, type ModelRequest, type Provider, type ToolSpec } from '../providers/provider.ts';
import { pause } from '../providers/watchdog.ts';
import { MessageSearch } from '../retrieval/message-search.ts';
import { answer, FOOTER, type GuideSources, HELP } from './answer.ts';
import { GUIDE } from './later.ts';
import { type ListedTool, readCommand, toolList } from './commands.ts';
import { pieces } from './pieces.ts';
import { renderResult } from './render.ts';
import { cut, refuseUnsupported } from './wishes.ts';

/** Milliseconds between two pieces, so that an answer streams in instead of appearing at once. */
const PACE_MS = 6;

/** Sources for callers other than the owner, to whom memories and chats belong. */
const NOTHING_OWN: GuideSources = { memories: () => Promise.resolve([]), messages: () => Promise.resolve([]) };
type KnownTool = ListedTool & { modelName?: string };

/** Agent whose memory is searched if the request names none. */
const NOBODY = 'main';

export interface GuideOptions {
  clock: Clock;
  /** Sources for an agent. */
  sources(agentId: string): GuideSources;
  /** All existing tools, to distinguish tools that are unavailable here from unknown ones; only those of the request may be run. */
  tools?: () => readonly KnownTool[] | Promise<readonly KnownTool[]>;
  /** Milliseconds between pieces, at most 8; 0 disables pacing. */
  paceMs?: number;
}

/**
 * The provider that is always available: answers by retrieval from the product's docs, memories and earlier messages, and calls tools on
 * `/tool name {json}`. It runs only tools that the request offers, and says that it is not a model. The same question over the same data
 * gives the same answer.
 */
export class GuideProvider implements Provider {
  readonly id = GUIDE.id;
  readonly name = GUIDE.name;
  readonly models = GUIDE.models;
  readonly #clock: Clock;
  readonly #sources: GuideOptions['sources'];
  readonly #tools: GuideOptions['tools'] & {};
  readonly #paceMs: number;
  readonly #search = new MessageSearch();

  constructor({ clock, sources, tools = () => [], paceMs = PACE_MS }: GuideOptions) {
    this.#clock = clock;
    this.#sources = sources;
    this.#tools = tools;
    this.#paceMs = Math.min(8, paceMs);
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    signal.throwIfAborted();
    refuseUnsupported(request);
    const reply = await this.#reply(request);
    signal.throwIfAborted();
    if (typeof reply !== 'string') {
      yield reply;
      yield { type: 'finish', reason: 'tool_calls' };
      return;
    }
    const { text: shown, reason } = cut(reply, request);
    for (const text of pieces(shown)) {
      yield { type: 'text', text };
      if (this.#paceMs > 0) await pause(this.#clock, this.#paceMs, signal);
      signal.throwIfAborted();
    }
    yield { type: 'finish', reason };
  }

  async #reply({
    messages,
    tools: all = [],
    toolChoice,
    stranger,
    agentId = NOBODY,
  }: ModelRequest): Promise<string | Extract<ModelEvent, { type: 'tool_call' }>> {
    const tools = toolChoice === 'none' ? [] : all;
    const results = trailingResults(messages);
    if (results.length > 0) return results.map(renderResult).join('\n\n');
    const last = messages.findLast(({ role }) => role === 'user');
    const question = last ? textOf(last).trim() : '';
    const command = readCommand(question, question.startsWith('/tool') ? await this.#withSummaries(tools) : tools);
    switch (command?.kind) {
      case 'help':
        return HELP;
      case 'tools':
        return this.#listTools(await this.#withSummaries(tools));
      case 'refused':
        return command.why;
      case 'run':
        return {
          type: 'tool_call',
          call: { id: `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`, tool: command.tool, args: command.args },
        };
      case undefined: {
        const text = await answer(question, stranger ? NOTHING_OWN : this.#sources(agentId), this.#search);
        const attached = noteOfAttached(last?.content ?? '', tools);
        const noted = attached === undefined ? text : `${attached}\n\n${text}`;
        // Only in a chat's first answer; the greeting contains it already.
        const first = !messages.some(({ role }) => role === 'assistant');
        return first && !/language model/.test(noted) ? `${noted}\n\n${FOOTER}` : noted;
      }
    }
  }

  async #withSummaries(offered: readonly ToolSpec[]): Promise<ListedTool[]> {
    const summaries = new Map((await this.#tools()).map(({ name, modelName = name, summary }) => [modelName, summary]));
    return offered.map((tool) => {
      const summary = summaries.get(tool.name);
      return summary === undefined ? tool : { ...tool, summary };
    });
  }

  async #listTools(offered: readonly ListedTool[]): Promise<string> {
    if (offered.length > 0) return `These tools can be run by \`/tool <name> {json}\`:\n\n${toolList(offered)}`;
    const all = await this.#tools();
    return all.length > 0
      ? `Tools cannot be run from here. In the app there are: ${all.map(({ name }) => `\`${name}\``).join(', ')}.`
      : 'There are no tools here.';
  }
}

function textOf({ content }: ModelMessage): string {
  return typeof content === 'string' ? content : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** The tool results at the end of the conversation: the guide's calls have been carried out. */
function trailingResults(messages: readonly ModelMessage[]): { tool: string; content: string }[] {
  const from = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls);
  return messages.slice(from).map((message) => ({
    tool: message.name ?? calls.find(({ id }) => id === message.toolCallId)?.tool ?? 'tool',
    content: textOf(message),
  }));
}

/** A note about the files in a message; undefined if there are none. */
function noteOfAttached(content: ModelMessage['content'], tools: readonly ToolSpec[]): string | undefined {
  const parts = typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');
  for (const part of parts) {
    const kind = part.type === 'file' ? kindOf(part.filename, part.mimeType) : undefined;
    const reader = kind && tools.find(({ name }) => name === READER[kind]);
    if (reader) return `I can’t read attachments directly. Run \`/tool ${reader.name} {}\` to get the text of this one.`;
  }
  return parts.length > 0 ? 'I can’t read attachments. A model with vision can.' : undefined;
}
