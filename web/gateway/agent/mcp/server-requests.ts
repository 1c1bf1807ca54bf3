import type { Client, ClientCapabilities, ElicitResult, Progress } from '@modelcontextprotocol/client';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { truncateMiddle } from '#shared/truncate-text.ts';
import { toPrintable } from '#shared/printable.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { McpElicitation, McpElicitationResult } from '#shared/rpc/methods/mcp-contracts.ts';
import { APPROVAL_TIMEOUT_MS } from '../approvals/decision-queue.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { Log } from '../../system/log/log.ts';
import type { ToolContext } from '../tools/tool-registry.ts';
import { type SamplingDeps, runSampling } from './sampling.ts';

/** Client capabilities that the gateway declares to servers. */
export const CLIENT_CAPABILITIES: ClientCapabilities = { roots: {}, sampling: {}, elicitation: { form: { applyDefaults: true } } };

/** Maximum number of pending questions of one server. */
const MAX_QUESTIONS = 5;
const MAX_MESSAGE_CHARS = 4000;
const MAX_SCHEMA_CHARS = 32 * 1024;
/** Minimum interval between two progress messages. */
const PROGRESS_INTERVAL_MS = 200;

export interface RequestsDeps extends SamplingDeps {
  hub: Pick<EventBus, 'emit' | 'broadcast'>;
  clock: Clock;
  log: Pick<Log, 'write'>;
}

interface ClientContext {
  server: string;
  /** The working directory, if the server runs on the bridge's machine. */
  root: string | undefined;
  /** Aborts when the server has ended. */
  signal: AbortSignal;
}

interface PendingQuestion {
  question: McpElicitation;
  resolve(result: ElicitResult): void;
}

/** Requests of MCP servers to the gateway and to people. */
export class ServerRequests {
  readonly #deps: RequestsDeps;
  readonly #questions = new Map<string, PendingQuestion>();
  /** Servers with a pending model request: one at a time per server. */
  readonly #sampling = new Set<string>();

  constructor(deps: RequestsDeps) {
    this.#deps = deps;
  }

  /** Questions that wait for a person's answer, oldest first. */
  get questions(): McpElicitation[] {
    return [...this.#questions.values()].map(({ question }) => question);
  }

  /** Handles the requests of a server. */
  registerHandlers(client: Client, context: ClientContext): void {
    const { server, root } = context;
    client.setRequestHandler('roots/list', () => ({ roots: root === undefined ? [] : [{ uri: toFileUri(root), name: 'Workspace' }] }));
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => {
      if (!('requestedSchema' in params)) throw createRefusal('Only forms are supported.');
      return this.#askPerson(
        { server, message: params.message, schema: params.requestedSchema },
        AbortSignal.any([context.signal, mcpReq.signal]),
      );
    });
    client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
      if (this.#sampling.has(server)) throw createRefusal('Another request of this server is in progress.');
      this.#sampling.add(server);
      try {
        return await runSampling(server, params, AbortSignal.any([context.signal, mcpReq.signal]), this.#deps);
      } catch (error) {
        if (error instanceof RpcError) throw createRefusal(error.message);
        throw error;
      } finally {
        this.#sampling.delete(server);
      }
    });
    client.onerror = (error) => this.logError(server, error);
  }

  /** Returns a listener that reports a call's progress. */
  createProgressReporter(server: string, tool: string, { runId, toolCallId, sessionKey }: ToolContext): (progress: Progress) => void {
    const { hub, clock } = this.#deps;
    let lastSentAt = -PROGRESS_INTERVAL_MS;
    return ({ progress, total, message }) => {
      const now = clock.monotonic();
      if (now - lastSentAt < PROGRESS_INTERVAL_MS) return;
      lastSentAt = now;
      const more = {
        ...(toolCallId === undefined ? {} : { toolCallId }),
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message: truncateMiddle(message, 500) }),
      };
      hub.emit({ event: 'mcp.progress', payload: { server, tool, runId, progress, ...more } }, sessionKey);
    };
  }

  /** Answers a pending question. Throws `NOT_FOUND` if there is none with that id. */
  answerQuestion(id: string, { action, content }: McpElicitationResult): void {
    const pending = this.#questions.get(id);
    if (!pending) throw new RpcError('NOT_FOUND', 'No MCP server is waiting for this answer.');
    pending.resolve(action === 'accept' ? { action, content: content ?? {} } : { action });
  }

  /** Logs a problem of a server that is not worth a notification. */
  logError(server: string, error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    this.#deps.log.write('debug', 'mcp', `${server}: ${truncateMiddle(problem, 500)}`);
  }

  async #askPerson(
    { server, message, schema }: Pick<McpElicitation, 'server' | 'message' | 'schema'>,
    signal: AbortSignal,
  ): Promise<ElicitResult> {
    const { clock, hub } = this.#deps;
    if (this.questions.filter((question) => question.server === server).length >= MAX_QUESTIONS)
      throw createRefusal(`${MAX_QUESTIONS} forms are already waiting.`);
    if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) throw createRefusal('The form is too large.');
    const now = clock.now();
    const ask: McpElicitation = {
      id: crypto.randomUUID(),
      server,
      message: truncateMiddle(toPrintable(message), MAX_MESSAGE_CHARS),
      schema,
      createdAt: now,
      expiresAt: now + APPROVAL_TIMEOUT_MS,
    };
    const response = Promise.withResolvers<ElicitResult>();
    const cancel = (): void => response.resolve({ action: 'cancel' });
    const stop = clock.after(APPROVAL_TIMEOUT_MS, cancel);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    this.#questions.set(ask.id, { question: ask, resolve: response.resolve });
    hub.broadcast({ event: 'mcp.asked', payload: { ask } });
    try {
      return await response.promise;
    } finally {
      stop();
      signal.removeEventListener('abort', cancel);
      this.#questions.delete(ask.id);
      hub.broadcast({ event: 'mcp.changed', payload: { name: server } });
    }
  }
}

const createRefusal = (reason: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidRequest, reason);

function toFileUri(path: string): string {
  const parts = path.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/');
  return `file://${parts.startsWith('/') ? '' : '/'}${parts.replace(/^([A-Za-z])%3A/, '$1:')}`;
}
