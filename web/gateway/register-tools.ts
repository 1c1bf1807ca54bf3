import type { Collections } from './agent/collections/collections.ts';
import type { AgentToolkit } from './agent/toolkit/agent-toolkit.ts';
import type { ToolRegistry } from './agent/tools/tool-registry.ts';
import type { BuiltinToolsDeps } from './agent/tools/builtin-tools.ts';
import type { Config } from './config/gateway-config.ts';
import type { DocumentReader } from './documents/document-reader.ts';
import { DEFAULT_DATA_URL, withOcr } from './documents/ocr.ts';
import type { Painter } from './drawings/painter.ts';
import type { DrawingStore } from './drawings/drawing-store.ts';
import type { WebSearch } from './agent/web-search/web-search.ts';
import type { Wikis } from './agent/knowledge/wiki/wikis.ts';
import type { SubAgents } from './agent/sub-agents/sub-agents.ts';
import type { Deliveries } from './automation/deliveries/deliveries.ts';
import type { CronService } from './automation/cron/cron-service.ts';
import type { Lazy } from './system/modules.ts';

interface ToolNeeds extends Omit<BuiltinToolsDeps, 'documents' | 'keepVersion' | 'allow'> {
  agentToolkit: Lazy<AgentToolkit>;
  wikis: Lazy<Wikis>;
  cron: Lazy<CronService>;
  deliveries: Lazy<Deliveries>;
  webSearch: Lazy<WebSearch>;
  collections: Lazy<Collections>;
  drawings: Lazy<DrawingStore>;
  subAgents: Lazy<SubAgents>;
  documents: DocumentReader;
  painter: Painter | undefined;
  config: Config;
}

/** Registers the gateway's tools. Their code is loaded when an agent is offered tools. */
export function registerTools(tools: ToolRegistry, needs: ToolNeeds): void {
  const { agentToolkit, bridge, config, drawings, painter, labels, agent, wikis, cron, deliveries, collections, subAgents, webSearch } =
    needs;
  const documents = withOcr(needs.documents, () => {
    const { enabled, dataUrl = DEFAULT_DATA_URL, languages } = config.settings.documents.ocr;
    return enabled ? { dataUrl, languages } : undefined;
  });
  tools.registerLazy(async () =>
    (await import('./agent/tools/builtin-tools.ts')).createBuiltinTools({
      ...needs,
      documents,
      keepVersion: async (...file) => (await agentToolkit.load()).versions.save(...file),
      allow: () => config.settings.tools.webFetch?.allow ?? [],
    }),
  );
  tools.registerLazy(async () => (await import('./automation/cron/cron-tools.ts')).cronTools(cron));
  tools.registerLazy(async () => {
    const { createMessageTool } = await import('./automation/deliveries/message-tool.ts');
    return [createMessageTool({ deliveries, settings: () => config.settings })];
  });
  tools.registerLazy(async () => (await agentToolkit.load()).tools);
  tools.registerLazy(async () => {
    const canSearch = (): boolean => config.settings.tools.webSearch !== undefined;
    return [(await import('./agent/web-search/web-search-tool.ts')).createWebSearchTool({ webSearch, canSearch })];
  });
  tools.registerLazy(async () => (await import('./agent/sub-agents/sub-agent-tools.ts')).subAgentTools(subAgents));
  tools.registerLazy(async () => (await import('./agent/desktop/desktop-tools.ts')).desktopTools({ bridge }));
  tools.registerLazy(async () => {
    const workspaces = async (): Promise<AgentToolkit['workspaces']> => (await agentToolkit.load()).workspaces;
    return (await import('./agent/browser/browser-tools.ts')).browserTools({ bridge, config, workspaces, labels, agent });
  });
  tools.registerLazy(async () =>
    (await import('./agent/knowledge/wiki/wiki-tools.ts')).wikiTools({ wikis, labels, messages: needs.vault.messages }),
  );
  tools.registerLazy(async () => (await import('./agent/collections/collection-tools.ts')).collectionTools({ collections }));
  tools.registerLazy(async () => (await import('./agent/drawings/canvas-tools.ts')).canvasTools({ drawings, paint: painter, labels }));
}
