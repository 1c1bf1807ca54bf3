import { agentToolkitModule } from './agent/toolkit/agent-toolkit-module.ts';
import { approvalsModule } from './agent/approvals/approvals-module.ts';
import { budgetsModule } from './agent/budgets/budgets-module.ts';
import { collectionsModule } from './agent/collections/collections-module.ts';
import { compactorModule } from './agent/compaction/compactor-module.ts';
import { filesMirrorModule } from './agent/files-mirror/files-mirror-module.ts';
import { forgettingModule } from './agent/forgetting/forgetting-module.ts';
import { guideModule } from './agent/guide/guide-module.ts';
import { incognitoModule } from './agent/incognito/incognito-module.ts';
import { dreamerModule } from './agent/knowledge/dreamer/dreamer-module.ts';
import { dailySummariesModule, longTermMemoriesModule, memoriesModule } from './agent/knowledge/memory/memory-module.ts';
import { provenanceModule } from './agent/knowledge/provenance/provenance-module.ts';
import { replyRecallModule } from './agent/knowledge/recall/reply-recall-module.ts';
import { subAgentsModule } from './agent/sub-agents/sub-agents-module.ts';
import { trashModule } from './agent/trash/trash-module.ts';
import { wikisModule } from './agent/knowledge/wiki/wikis-module.ts';
import { mcpModule } from './agent/mcp/mcp-module.ts';
import { titlesModule } from './agent/small-work/titles-module.ts';
import { webSearchModule } from './agent/web-search/web-search-module.ts';
import { approvalDeliveriesModule } from './automation/approvals/approval-deliveries-module.ts';
import { channelsModule } from './automation/channels/channels-module.ts';
import { cronModule } from './automation/cron/cron-module.ts';
import { deliveriesModule } from './automation/deliveries/deliveries-module.ts';
import { pushModule } from './automation/push/push-module.ts';
import { hooksModule } from './automation/hooks/hooks-module.ts';
import { configFileModule } from './config/config-file/config-file-module.ts';
import { authorizationsModule } from './config/oauth/authorizations-module.ts';
import { drawingsModule } from './drawings/drawings-module.ts';
import { localModelsModule } from './providers/local-models/local-models-module.ts';
import { accessModule } from './server/access/access-module.ts';
import { httpModule } from './server/http/http-module.ts';

/** The parts of the gateway that are loaded when they are needed. */
export const MODULES = [
  configFileModule,
  authorizationsModule,
  localModelsModule,
  budgetsModule,
  drawingsModule,
  approvalsModule,
  agentToolkitModule,
  subAgentsModule,
  provenanceModule,
  filesMirrorModule,
  longTermMemoriesModule,
  memoriesModule,
  dailySummariesModule,
  replyRecallModule,
  compactorModule,
  titlesModule,
  wikisModule,
  trashModule,
  forgettingModule,
  webSearchModule,
  collectionsModule,
  dreamerModule,
  guideModule,
  incognitoModule,
  mcpModule,
  channelsModule,
  pushModule,
  deliveriesModule,
  approvalDeliveriesModule,
  cronModule,
  hooksModule,
  accessModule,
  httpModule,
] as const;
