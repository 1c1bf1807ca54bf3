import { truncateMiddle } from '#shared/truncate-text.ts';
import { toPrintable } from '#shared/printable.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { CitableSource } from '#shared/rpc/passage.ts';
import type { Area, Scope } from '#shared/rpc/scopes.ts';
import type { ToolLabel } from '#shared/rpc/methods/tool-contracts.ts';
import type { ToolPolicy } from '#shared/rpc/tool-policies.ts';
import { z } from '#shared/rpc/zod.ts';
import { matchesWildcard } from '#shared/wildcard.ts';
import type { ProjectRecord } from '../../storage/records/project-record.ts';
import { type Agent, type ToolSwitches, withSwitches } from '../agents.ts';
import { withCollections } from '../collections/attached-collections.ts';
import type { ToolSpec } from '../../providers/provider.ts';
import { lazy } from '#shared/async/lazy.ts';
import { RunTaint } from '../trust/run-taint.ts';
import type { OutsideGrant } from '#shared/rpc/methods/cron-contracts.ts';
import type { RunTreeNode } from '../runs/run-tree.ts';
import type { ToolOffer } from './tool-offer.ts';
import { type RoutedCall, TOOL_SEARCH } from '../../storage/records/routed-call.ts';
import { isProtectedPath } from '../workspace/protected-paths.ts';

/** Context of a call. */
export interface ToolContext extends ToolSwitches {
  agentId: string;
  /** Null in a stateless call. */
  sessionKey: string | null;
  /** Null in a stateless call. */
  runId: string | null;
  /** Project of the session: the tools use its files and, if it has its own, its memory. */
  project?: ProjectRecord | undefined;
  /** Id of the model's call; undefined if no model made it. */
  toolCallId?: string | undefined;
  principal: string;
  /** Principal whose rights limit the call, if different: a job acts for its creator. */
  actsFor?: string | undefined;
  /** Scopes of the connection that started the run, which limit it too. */
  scopes?: readonly Scope[] | undefined;
  /** Names and patterns of the only tools that the run may use; default: all of its agent's. */
  only?: readonly string[] | undefined;
  signal: AbortSignal;
  /** IDs of the collections attached to the chat, besides those of its agent; then of both. */
  collections?: readonly string[] | undefined;
  /** Sends a file with the run's reply; undefined in a stateless call. Throws `INVALID_PARAMS` if the reply cannot contain another file. */
  send?(file: SentFile): void;
  /** The outside content that the run has read so far. Tools that read such content add its sources. */
  taint?: RunTaint | undefined;
  /** Settings that the run passes on to its sub-agents; undefined if it cannot have any. */
  delegation?: Delegation | undefined;
  /** A person approved exactly this call. */
  isApproved?: boolean;
  /**
   * Records texts that the run has read and that its reply can cite. Returns the number of each, which the model writes in brackets after a
   * claim, such as `[3]`; a source that was recorded before keeps its number. Undefined in a stateless call.
   */
  cite?(sources: readonly CitableSource[]): number[];
  /** Adds an image to the call's result for the model, if it supports images; undefined if no model made the call. */
  show?(picture: Picture): void;
}

/** Properties of a run that apply to its sub-agents too. */
export interface Delegation {
  node: RunTreeNode;
  /** Key of the model that answers. */
  model: string;
  jobId: string | undefined;
  outsideGrant: OutsideGrant | undefined;
}

export interface Picture {
  mimeType: string;
  /** Base64. */
  data: string;
}

/**
 * The effect of a call in a run that has read outside content: `reads` changes nothing, `adds` only adds new content, which gets the label
 * of the content read, and `changes` covers all other effects, which require approval.
 */
export type Impact = 'reads' | 'adds' | 'changes';

export interface SentFile {
  filename: string;
  mimeType: string;
  /** Base64. */
  data: string;
  /** Bytes. */
  size: number;
  /** Caption. */
  note?: string | undefined;
}

