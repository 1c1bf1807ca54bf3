import type { AnyEvent } from '#shared/rpc/events.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SubAgentEntry, SubAgentWork } from '#shared/rpc/record-schemas.ts';
import type { Clock } from '#shared/async/clock.ts';
import { matchesWildcard } from '#shared/wildcard.ts';
import type { SessionRecord } from '../../storage/chat-records.ts';
import { toSessionKey } from '../../storage/chat-records.ts';
import { createSession, createSubAgentId, parseSessionPath, toFirstTitle, toPlainText } from '../../storage/session-views.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { EventBus } from '../../system/event-bus.ts';
import { isPerson } from '../../system/person.ts';
import { type Agent, type Agents, withSwitches } from '../agents.ts';
import { withCollections } from '../collections/attached-collections.ts';
import { HttpAgents } from '../runs/http-agents.ts';
import { RunTreeNode, type SubAgentBudget } from '../runs/run-tree.ts';
import type { Models, RunRequest, RunsDeps } from '../runs/run-types.ts';
import type { Runs } from '../runs/runs.ts';
import type { FindSmallModel } from '../small-work/small-models.ts';
import type { Delegation, ToolContext, ToolRegistry } from '../tools/tool-registry.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { getLimits, requireCallable, requireRoom } from './sub-agent-limits.ts';
import {
  type LiveSubAgent,
  MAX_ANSWER_MESSAGES,
  readSubAgentResult,
  type SubAgentResult,
  toSubAgentEntry,
  toLiveEntry,
  toUsageFields,
  truncateAnswer,
} from './sub-agent-result.ts';
import { listSubAgentSessions } from './sub-agent-sessions.ts';

/** Name of the tool that starts a sub-agent. */
const AGENT_RUN = 'agent_run';
/** Name for the configured small model. */
const SMALL_MODEL = 'small';

/** Added to the instructions of a sub-agent. */
const INSTRUCTIONS =
  'You are a sub-agent: another agent gave you the task below, and receives only your last message. Nobody answers questions. Do the task, then reply with the result alone: facts, sources and what is left to do.';

export interface SubAgentsDeps {
  vault: Vault;
  hub: EventBus;
  clock: Clock;
  agents: Agents;
  runs: Runs;
  runDeps: RunsDeps;
  tools: ToolRegistry;
  models: Models;
  labels: ContentLabels;
  findSmallModel: FindSmallModel;
  fault(error: unknown): RpcError;
}

/** A task for a sub-agent. */
interface SubAgentTask {
  task: string;
  title?: string | undefined;
  agent?: string | undefined;
  model?: string | undefined;
  /** Names and patterns of the tools that it may use. */
  tools?: readonly string[] | undefined;
  budget?: SubAgentBudget | undefined;
  /** Id of an earlier sub-agent of the chat that continues with the task. */
  continues?: string | undefined;
}

/** Limits of a sub-agent's run: the rights of its caller, and its own limits. */
interface RunLimits extends Pick<RunRequest, 'jobId' | 'outsideGrant' | 'actsFor' | 'scopes' | 'tools' | 'model' | 'parameters'> {
  subAgent: RunTreeNode;
}

/** A task that may be started. */
interface StartedTask {
  task: SubAgentTask;
  agent: Agent;
  limits: RunLimits;
  /** Resolves when the sub-agent may begin; the result ends its turn. */
  takeTurn(): Promise<() => void>;
}

/** Context of a call by a run of a session. */
type SessionContext = ToolContext & { sessionKey: string; runId: string };

/** Runs sub-agents: sessions of their own, which work for a run of another session and end with it (docs/decisions/0135-sub-agents.md). */
export class SubAgents {
  readonly #deps: SubAgentsDeps;
  readonly #httpAgents: HttpAgents;
  /** By session key. */
  readonly #live = new Map<string, LiveSubAgent>();
  readonly #stopListening: () => void;

