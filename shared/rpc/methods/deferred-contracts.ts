import { backupContracts } from './backup-contracts.ts';
import { browserViewContracts } from './browser-view-contracts.ts';
import { browserContracts } from './browser-contracts.ts';
import { channelContracts } from './channel-contracts.ts';
import { configContracts } from './config-contracts.ts';
import { cronContracts } from './cron-contracts.ts';
import { desktopContracts } from './desktop-contracts.ts';
import { deviceContracts } from './device-contracts.ts';
import { drawingContracts } from './drawing-contracts.ts';
import { dreamingContracts } from './dreaming-contracts.ts';
import { execContracts } from './exec-contracts.ts';
import { incognitoContracts } from './incognito-contracts.ts';
import { keyContracts } from './key-contracts.ts';
import { logContracts } from './log-contracts.ts';
import { mcpContracts } from './mcp-contracts.ts';
import { memoryContracts } from './memory-contracts.ts';
import { modelContracts } from './model-contracts.ts';
import { planContracts } from './plan-contracts.ts';
import { reviewContracts } from './review-contracts.ts';
import { sessionContracts } from './session-contracts.ts';
import { skillContracts } from './skill-contracts.ts';
import { statusContracts } from './status-contracts.ts';
import { systemContracts } from './system-contracts.ts';
import { toolContracts } from './tool-contracts.ts';
import { ttsContracts } from './tts-contracts.ts';
import { usageContracts } from './usage-contracts.ts';
import { webContracts } from './web-contracts.ts';
import { wikiContracts } from './wiki-contracts.ts';
import { workspaceContracts } from './workspace-contracts.ts';

/** All other contracts: the gateway loads them when one of them is first called or when it is idle. */
export const deferredContracts = {
  ...sessionContracts,
  ...modelContracts,
  ...configContracts,
  ...toolContracts,
  ...webContracts,
  ...usageContracts,
  ...backupContracts,
  ...browserContracts,
  ...browserViewContracts,
  ...ttsContracts,
  ...desktopContracts,
  ...channelContracts,
  ...workspaceContracts,
  ...wikiContracts,
  ...planContracts,
  ...drawingContracts,
  ...skillContracts,
  ...deviceContracts,
  ...keyContracts,
  ...incognitoContracts,
  ...cronContracts,
  ...dreamingContracts,
  ...systemContracts,
  ...logContracts,
  ...statusContracts,
  ...execContracts,
  ...mcpContracts,
  ...memoryContracts,
  ...reviewContracts,
};