/** A tool for agents. `title` and `summary` are for people, `description` is for models. */
export interface Tool extends ToolSpec, ToolLabel {
  /** `core`, `memory`, `office`, `bridge` or `mcp:<server>`. */
  source: string;
  /** Scope that a key needs to use it, or null for none. If undefined, keys with single scopes cannot use it. */
  scope?: Area | null;
  /** Scope that a call needs instead, if it depends on the arguments. */
  scopeFor?(args: Record<string, unknown>): Area | null | undefined;
  /** Name for models, if they would reject `name`. */
  modelName?: string;
  /**
   * Describes a call as a sentence for its approval. A tool without it, or a call for which it returns undefined, only reads, or changes
   * nothing but its own memory. Throws `INVALID_PARAMS` like `run`.
   */
  effect?(args: Record<string, unknown>, context: ToolContext): string | undefined;
  /** Throws `INVALID_PARAMS` if the arguments do not match the schema. */
  validate?(args: Record<string, unknown>): void;
  /**
   * Throws errors that `run` would throw, as far as they can be detected without an effect, so that no approval is requested for a call
   * that must fail.
   */
  check?(args: Record<string, unknown>, context: ToolContext): Promise<void>;
  /** The impact of a call; default: `changes`. Throws `INVALID_PARAMS` like `run`. */
  impact?(args: Record<string, unknown>, context: ToolContext): Impact | Promise<Impact>;
  /** Describes, for people, which calls require approval, if `effect` returns undefined for some. */
  asksWhen?: string;
  /** Whether `run` itself asks for approval. */
  asks?: boolean;
  /** Whether an agent gets the tool at all; default: it does. */
  isOffered?(agent: Agent): boolean;
  /** Throws `INVALID_PARAMS` for invalid arguments, and the tool's own errors. */
  run(args: Record<string, unknown>, context: ToolContext): Promise<unknown>;
}

/** Question for a person before a tool runs. */
export interface ToolQuestion {
  tool: string;
  args: Record<string, unknown>;
  summary: string;
  /** The outside sources that make an approval necessary. */
  outside?: readonly string[];
}

/** Checks before tools with an effect run. */
export interface ToolGate {
  getPolicy(tool: Pick<Tool, 'name' | 'effect'>): ToolPolicy;
  /** True if a person allowed the tool to run without approval after reading from all of these sources. */
  isGranted(tool: string, sources: readonly string[]): boolean;
  /** Resolves when a person approves; otherwise rejects with a message for the model. */
  requestApproval(question: ToolQuestion, context: ToolContext): Promise<void>;
}

/** Whether a principal may use a tool, or make this call if `args` is given. */
export type ToolFilter = (tool: Tool, args?: Record<string, unknown>) => boolean;

/** Used if nobody can approve: tools with an effect do not run. */
const CLOSED_GATE: ToolGate = {
  getPolicy: ({ effect }) => (effect ? 'deny' : 'auto'),
  isGranted: () => false,
  requestApproval: () => Promise.reject(new Error('Approvals are not available here.')),
};

