import type { Clock } from '#shared/async/clock.ts';
import { getDocumentKind, READER_TOOLS } from '../../documents/document-kinds.ts';
import {
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  type Provider,
  type ToolSpec,
  UnsupportedOptionError,
} from '../../providers/provider.ts';
import { sleep } from '#shared/async/watchdog.ts';
import { MessageSearch } from '../knowledge/recall/message-search.ts';
import { answerQuestion, FOOTER, type GuideSources, HELP } from './guide-answer.ts';
import { GUIDE } from './guide-entry.ts';
import { splitPieces } from './split-pieces.ts';
import { renderResult } from './render-result.ts';
import { parseJson } from '#shared/parse-json.ts';
import { estimateTokens } from '#shared/estimate-tokens.ts';

/** A tool with its summary for people, if it is known. */
type ListedTool = ToolSpec & { summary?: string };

/** A request to the guide other than a question. */
type Command =
  | { kind: 'help' }
  | { kind: 'tools' }
  | { kind: 'run'; tool: string; args: Record<string, unknown> }
  /** A command that cannot be carried out, and the text to reply with. */
  | { kind: 'refused'; why: string };

const REMEMBER = /^(?:please\s+)?(?:remember|note)(?:\s+that|:)?\s+(\S[\s\S]*)$/i;

const TIME = /^what(?:'s|’s| is)?\s+(?:the\s+)?(?:current\s+)?(?:time|date|day)(?:\s+is\s+it)?(?:\s+(?:now|today))?\s*\?*$/i;

/** Milliseconds between two pieces, so that an answer streams in instead of appearing at once. */
const PACE_MS = 6;

/** Sources for callers other than the owner, to whom memories and chats belong. */
const NO_SOURCES: GuideSources = { memories: () => Promise.resolve([]), messages: () => Promise.resolve([]) };
type KnownTool = ListedTool & { modelName?: string };

/** Agent whose memory is searched if the request names none. */
const DEFAULT_AGENT_ID = 'main';

interface GuideOptions {
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A call as a person would type it, from the tool's schema. */
function toExampleCall({ name, schema }: ToolSpec): string {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const args = Object.entries(properties).flatMap(([key, property]) => {
    if (!required.includes(key)) return [];
    const type = isObject(property) ? property['type'] : undefined;
    return [[key, type === 'number' || type === 'integer' ? 1 : type === 'boolean' ? true : type === 'array' ? [] : '…'] as const];
  });
  return args.length === 0 ? `/tool ${name}` : `/tool ${name} ${JSON.stringify(Object.fromEntries(args))}`;
}

/** The tools as a Markdown list. */
function formatToolList(tools: readonly ListedTool[]): string {
  return tools.map((tool) => `- \`${toExampleCall(tool)}\`: ${tool.summary ?? tool.description}`).join('\n');
}

function parseToolCommand(input: string, tools: readonly ListedTool[]): Command {
  const [, name = '', json = ''] = /^(\S*)\s*([\s\S]*)$/.exec(input) ?? [];
  if (name === '') return { kind: 'refused', why: `Enter a tool name: \`/tool <name> {json}\`.\n\n${formatToolList(tools)}` };
  const tool = tools.find((tool) => tool.name === name);
  if (!tool) return { kind: 'refused', why: `Unknown tool \`${name.replaceAll('`', '')}\`. Available tools:\n\n${formatToolList(tools)}` };
  let args: unknown;
  try {
    args = json.trim() === '' ? {} : parseJson(json);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      kind: 'refused',
      why: `The arguments of \`${name}\` are not valid JSON (${reason}). For example:\n\n\`${toExampleCall(tool)}\``,
    };
  }
  if (!isObject(args))
    return { kind: 'refused', why: `The arguments of \`${name}\` must be a JSON object. For example:\n\n\`${toExampleCall(tool)}\`` };
  return { kind: 'run', tool: name, args };
}

/** Parses a message as a command; undefined if it is an ordinary question. `tools`: the tools that may be run here. */
function parseCommand(text: string, tools: readonly ListedTool[]): Command | undefined {
  const [, name, rest = ''] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/i.exec(text) ?? [];
  switch (name?.toLowerCase()) {
    case undefined:
      break;
    case 'help':
      return { kind: 'help' };
    case 'tools':
      return { kind: 'tools' };
    case 'tool':
      return tools.length === 0 ? { kind: 'refused', why: 'Tools cannot be run from here.' } : parseToolCommand(rest.trim(), tools);
    default:
      return { kind: 'refused', why: `Unknown command \`/${name}\`. Available: \`/help\`, \`/tools\` and \`/tool <name> {json}\`.` };
  }
  const has = (tool: string): boolean => tools.some((spec) => spec.name === tool);
  const fact = REMEMBER.exec(text)?.[1];
  if (fact && !fact.trim().endsWith('?') && has('memory_add')) return { kind: 'run', tool: 'memory_add', args: { text: fact.trim() } };
  if (TIME.test(text) && has('current_time')) return { kind: 'run', tool: 'current_time', args: {} };
  return undefined;
}

/**
 * Throws `UnsupportedOptionError` for options that only a model can fulfil. Sampling and seed are ignored: the same question always has the same
 * answer.
 */
function rejectUnsupported({
  toolChoice,
  responseFormat,
  reasoningEffort = 'none',
  presencePenalty,
  frequencyPenalty,
  ownOptions,
}: ModelRequest): void {
  const reject = (field: keyof ModelRequest): never => {
    throw new UnsupportedOptionError(field, 'The built-in guide is not a model and cannot do this.');
  };
  if (toolChoice === 'required' || typeof toolChoice === 'object') reject('toolChoice');
  if (responseFormat && !ownOptions?.has('responseFormat')) reject('responseFormat');
  if (reasoningEffort !== 'none' && !ownOptions?.has('reasoningEffort')) reject('reasoningEffort');
  if (presencePenalty) reject('presencePenalty');
  if (frequencyPenalty) reject('frequencyPenalty');
}

/** Cuts the reply at the caller's stop sequence or token limit. */
function truncateReply(reply: string, { stop = [], maxTokens }: ModelRequest): { text: string; reason: 'stop' | 'length' } {
  const ends = stop.map((each) => reply.indexOf(each)).filter((index) => index >= 0);
  const text = reply.slice(0, Math.min(reply.length, ...ends));
  if (maxTokens === undefined || estimateTokens(text) <= maxTokens) return { text, reason: 'stop' };
  // Finds the longest prefix within the limit: a token has one to four characters.
  let [low, high] = [0, Math.min(text.length, maxTokens * 4)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (estimateTokens(text.slice(0, middle)) <= maxTokens) low = middle;
    else high = middle - 1;
  }
  return { text: text.slice(0, low), reason: 'length' };
}
