import type { Clock } from '#shared/async/clock.ts';
import { getDocumentKind, READER_TOOLS } from '../../documents/document-kinds.ts';
import { type ModelEvent, type ModelMessage, type ModelRequest, type Provider, type ToolSpec } from '../../providers/provider.ts';
import { sleep } from '#shared/async/watchdog.ts';
import { MessageSearch } from '../knowledge/recall/message-search.ts';
import { answerQuestion, FOOTER, type GuideSources, HELP } from './guide-answer.ts';
import { GUIDE } from './guide-entry.ts';
import { type ListedTool, parseCommand, formatToolList } from './commands.ts';
import { splitPieces } from './split-pieces.ts';
import { renderResult } from './render-result.ts';
import { truncateReply, rejectUnsupported } from './guide-options.ts';

/** Milliseconds between two pieces, so that an answer streams in instead of appearing at once. */
const PACE_MS = 6;

/** Sources for callers other than the owner, to whom memories and chats belong. */
const NO_SOURCES: GuideSources = { memories: () => Promise.resolve([]), messages: () => Promise.resolve([]) };
type KnownTool = ListedTool & { modelName?: string };

/** Agent whose memory is searched if the request names none. */
const DEFAULT_AGENT_ID = 'main';

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
    rejectUnsupported(request);
    const reply = await this.#reply(request);
    signal.throwIfAborted();
    if (typeof reply !== 'string') {
      yield reply;
      yield { type: 'finish', reason: 'tool_calls' };
      return;
    }
    const { text: truncated, reason } = truncateReply(reply, request);
    for (const text of splitPieces(truncated)) {
      yield { type: 'text', text };
      if (this.#paceMs > 0) await sleep(this.#clock, this.#paceMs, signal);
      signal.throwIfAborted();
    }
    yield { type: 'finish', reason };
  }

  async #reply({
    messages,
    tools: all = [],
    toolChoice,
    stranger,
    agentId = DEFAULT_AGENT_ID,
  }: ModelRequest): Promise<string | Extract<ModelEvent, { type: 'tool_call' }>> {
    const tools = toolChoice === 'none' ? [] : all;
    const results = getTrailingResults(messages);
    if (results.length > 0) return results.map(renderResult).join('\n\n');
    const last = messages.findLast(({ role }) => role === 'user');
    const question = last ? getText(last).trim() : '';
    const command = parseCommand(question, question.startsWith('/tool') ? await this.#withSummaries(tools) : tools);
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
        const text = await answerQuestion(question, stranger ? NO_SOURCES : this.#sources(agentId), this.#search);
        const attached = describeAttachments(last?.content ?? '', tools);
        const replyText = attached === undefined ? text : `${attached}\n\n${text}`;
        // Only in a chat's first answer; the greeting contains it already.
        const first = !messages.some(({ role }) => role === 'assistant');
        return first && !/language model/.test(replyText) ? `${replyText}\n\n${FOOTER}` : replyText;
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
    if (offered.length > 0) return `These tools can be run by \`/tool <name> {json}\`:\n\n${formatToolList(offered)}`;
    const all = await this.#tools();
    return all.length > 0
      ? `Tools cannot be run from here. In the app there are: ${all.map(({ name }) => `\`${name}\``).join(', ')}.`
      : 'There are no tools here.';
  }
}

function getText({ content }: ModelMessage): string {
  return typeof content === 'string' ? content : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** The tool results at the end of the conversation: the guide's calls have been carried out. */
function getTrailingResults(messages: readonly ModelMessage[]): { tool: string; content: string }[] {
  const from = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls);
  return messages.slice(from).map((message) => ({
    tool: message.name ?? calls.find(({ id }) => id === message.toolCallId)?.tool ?? 'tool',
    content: getText(message),
  }));
}

/** A note about the files in a message; undefined if there are none. */
function describeAttachments(content: ModelMessage['content'], tools: readonly ToolSpec[]): string | undefined {
  const parts = typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');
  for (const part of parts) {
    const kind = part.type === 'file' ? getDocumentKind(part.filename, part.mimeType) : undefined;
    const reader = kind && tools.find(({ name }) => name === READER_TOOLS[kind]);
    if (reader) return `I can’t read attachments directly. Run \`/tool ${reader.name} {}\` to get the text of this one.`;
  }
  return parts.length > 0 ? 'I can’t read attachments. A model with vision can.' : undefined;
}