/** All tools, by name. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  readonly #agent: (id: string) => Agent;
  /** Tools that are not loaded yet. */
  readonly #pending = new Set<() => Promise<readonly Tool[]>>();
  readonly #gate: ToolGate;
  readonly #rights: (principal: string, scopes?: readonly Scope[]) => Promise<ToolFilter>;

  /** `agent` throws `NOT_FOUND` for an unknown id. `rights` loads what a principal may use. */
  constructor(
    agent: (id: string) => Agent,
    gate: ToolGate = CLOSED_GATE,
    rights: (principal: string, scopes?: readonly Scope[]) => Promise<ToolFilter> = async () => () => true,
  ) {
    this.#agent = agent;
    this.#gate = gate;
    this.#rights = rights;
  }

  /** Throws `ALREADY_EXISTS` if the name is taken. */
  register(tool: Tool): void {
    if (this.#tools.has(tool.name)) throw new RpcError('ALREADY_EXISTS', `A tool named "${tool.name}" already exists.`);
    this.#tools.set(tool.name, tool);
  }

  /** Registers tools that are loaded on first use, so that no page waits for them at startup. */
  registerLazy(load: () => Promise<readonly Tool[]>): void {
    this.#pending.add(load);
  }

  /** Resolves when all tools are loaded. Rejects if some could not be loaded; the next call tries again. */
  async loadAll(): Promise<void> {
    await Promise.all(
      [...this.#pending].map(async (load) => {
        const tools = await load();
        // A concurrent call may have registered the same tools.
        if (this.#pending.delete(load)) for (const tool of tools) this.register(tool);
      }),
    );
  }

  unregister(name: string): boolean {
    return this.#tools.delete(name);
  }

  /** Loaded tools, sorted by name; `loadAll` loads all. */
  list(): Tool[] {
    return [...this.#tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Policy for calls with an effect. */
  getPolicy(tool: Pick<Tool, 'name' | 'effect'>): ToolPolicy {
    return this.#gate.getPolicy(tool);
  }

  /** Returns the tools that an agent may use for a principal, sorted by name; with `only`, those that match it. */
  async listOffered(agent: Agent, principal: string, only?: readonly string[], scopes?: readonly Scope[]): Promise<Tool[]> {
    const [isAllowed] = await Promise.all([this.#rights(principal, scopes), this.loadAll()]);
    return this.#filterByAgent(agent, only).filter((tool) => isAllowed(tool));
  }

  /** Returns the tools of a run for a principal, as its model gets them: in each request, or by search. */
  async offer(agent: Agent, principal: string, only?: readonly string[], scopes?: readonly Scope[]): Promise<ToolOffer> {
    const [{ toOffer }, tools] = await Promise.all([loadOffer(), this.listOffered(agent, principal, only, scopes)]);
    return toOffer(tools, agent, only);
  }

  /**
   * Runs a call, after approval if the tool's policy requires it. Throws `NOT_FOUND` if the tool is unknown or the agent or principal may
   * not use it, `INVALID_PARAMS` for invalid arguments, `AUTH_REQUIRED` if the call was denied, and the reason of `signal` as soon as it is
   * aborted.
   */
  async run(call: Omit<RoutedCall, 'id'>, context: ToolContext): Promise<unknown> {
    const principal = context.actsFor ?? context.principal;
    const agent = withSwitches(withCollections(this.#agent(context.agentId), context.collections), context);
    const tools = await this.listOffered(agent, principal, context.only, context.scopes);
    if (call.tool === TOOL_SEARCH) return (await loadSearch()).runToolSearch(tools, { agent, only: context.only }, call.args);
    const tool = tools.find(({ name, modelName }) => name === call.tool || modelName === call.tool);
    if (!tool) throw new RpcError('NOT_FOUND', `Unknown tool "${call.tool}". Available: ${toNames(tools)}.`);
    context.signal.throwIfAborted();
    await this.#requireRight(context, tool, call.args);
    await validateCall(tool, call);
    const effect = tool.effect?.(call.args, context);
    const policy = this.#gate.getPolicy(effect === undefined ? { name: tool.name } : tool);
    if (policy === 'deny') throw new RpcError('AUTH_REQUIRED', `${tool.name} is denied by the configuration (tools.policies).`);
    const outside = await this.#findOutsideSources(tool, call.args, context);
    const full = { ...context, collections: agent.config.collections };
    if (tool.asks || (policy !== 'ask' && !outside)) return tool.run(call.args, full);
    await tool.check?.(call.args, context);
    context.signal.throwIfAborted();
    // Empty lines could push its end out of view.
    const summary = toPrintable((effect ?? (outside ? toCallSummary(tool, call.args) : tool.title)).replace(/\s+/g, ' '));
    await this.#gate.requestApproval({ tool: tool.name, args: call.args, summary, ...(outside ? { outside } : {}) }, context);
    // The key may have changed while waiting for approval.
    await this.#requireRight(context, tool, call.args);
    context.signal.throwIfAborted();
    return tool.run(call.args, { ...full, isApproved: true });
  }

  /** The outside sources that the run has read, if the call needs an approval because of them. */
  async #findOutsideSources(tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<readonly string[] | undefined> {
    const { taint } = context;
    if (!taint?.isTainted || tool.asks || ((await tool.impact?.(args, context)) ?? 'changes') !== 'changes') return undefined;
    return isGranted(tool.name, args, taint, this.#gate) ? undefined : [...taint.sources];
  }

  async #requireRight({ principal, actsFor = principal, scopes }: ToolContext, tool: Tool, args: Record<string, unknown>): Promise<void> {
    const isAllowed = await this.#rights(actsFor, scopes);
    if (!isAllowed(tool, args)) throw new RpcError('AUTH_REQUIRED', `The caller’s scopes don’t allow this call of ${tool.name}.`);
  }

  #filterByAgent(agent: Agent, only?: readonly string[]): Tool[] {
    const { tools, memory, subAgents } = agent.config;
    const matchesAny = (patterns: readonly string[], name: string): boolean => patterns.some((pattern) => matchesWildcard(pattern, name));
    return this.list().filter(
      ({ name, source, isOffered }) =>
        (isOffered?.(agent) ?? true) &&
        (memory !== false || source !== 'memory') &&
        (subAgents?.enabled !== false || name !== 'agent_run') &&
        (!only || matchesAny(only, name)) &&
        (!tools?.allow || matchesAny(tools.allow, name)) &&
        !(tools?.deny && matchesAny(tools.deny, name)),
    );
  }
}

/**
 * True if a person allowed this call after reading from all sources of the run: when the job was created, or in the settings, which name no
 * files and so exclude protected ones.
 */
export function isGranted(tool: string, args: Record<string, unknown>, taint: RunTaint, gate: Pick<ToolGate, 'isGranted'>): boolean {
  const path = typeof args['path'] === 'string' ? args['path'] : undefined;
  if (taint.isGranted(tool, path)) return true;
  return (path === undefined || !isProtectedPath(path)) && gate.isGranted(tool, taint.sources);
}

const loadOffer = lazy(() => import('./tool-offer.ts'));
const loadSearch = lazy(() => import('./tool-search.ts'));

/** Throws `INVALID_PARAMS` for invalid arguments. The error contains the schema if the model has it only from an earlier search. */
async function validateCall(tool: Tool, { args, via }: Pick<RoutedCall, 'args' | 'via'>): Promise<void> {
  try {
    tool.validate?.(args);
  } catch (error) {
    if (!via || !(error instanceof RpcError)) throw error;
    const { toSpec } = await loadOffer();
    throw new RpcError(error.code, error.message, { details: { parameters: toSpec(tool).schema } }, { cause: error });
  }
}

/** Maximum number of tool names in an error. */
const MAX_NAMES = 60;

function toNames(tools: readonly Tool[]): string {
  const names = tools.slice(0, MAX_NAMES).map(({ name, modelName = name }) => modelName);
  const more = tools.length - names.length;
  return `${names.join(', ') || 'none'}${more > 0 ? ` and ${more} more, which ${TOOL_SEARCH} finds` : ''}`;
}

const MAX_FIELD_CHARS = 300;
const MAX_SUMMARY_CHARS = 1000;

/** Describes a call of a tool without `effect`: its title and its arguments, labelled by their titles in the schema. */
export function toCallSummary({ title, schema }: Pick<Tool, 'title' | 'schema'>, args: Record<string, unknown>): string {
  const properties = z
    .record(z.string(), z.object({ title: z.string().optional() }).catch({}))
    .catch({})
    .parse(schema['properties']);
  const fields = Object.entries(args).map(([name, value]) => {
    const label = (Object.hasOwn(properties, name) ? properties[name]?.title : undefined) ?? toWords(name);
    return `${label}: ${truncateMiddle(typeof value === 'object' ? toPlainText(value) : JSON.stringify(value), MAX_FIELD_CHARS)}`;
  });
  return fields.length > 0 ? `${title} – ${truncateMiddle(fields.join(', '), MAX_SUMMARY_CHARS)}` : title;
}

/** Converts `fileName` and `file_name` to `File name`. */
function toWords(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, (_, before: string, letter: string) => `${before} ${letter.toLowerCase()}`)
    .replace(/[_-]+/g, ' ')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Lists and objects without JSON punctuation. Texts stay in quotes, so that none can be mistaken for another field. */
function toPlainText(value: unknown): string {
  if (Array.isArray(value)) return value.map(toPlainText).join('; ');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `(${Object.entries(value)
    .map(([name, inner]) => `${toWords(name)}: ${toPlainText(inner)}`)
    .join(', ')})`;
}
