import type { Link } from '#shared/link/link.ts';
import type { Stream } from '#shared/link/stream.ts';
import type { Principal } from '#shared/link/hello.ts';
import { OAUTH_CALLBACK } from '#shared/ports/oauth.ts';
import type { Ended, Receipt } from '#shared/link/splice.ts';
import { allows, type Scope } from '#shared/rpc/scopes.ts';
import { speechPort } from '#shared/ports/speech.ts';
import type { Agent } from '../agents.ts';
import type { Bridge } from '../bridge.ts';
import { lazy } from '../lazy.ts';
import type { Log } from '../log/log.ts';
import type { AuthorizationsLater } from '../oauth/later.ts';
import type { Providers } from '../providers/providers.ts';
import type { RunsDeps } from '../runs/deps.ts';
import type { Runs } from '../runs/runs.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { ContentLabels } from '../trust/labels.ts';
import type { Wikis } from '../wiki/wikis.ts';
import type { Workbench } from '../workbench.ts';
import type { HttpDeps } from './deps.ts';
import type { ResponsesSockets } from './responses/responses-socket.ts';
import { sessionForKey } from './target.ts';
import { keepReceipts } from './receipts.ts';

/** `/v1`, `/mcp` and `/oauth/callback`, loaded on first use: a page does not need them. */
export interface HttpLater {
  fetch(request: Request, principal: Principal, exchange?: Stream): Promise<Response>;
  /** Serves a WebSocket at `/v1/responses`. `headers`: those of the client's upgrade request that apply to each of its requests. */
  acceptResponses(link: Link<string>, principal: Principal, headers: Readonly<Record<string, string>>): Promise<void>;
  /** Whether this host is active: if not, these WebSockets are closed once they are idle. */
  setServing(serves: boolean): void;
  /** Stores the usage of calls that the bridge spliced; resolves once it is stored. */
  keepReceipts(given: Receipt[]): Promise<void>;
  /** Text to send after events that the bridge has passed on without the host and that ended with a failure. */
  tellOfEnd(given: Ended, signal: AbortSignal): Promise<string>;
}

export interface HttpLaterDeps extends RunsDeps, Pick<HttpDeps, 'clock' | 'fault'> {
  bridge: Bridge;
  providers: Providers;
  runs: Runs;
  agents: { list(): Agent[] };
  admit: HttpDeps['admit'] & {};
  used: HttpDeps['used'] & {};
  /** Scopes of a key; undefined for other principals. */
  scopes(principal: string): Promise<readonly Scope[] | undefined>;
  oauth: Pick<AuthorizationsLater, 'answer'>;
  log: Log;
  tools: ToolRegistry;
  version: string;
  wikis: { load(): Promise<Wikis> };
  labels: ContentLabels;
  workbench(): Promise<Pick<Workbench, 'skills'>>;
}

export function httpLater(deps: HttpLaterDeps): HttpLater {
  const { providers, vault, bridge, clock, fault, admit, used, log, version } = deps;
  const note: HttpDeps['note'] & {} = (level, message, fields) => log.write(level, 'http', message, fields);
  const load = lazy(async () => {
    const [{ createHttp }, { HttpAgents }] = await Promise.all([import('./http.ts'), import('../runs/http-agents.ts')]);
    return createHttp({
      agents: withOwnSessions(new HttpAgents(deps), deps.scopes),
      mcp: lazy(async () =>
        (await import('./mcp/mcp.ts')).mcpServer({
          ...{ agent: deps.agent, tools: deps.tools, vault, labels: deps.labels, clock, timeZone: deps.timeZone, version, fault },
          skills: async () => (await deps.workbench()).skills,
          wiki: async (agentId) => (await deps.wikis.load()).of(agentId).vault,
        }),
      ),
      ...{ providers, clock, version, fault, admit, used, note, responses: vault.collection('responses') },
      speak: (params, signal) => bridge.call(speechPort, 'speech.speak', params, { signal }),
      isRevoked: async (principal) => (await deps.scopes(principal))?.length === 0,
      ...{ conversations: vault.collection('conversations'), apiFiles: vault.collection('apiFiles') },
      usageSince: (at) => vault.usage.since(at),
      record: (call) =>
        void providers
          .priced(call.model, call.usage)
          .then((usage) => vault.usage.add({ ...call, usage, id: crypto.randomUUID(), sessionKey: null })),
    });
  });
  let serves = true;
  let sockets: ResponsesSockets | undefined;
  return {
    async acceptResponses(link, principal, headers) {
      const [http, { ResponsesSockets }] = await Promise.all([load(), import('./responses/responses-socket.ts')]);
      sockets ??= new ResponsesSockets(serves);
      sockets.accept(link, { headers, clock, answer: (request, turn) => http(request, principal, undefined, turn) });
    },
    setServing(now) {
      serves = now;
      sockets?.setServing(now);
    },
    fetch: async (request, principal, exchange) =>
      new URL(request.url).pathname === OAUTH_CALLBACK ? deps.oauth.answer(request) : (await load())(request, principal, exchange),
    keepReceipts(given) {
      for (const { call } of given) used(call.principal, 'v1');
      return keepReceipts(given, { providers, usage: vault.usage, note: (message, fields) => note('debug', message, fields) });
    },
    tellOfEnd: async (given, signal) => (await import('./ended.ts')).tellOfEnd(given, signal, { providers, fault, note }),
  };
}

/** Keys without the scope `chat` have separate sessions: the session names that they send do not reach the owner’s chats. */
function withOwnSessions(agents: HttpDeps['agents'], scopesFor: HttpLaterDeps['scopes']): HttpDeps['agents'] {
  return {
    list: () => agents.list(),
    async *run(request) {
      const { sessionId, principal } = request;
      const scopes = sessionId === undefined ? undefined : await scopesFor(principal);
      const own = sessionId !== undefined && scopes && !allows(scopes, 'chat');
      yield* agents.run(own ? { ...request, sessionId: sessionForKey(principal, sessionId) } : request);
    },
  };
}
