import { lazy } from '#shared/async/lazy.ts';
import type { AgentToolkit } from '../../agent/toolkit/agent-toolkit.ts';
import { VAULT_SCOPE } from '../../agent/budgets/budget-scopes.ts';
import type { Budgets } from '../../agent/budgets/budgets.ts';
import type { Agents } from '../../agent/agents.ts';
import type { Collections } from '../../agent/collections/collections.ts';
import type { Wikis } from '../../agent/knowledge/wiki/wikis.ts';
import type { RunsDeps } from '../../agent/runs/run-types.ts';
import type { Runs } from '../../agent/runs/runs.ts';
import type { ToolRegistry } from '../../agent/tools/tool-registry.ts';
import type { ContentLabels } from '../../agent/trust/content-labels.ts';
import type { WebSearch } from '../../agent/web-search/web-search.ts';
import type { AudioConverter } from '../../audio/audio-converter.ts';
import type { Config } from '../../config/gateway-config.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Providers } from '../../providers/providers.ts';
import type { LogWriter } from '../../system/log/log.ts';
import { defineModule, type Lazy } from '../../system/modules.ts';
import type { CallerRights } from '../access/caller-rights.ts';
import type { HttpDeps } from './http-deps.ts';

interface HttpNeeds extends Pick<HttpDeps, 'clock' | 'fault' | 'version'> {
  bridge: Bridge;
  audio: AudioConverter;
  providers: Providers;
  runs: Runs;
  /** Dependencies of runs. */
  runDeps: RunsDeps;
  agents: Agents;
  rights: CallerRights;
  log: LogWriter;
  tools: ToolRegistry;
  wikis: Lazy<Wikis>;
  labels: ContentLabels;
  agentToolkit: Lazy<AgentToolkit>;
  budgets: Lazy<Budgets>;
  config: Pick<Config, 'settings'>;
  webSearch: Lazy<Pick<WebSearch, 'search'>>;
  collections: Lazy<Collections>;
}

/** `/v1` and `/mcp`: a page does not need them. */
export const httpModule = defineModule<HttpNeeds>()({
  name: 'http',
  needs: [
    ...(['clock', 'fault', 'version', 'bridge', 'audio', 'providers', 'runs', 'runDeps', 'agents', 'rights'] as const),
    ...(['log', 'tools', 'wikis', 'labels', 'agentToolkit', 'budgets', 'config', 'webSearch', 'collections'] as const),
  ],
  async load({ runDeps, rights, ...needs }) {
    const { vault, timeZone, agent } = runDeps;
    const { providers, clock, version, fault, tools, labels, bridge, audio, log } = needs;
    const [budgets, { createHttpHandler }, { HttpAgents }, { speechPort }, { isolateKeySessions }, { createModelSearches }] =
      await Promise.all([
        needs.budgets.load(),
        import('./http-handler.ts'),
        import('../../agent/runs/http-agents.ts'),
        import('#shared/ports/speech-port.ts'),
        import('./key-sessions.ts'),
        import('./search/model-searches.ts'),
      ]);
    return createHttpHandler({
      agents: isolateKeySessions(new HttpAgents({ ...runDeps, ...needs }), rights.scopes),
      mcp: lazy(async () =>
        (await import('./mcp/mcp-handler.ts')).createMcpRequestHandler({
          ...{ agent, tools, vault, labels, clock, timeZone, version, fault },
          skills: async () => (await needs.agentToolkit.load()).skills,
          wiki: async (agentId) => (await needs.wikis.load()).getWiki(agentId).vault,
        }),
      ),
      ...{ providers, clock, version, fault, used: rights.recordScopeUse },
      admit: async (principal) => {
        await rights.admit(principal);
        await budgets.check([VAULT_SCOPE]);
      },
      canSearch: async (agentId, principal) =>
        (await tools.listOffered(agent(agentId), principal)).some(({ name }) => name === 'web_search'),
      searches: createModelSearches({ ...needs, rights, agent }),
      hasVaultBudget: () => budgets.hasVaultBudget,
      note: (level, message, fields) => log.write(level, 'http', message, fields),
      speak: (params, signal) => bridge.call(speechPort, 'speech.speak', params, { signal }),
      convertAudio: (data, format, signal) => audio.convert(data, format, signal),
      isRevoked: async (principal) => (await rights.scopes(principal))?.length === 0,
      responses: vault.collection('responses'),
      ...{ conversations: vault.collection('conversations'), apiFiles: vault.collection('apiFiles') },
      usageSince: (at) => vault.usage.since(at),
      record: (call) =>
        void providers
          .addCost(call.model, call.usage)
          .then((usage) => vault.usage.add({ ...call, usage, id: crypto.randomUUID(), sessionKey: null })),
    });
  },
});
