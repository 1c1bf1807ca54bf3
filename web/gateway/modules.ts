import { agentToolkitModule } from './agent/toolkit-module.ts';
import { approvalsModule } from './agent/approvals/module.ts';
import { compactorModule } from './agent/compaction/module.ts';
import { filesMirrorModule } from './agent/files-mirror/module.ts';
import { guideModule } from './agent/guide/module.ts';
import { incognitoModule } from './agent/incognito/module.ts';
import { dreamerModule } from './agent/knowledge/dreamer/module.ts';
import { dailySummariesModule, longTermMemoriesModule, memoriesModule } from './agent/knowledge/memory/module.ts';
import { replyRecallModule } from './agent/knowledge/recall/module.ts';
import { wikisModule } from './agent/knowledge/wiki/module.ts';
import { mcpModule } from './agent/mcp/module.ts';
import { titlesModule } from './agent/small-work/module.ts';
import { channelsModule } from './automation/channels/module.ts';
import { cronModule } from './automation/cron/module.ts';
import { configFileModule } from './config/config-file/module.ts';
import { authorizationsModule } from './config/oauth/module.ts';
import { drawingsModule } from './drawings/module.ts';
import { localModelsModule } from './providers/local-models/module.ts';
import { accessModule } from './server/access/module.ts';
import { httpModule } from './server/http/module.ts';

/** The parts of the gateway that are loaded when they are needed. */
export const MODULES = [
  configFileModule,
  authorizationsModule,
  localModelsModule,
  drawingsModule,
  approvalsModule,
  agentToolkitModule,
  filesMirrorModule,
  longTermMemoriesModule,
  memoriesModule,
  dailySummariesModule,
  replyRecallModule,
  compactorModule,
  titlesModule,
  wikisModule,
  dreamerModule,
  guideModule,
  incognitoModule,
  mcpModule,
  cronModule,
  channelsModule,
  accessModule,
  httpModule,
] as const;
