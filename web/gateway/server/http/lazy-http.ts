import type { Link } from '#shared/link/link.ts';
import type { Stream } from '#shared/link/stream.ts';
import type { Principal } from '#shared/link/hello.ts';
import { OAUTH_CALLBACK_PATH } from '#shared/ports/oauth-port.ts';
import type { SpliceFailure, UsageReceipt } from '#shared/link/splice.ts';
import { allowsScope, type Scope } from '#shared/rpc/scopes.ts';
import { speechPort } from '#shared/ports/speech-port.ts';
import type { AudioConverter } from '../../audio/audio-converter.ts';
import type { Agent } from '../../agent/agents.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { Log } from '../../system/log/log.ts';
import type { LazyAuthorizations } from '../../config/oauth/lazy-authorizations.ts';
import type { Providers } from '../../providers/providers.ts';
import type { RunsDeps } from '../../agent/runs/run-types.ts';
import type { Runs } from '../../agent/runs/runs.ts';
import type { ToolRegistry } from '../../agent/tools/tool-registry.ts';
import type { ContentLabels } from '../../agent/trust/content-labels.ts';
import type { Wikis } from '../../agent/knowledge/wiki/wikis.ts';
import type { AgentToolkit } from '../../agent/agent-toolkit.ts';
import type { HttpDeps } from './http-deps.ts';
import type { ResponsesSockets } from './responses/responses-socket.ts';
import { toKeySessionId } from './request-target.ts';
import { storeReceipts } from './usage-receipts.ts';

/** `/v1`, `/mcp` and `/oauth/callback`, loaded on first use: a page does not need them. */
export interface LazyHttp {
  fetch(request: Request, principal: Principal, exchange?: Stream): Promise<Response>;
  /** Serves a WebSocket at `/v1/responses`. `headers`: those of the client's upgrade request that apply to each of its requests. */
  acceptResponses(link: Link<string>, principal: Principal, headers: Readonly<Record<string, string>>): Promise<void>;
  /** Whether this host is active: if not, these WebSockets are closed once they are idle. */
  setServing(isServing: boolean): void;
  /** Stores the usage of calls that the bridge spliced; resolves once it is stored. */
  storeReceipts(receipts: UsageReceipt[]): Promise<void>;
  /** Text to send after events that the bridge has passed on without the host and that ended with a failure. */
  writeSpliceFailure(failure: SpliceFailure, signal: AbortSignal): Promise<string>;
}

export interface LazyHttpDeps extends RunsDeps, Pick<HttpDeps, 'clock' | 'fault'> {
  bridge: Bridge;
  audio: AudioConverter;
  providers: Providers;
  runs: Runs;
  agents: { list(): Agent[] };
  admit: HttpDeps['admit'] & {};
  used: HttpDeps['used'] & {};
  /** Scopes of a key; undefined for other principals. */
  scopes(principal: string): Promise<readonly Scope[] | undefined>;
  oauth: Pick<LazyAuthorizations, 'handleCallback'>;
  log: Log;
  tools: ToolRegistry;
  version: string;
  wikis: { load(): Promise<Wikis> };
  labels: ContentLabels;
  agentToolkit(): Promise<Pick<AgentToolkit, 'skills'>>;
}

export function createLazyHttp(deps: LazyHttpDeps): LazyHttp {
  const { providers, vault, bridge, clock, fault, admit, used, log, version } = deps;
  const note: HttpDeps['note'] & {} = (level, message, fields) => log.write(level, 'http', message, fields);
  const load = lazy(async () => {
    const [{ createHttpHandler }, { HttpAgents }] = await Promise.all([
      import('./http-handler.ts'),
      import('../../agent/runs/http-agents.ts'),
    ]);
    return createHttpHandler({
      agents: isolateKeySessions(new HttpAgents(deps), deps.scopes),
      mcp: lazy(async () =>
        (await import('./mcp/mcp-handler.ts')).createMcpRequestHandler({
          ...{ agent: deps.agent, tools: deps.tools, vault, labels: deps.labels, clock, timeZone: deps.timeZone, version, fault },
          skills: async () => (await deps.agentToolkit()).skills,
          wiki: async (agentId) => (await deps.wikis.load()).getWiki(agentId).vault,
        }),
      ),
      ...{ providers, clock, version, fault, admit, used, note, responses: vault.collection('responses') },
      speak: (params, signal) => bridge.call(speechPort, 'speech.speak', params, { signal }),
      convertAudio: (audio, format, signal) => deps.audio.convert(audio, format, signal),
      isRevoked: async (principal) => (await deps.scopes(principal))?.length === 0,
      ...{ conversations: vault.collection('conversations'), apiFiles: vault.collection('apiFiles') },
      usageSince: (at) => vault.usage.since(at),
      record: (call) =>
        void providers
          .addCost(call.model, call.usage)
          .then((usage) => vault.usage.add({ ...call, usage, id: crypto.randomUUID(), sessionKey: null })),
    });
  });
  let isServing = true;
  let sockets: ResponsesSockets | undefined;
  return {
    async acceptResponses(link, principal, headers) {
      const [http, { ResponsesSockets }] = await Promise.all([load(), import('./responses/responses-socket.ts')]);
      sockets ??= new ResponsesSockets(isServing);
      sockets.accept(link, { headers, clock, answer: (request, turn) => http(request, principal, undefined, turn) });
    },
    setServing(now) {
      isServing = now;
      sockets?.setServing(now);
    },
    fetch: async (request, principal, exchange) =>
      new URL(request.url).pathname === OAUTH_CALLBACK_PATH
        ? deps.oauth.handleCallback(request)
        : (await load())(request, principal, exchange),
    storeReceipts(receipts) {
      for (const { call } of receipts) used(call.principal, 'v1');
      return storeReceipts(receipts, { providers, usage: vault.usage, note: (message, fields) => note('debug', message, fields) });
    },
    writeSpliceFailure: async (failure, signal) =>
      (await import('./splice-failure-event.ts')).writeSpliceFailure(failure, signal, { providers, fault, note }),
  };
}

/** Keys without the scope `chat` have separate sessions: the session names that they send do not reach the owner’s chats. */
function isolateKeySessions(agents: HttpDeps['agents'], scopesFor: LazyHttpDeps['scopes']): HttpDeps['agents'] {
  return {
    list: () => agents.list(),
    async *run(request) {
      const { sessionId, principal } = request;
      const scopes = sessionId === undefined ? undefined : await scopesFor(principal);
      const isIsolated = sessionId !== undefined && scopes && !allowsScope(scopes, 'chat');
      yield* agents.run(isIsolated ? { ...request, sessionId: toKeySessionId(principal, sessionId) } : request);
    },
  };
}
