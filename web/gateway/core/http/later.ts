import type { Stream } from '#shared/link/stream.ts';
import type { Principal } from '#shared/link/hello.ts';
import { OAUTH_CALLBACK } from '#shared/ports/oauth.ts';
import type { Ended, Receipt } from '#shared/link/splice.ts';
import type { Agent } from '../agents.ts';
import { lazy } from '../lazy.ts';
import type { Log } from '../log/log.ts';
import type { AuthorizationsLater } from '../oauth/later.ts';
import type { Providers } from '../providers/providers.ts';
import type { RunsDeps } from '../runs/deps.ts';
import type { Runs } from '../runs/runs.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { Wikis } from '../wiki/wikis.ts';
import type { HttpDeps } from './deps.ts';
import { keepReceipts } from './receipts.ts';

/** `/v1`, `/mcp` and `/oauth/callback`, loaded when they are first asked: a page has no use for them. */
export interface HttpLater {
  fetch(request: Request, principal: Principal, exchange?: Stream): Promise<Response>;
  /** Stores what calls have used that the bridge spliced; resolves when it is stored. */
  keepReceipts(given: Receipt[]): Promise<void>;
  /** What a caller is told behind events that the bridge has passed on by itself, and that ended badly. */
  tellOfEnd(given: Ended, signal: AbortSignal): Promise<string>;
}

export interface HttpLaterDeps extends RunsDeps, Pick<HttpDeps, 'clock' | 'fault'> {
  providers: Providers;
  runs: Runs;
  agents: { list(): Agent[] };
  admit: HttpDeps['admit'] & {};
  oauth: Pick<AuthorizationsLater, 'answer'>;
  log: Log;
  tools: ToolRegistry;
  version: string;
  wikis: { load(): Promise<Wikis> };
}

export function httpLater(deps: HttpLaterDeps): HttpLater {
  const { providers, vault, clock, fault, admit, log, version } = deps;
  const note: HttpDeps['note'] & {} = (level, message, fields) => log.write(level, 'http', message, fields);
  const load = lazy(async () => {
    const [{ createHttp }, { HttpAgents }] = await Promise.all([import('./http.ts'), import('../runs/http-agents.ts')]);
    return createHttp({
      agents: new HttpAgents(deps),
      mcp: lazy(async () =>
        (await import('./mcp/mcp.ts')).mcpServer({
          ...{ agent: deps.agent, tools: deps.tools, files: vault.files, version, fault },
          wiki: async (agentId) => (await deps.wikis.load()).of(agentId).vault,
        }),
      ),
      ...{ providers, clock, fault, admit, note, responses: vault.collection('responses') },
      record: (call) =>
        void providers
          .priced(call.model, call.usage)
          .then((usage) => vault.usage.add({ ...call, usage, id: crypto.randomUUID(), sessionKey: null })),
    });
  });
  return {
    fetch: async (request, principal, exchange) =>
      new URL(request.url).pathname === OAUTH_CALLBACK ? deps.oauth.answer(request) : (await load())(request, principal, exchange),
    keepReceipts: (given) =>
      keepReceipts(given, { providers, usage: vault.usage, note: (message, fields) => note('debug', message, fields) }),
    tellOfEnd: async (given, signal) => (await import('./ended.ts')).tellOfEnd(given, signal, { providers, fault, note }),
  };
}
