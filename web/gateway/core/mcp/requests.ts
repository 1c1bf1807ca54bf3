import type { Client, ClientCapabilities, ElicitResult, Progress } from '@modelcontextprotocol/client';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { withoutMiddle } from '#shared/cut-short.ts';
import { legible } from '#shared/legible.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { McpAsk, McpAnswer } from '#shared/rpc/methods/mcp.ts';
import { EXPIRES_MS } from '../approvals/questions.ts';
import type { Clock } from '../clock.ts';
import type { Hub } from '../hub.ts';
import type { Log } from '../log/log.ts';
import type { ToolContext } from '../tools/registry.ts';
import { type SamplingDeps, sample } from './sampling.ts';

/** Client capabilities that the gateway declares to servers. */
export const CAPABILITIES: ClientCapabilities = { roots: {}, sampling: {}, elicitation: { form: { applyDefaults: true } } };

/** Maximum number of pending questions of one server. */
const MAX_ASKS = 5;
const MAX_MESSAGE = 4000;
const MAX_SCHEMA = 32 * 1024;
/** Minimum interval between two progress messages. */
const PROGRESS_MS = 200;

export interface RequestsDeps extends SamplingDeps {
  hub: Pick<Hub, 'emit' | 'broadcast'>;
  clock: Clock;
  log: Pick<Log, 'write'>;
}

export interface Served {
  server: string;
  /** The working directory, if the server runs on the bridge's machine. */
  root: string | undefined;
  /** Aborts when the server has ended. */
  signal: AbortSignal;
}

interface Waiting {
  ask: McpAsk;
  resolve(result: ElicitResult): void;
}

/** Requests of MCP servers to the gateway and to people. */
export class ServerRequests {
  readonly #deps: RequestsDeps;
  readonly #asks = new Map<string, Waiting>();
  /** Servers with a pending model request: one at a time per server. */
  readonly #sampling = new Set<string>();

  constructor(deps: RequestsDeps) {
    this.#deps = deps;
  }

  /** Questions that wait for a person's answer, oldest first. */
  get asks(): McpAsk[] {
    return [...this.#asks.values()].map(({ ask }) => ask);
  }

  /** Handles the requests of a server. */
  serve(client: Client, served: Served): void {
    const { server, root } = served;
    client.setRequestHandler('roots/list', () => ({ roots: root === undefined ? [] : [{ uri: fileUri(root), name: 'Workspace' }] }));
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => {
      if (!('requestedSchema' in params)) throw refused('Only forms are supported.');
      return this.#ask(
        { server, message: params.message, schema: params.requestedSchema },
        AbortSignal.any([served.signal, mcpReq.signal]),
      );
    });
    client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
      if (this.#sampling.has(server)) throw refused('Another request of this server is in progress.');
      this.#sampling.add(server);
      try {
        return await sample(server, params, AbortSignal.any([served.signal, mcpReq.signal]), this.#deps);
      } catch (error) {
        if (error instanceof RpcError) throw refused(error.message);
        throw error;
      } finally {
        this.#sampling.delete(server);
      }
    });
    client.onerror = (error) => this.noted(server, error);
  }

  /** Returns a listener that reports a call's progress. */
  progress(server: string, tool: string, { runId, toolCallId, sessionKey }: ToolContext): (progress: Progress) => void {
    const { hub, clock } = this.#deps;
    let told = -PROGRESS_MS;
    return ({ progress, total, message }) => {
      const now = clock.monotonic();
      if (now - told < PROGRESS_MS) return;
      told = now;
      const more = {
        ...(toolCallId === undefined ? {} : { toolCallId }),
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message: withoutMiddle(message, 500) }),
      };
      hub.emit({ event: 'mcp.progress', payload: { server, tool, runId, progress, ...more } }, sessionKey);
    };
  }

  /** Answers a pending question. Throws `NOT_FOUND` if there is none with that id. */
  answer(id: string, { action, content }: McpAnswer): void {
    const waiting = this.#asks.get(id);
    if (!waiting) throw new RpcError('NOT_FOUND', 'No MCP server is waiting for this answer.');
    waiting.resolve(action === 'accept' ? { action, content: content ?? {} } : { action });
  }

  /** Logs a problem of a server that is not worth a notification. */
  noted(server: string, error: unknown): void {
    const what = error instanceof Error ? error.message : String(error);
    this.#deps.log.write('debug', 'mcp', `${server}: ${withoutMiddle(what, 500)}`);
  }

  async #ask({ server, message, schema }: Pick<McpAsk, 'server' | 'message' | 'schema'>, signal: AbortSignal): Promise<ElicitResult> {
    const { clock, hub } = this.#deps;
    if (this.asks.filter((each) => each.server === server).length >= MAX_ASKS) throw refused(`${MAX_ASKS} forms are already waiting.`);
    if (JSON.stringify(schema).length > MAX_SCHEMA) throw refused('The form is too large.');
    const at = clock.now();
    const ask: McpAsk = {
      id: crypto.randomUUID(),
      server,
      message: withoutMiddle(legible(message), MAX_MESSAGE),
      schema,
      createdAt: at,
      expiresAt: at + EXPIRES_MS,
    };
    const answered = Promise.withResolvers<ElicitResult>();
    const cancel = (): void => answered.resolve({ action: 'cancel' });
    const stop = clock.after(EXPIRES_MS, cancel);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    this.#asks.set(ask.id, { ask, resolve: answered.resolve });
    hub.broadcast({ event: 'mcp.asked', payload: { ask } });
    try {
      return await answered.promise;
    } finally {
      stop();
      signal.removeEventListener('abort', cancel);
      this.#asks.delete(ask.id);
      hub.broadcast({ event: 'mcp.changed', payload: { name: server } });
    }
  }
}

const refused = (why: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidRequest, why);

function fileUri(path: string): string {
  const parts = path.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/');
  return `file://${parts.startsWith('/') ? '' : '/'}${parts.replace(/^([A-Za-z])%3A/, '$1:')}`;
}