  constructor(deps: SubAgentsDeps) {
    this.#deps = deps;
    this.#httpAgents = new HttpAgents({ ...deps.runDeps, agents: deps.agents, runs: deps.runs, labels: deps.labels });
    this.#stopListening = deps.hub.add({
      all: false,
      follows: (key) => this.#live.has(key),
      push: (event) => this.#followActivity(event),
    });
  }

  stop(): void {
    this.#stopListening();
  }

  /** Runs a task to its end. Throws `RpcError` if it cannot be started, and the signal's reason if the caller is stopped. */
  async run(task: SubAgentTask, context: ToolContext): Promise<SubAgentResult> {
    const { agents, tools } = this.#deps;
    const { delegation } = context;
    if (!delegation) throw new RpcError('INVALID_PARAMS', 'Only a reply can start sub-agents.');
    const caller = agents.get(context.agentId);
    const agentId = task.agent ?? caller.id;
    requireCallable(caller, agentId);
    const agent = agents.get(agentId);
    const model = await this.#chooseModel(task, agent, caller, delegation);
    const limits = getLimits(caller);
    const offered = await tools.listOffered(
      withCollections(withSwitches(caller, context), context.collections),
      context.actsFor ?? context.principal,
      context.only,
      context.scopes,
    );
    const { tools: patterns } = task;
    const names = offered.map(({ name }) => name).filter((name) => !patterns || patterns.some((pattern) => matchesWildcard(pattern, name)));
    if (patterns && patterns.length > 0 && names.length === 0)
      throw new RpcError('INVALID_PARAMS', `No tool that you may use matches \`tools\`: ${patterns.join(', ')}.`);
    requireRoom(delegation.node, limits);
    const chat = delegation.node.label?.chat ?? (context.sessionKey === null ? undefined : `${context.sessionKey}.jsonl`);
    const label = chat === undefined ? undefined : { title: toFirstTitle(task.title ?? task.task), chat };
    const node = new RunTreeNode({ parent: delegation.node, subAgent: { label, budget: task.budget } });
    const runLimits: RunLimits = {
      subAgent: node,
      jobId: delegation.jobId,
      outsideGrant: delegation.outsideGrant,
      actsFor: context.actsFor ?? context.principal,
      scopes: context.scopes,
      // The deepest ones are not offered the tool.
      tools: node.depth < limits.maxDepth ? names : names.filter((name) => name !== AGENT_RUN),
      model,
      parameters: { instructions: INSTRUCTIONS },
    };
    const start: StartedTask = {
      ...{ task, agent, limits: runLimits },
      takeTurn: () => delegation.node.takeTurn(limits.maxParallel, context.signal),
    };
    const { sessionKey, runId } = context;
    return sessionKey === null || runId === null
      ? this.#runStateless(start, context)
      : this.#runInSession(start, { ...context, sessionKey, runId });
  }

  /** The sub-agents of a session, including nested ones, in the order of their start. Throws `NOT_FOUND`. */
  async list(path: string): Promise<SubAgentEntry[]> {
    const { vault, runs } = this.#deps;
    const key = parseSessionPath(path);
    if (!(await vault.sessions.get(key))) throw new RpcError('NOT_FOUND', `No session with path "${path}".`);
    const sessions = await listSubAgentSessions(vault, [key]);
    return sessions.map((session) => {
      const live = this.#live.get(session.key);
      if (live) return toLiveEntry(live);
      if (session.subAgent.endedAt !== undefined) return toSubAgentEntry(session, session.subAgent);
      // Another host runs it, or did before it went away.
      return toSubAgentEntry(session, { ...session.subAgent, status: runs.isRunning(session.key) ? 'running' : 'interrupted' });
    });
  }

  async #chooseModel({ model }: SubAgentTask, agent: Agent, caller: Agent, delegation: Delegation): Promise<string | undefined> {
    const { models, findSmallModel } = this.#deps;
    const own = agent.id === caller.id ? delegation.model : agent.model;
    if (model === undefined) return own;
    if (model !== SMALL_MODEL) return (await models.resolve(model)).key;
    return (await findSmallModel(await models.resolve(own)))?.key ?? own;
  }

  async #runInSession({ task, agent, limits, takeTurn }: StartedTask, context: SessionContext): Promise<SubAgentResult> {
    const { runs, clock, fault } = this.#deps;
    const { signal, taint } = context;
    const live = await this.#open(task, context, agent, limits.subAgent);
    const { key, session, work } = live;
    const removeLimit = runs.limitSession(key, (request) => limitRequest(request, limits, context, work));
    const onabort = (): void => void runs.abortLocal(key);
    let release = (): void => {};
    /** Why no run began; otherwise the session has its outcome. */
    let failure: RpcError | undefined;
    try {
      this.#emit(live);
      release = await takeTurn();
      Object.assign(work, { status: 'running', startedAt: clock.now() });
      this.#emit(live);
      signal.addEventListener('abort', onabort, { once: true });
      const sent = runs.send({
        agentId: agent.id,
        sessionId: session.sessionId,
        message: task.task,
        principal: context.principal,
        quotedOutside: taint?.sources ?? [],
        quotedUrls: taint?.findQuotedUrls(task.task) ?? [],
      });
      await sent.catch((error: unknown) => (failure = fault(error)));
      // A steering message continues in a run of its own.
      await runs.whenSettled(key);
      signal.throwIfAborted();
      return await readSubAgentResult(this.#deps.vault, live, failure, context);
    } finally {
      signal.removeEventListener('abort', onabort);
      if (signal.aborted) work.status = 'stopped';
      removeLimit();
      release();
      await this.#close(live).catch(fault);
    }
  }

  /** Creates the session of a sub-agent, or opens that of an earlier one. */
  async #open(
    { task, title, continues }: SubAgentTask,
    { sessionKey, runId, toolCallId = '', collections, project }: SessionContext,
    agent: Agent,
    node: RunTreeNode,
  ): Promise<LiveSubAgent> {
    const { vault, clock } = this.#deps;
    const earlierId = continues ?? (await this.#findInterrupted(sessionKey, agent, task));
    const now = clock.now();
    const work: SubAgentWork = {
      parentPath: `${sessionKey}.jsonl`,
      runId,
      toolCallId,
      number: node.number,
      status: 'queued',
      startedAt: now,
      totalTokens: 0,
    };
    const sessionId = earlierId ?? createSubAgentId();
    const key = toSessionKey(agent.id, sessionId);
    let session: SessionRecord | undefined;
    if (earlierId === undefined) {
      session = {
        ...createSession(agent.id, sessionId, title ?? task, now),
        recall: false,
        ...(collections?.length ? { collections: [...collections] } : {}),
        ...(project ? { projectId: project.id } : {}),
        subAgent: { ...work },
      };
      await vault.sessions.add(session, []);
    } else {
      if (this.#live.has(key)) throw new RpcError('ALREADY_EXISTS', `The sub-agent "${sessionId}" is still working.`);
      session = await vault.sessions.update(key, ({ subAgent }) =>
        subAgent?.parentPath === work.parentPath ? { subAgent: { ...work } } : {},
      );
      if (session?.subAgent?.runId !== runId) throw new RpcError('NOT_FOUND', `This chat has no sub-agent "${sessionId}" of that agent.`);
    }
    const live: LiveSubAgent = { key, session, node, work, activity: undefined };
    this.#live.set(key, live);
    return live;
  }

  /** Id of a sub-agent of a chat whose host has died during the same task: it continues with what it had found. */
  async #findInterrupted(parentKey: string, agent: Agent, task: string): Promise<string | undefined> {
    const { vault, runs } = this.#deps;
    for (const { key, agentId, sessionId, subAgent } of await listSubAgentSessions(vault, [parentKey])) {
      const isInterrupted = subAgent.endedAt === undefined && !this.#live.has(key) && !runs.isRunning(key);
      if (!isInterrupted || agentId !== agent.id || subAgent.parentPath !== `${parentKey}.jsonl`) continue;
      const { messages } = await vault.messages.branch(key, { limit: MAX_ANSWER_MESSAGES, most: 0 });
      if (messages.some(({ role, content }) => role === 'user' && toPlainText(content) === task)) return sessionId;
    }
    return undefined;
  }

  /** Stores how the work ended. */
  async #close(live: LiveSubAgent): Promise<void> {
    const { vault, clock } = this.#deps;
    const { key, node, work } = live;
    const { tokens: totalTokens, ...cost } = toUsageFields(node);
    Object.assign(work, { endedAt: clock.now(), totalTokens, ...cost });
    if (work.status === 'queued' || work.status === 'running') work.status = 'stopped';
    live.activity = undefined;
    await vault.sessions.update(key, { subAgent: { ...work } }).catch(this.#deps.fault);
    this.#emit(live);
    this.#live.delete(key);
  }

  /** Runs a task for a stateless request of `/v1`: it is not stored either. */
  async #runStateless({ task: { task, continues }, agent, limits, takeTurn }: StartedTask, context: ToolContext): Promise<SubAgentResult> {
    if (continues !== undefined) throw new RpcError('NOT_FOUND', `There is no sub-agent "${continues}": this conversation is not stored.`);
    const { principal, signal, taint } = context;
    const release = await takeTurn();
    let answer = '';
    let error: string | undefined;
    try {
      const events = this.#httpAgents.run({
        ...{ agentId: agent.id, principal, signal, generationOptions: {} },
        messages: [{ role: 'user', content: task, outside: [...(taint?.sources ?? [])] }],
        subAgent: {
          ...{ ...limits, node: limits.subAgent, instructions: INSTRUCTIONS },
          quotedUrls: taint?.findQuotedUrls(task) ?? [],
          onTaint(read) {
            taint?.add(read.sources);
            taint?.addText(read.findQuotedUrls(answer).join('\n'));
          },
        },
      });
      for await (const event of events) if (event.type === 'text') answer += event.text;
    } catch (failure) {
      signal.throwIfAborted();
      error = this.#deps.fault(failure).message;
    } finally {
      release();
    }
    return {
      status: error === undefined ? 'done' : 'failed',
      answer: truncateAnswer(answer),
      ...(error === undefined ? {} : { error }),
      ...toUsageFields(limits.subAgent),
    };
  }

  #followActivity({ event, payload }: AnyEvent): void {
    if (event !== 'chat.tool_call') return;
    const live = this.#live.get(toSessionKey(payload.agentId, payload.sessionId));
    if (!live) return;
    live.activity = payload.tool;
    this.#emit(live);
  }

  /** Tells the sessions of all runs above a sub-agent how far it is. */
  #emit(live: LiveSubAgent): void {
    const { hub } = this.#deps;
    const subAgent = toLiveEntry(live);
    for (let at: LiveSubAgent | undefined = live; at;) {
      const parentKey = parseSessionPath(at.work.parentPath);
      const [agentId = '', sessionId = ''] = parentKey.split('/');
      hub.emit({ event: 'chat.sub_agent', payload: { agentId, sessionId, runId: at.work.runId, subAgent } }, parentKey);
      at = this.#live.get(parentKey);
    }
  }
}

/** A run of a working sub-agent has its caller's rights at most. Only its owner may steer it. */
function limitRequest(request: RunRequest, limits: RunLimits, { principal }: ToolContext, { status }: SubAgentWork): RunRequest {
  if (status === 'queued')
    throw new RpcError('RATE_LIMITED', 'The sub-agent waits for its turn. Write to it when it works.', { retryable: true });
  const hasSameScopes = request.scopes === undefined || request.scopes === limits.scopes;
  if (!(isPerson(request.principal) ? hasSameScopes : request.principal === principal))
    throw new RpcError('AUTH_REQUIRED', 'Only a person can write to a sub-agent that is working.');
  return { ...request, ...limits };
}
