import type { Contract, ContractParams, ParsedParams, ContractResult } from '../contract.ts';
import { agentContracts } from './agent-contracts.ts';
import { approvalContracts } from './approval-contracts.ts';
import { backupContracts } from './backup-contracts.ts';
import { budgetContracts } from './budget-contracts.ts';
import { browserContracts } from './browser-contracts.ts';
import { browserViewContracts } from './browser-view-contracts.ts';
import { channelContracts } from './channel-contracts.ts';
import { chatContracts } from './chat-contracts.ts';
import { collectionContracts } from './collection-contracts.ts';
import { configContracts } from './config-contracts.ts';
import { connectionContracts } from './connection-contracts.ts';
import { cronContracts } from './cron-contracts.ts';
import { deliveryContracts } from './delivery-contracts.ts';
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
import { modelListContracts } from './model-list-contracts.ts';
import { planContracts } from './plan-contracts.ts';
import { hookContracts } from './hook-contracts.ts';
import { projectContracts } from './project-contracts.ts';
import { reviewContracts } from './review-contracts.ts';
import { sessionContracts } from './session-contracts.ts';
import { sessionListContracts } from './session-list-contracts.ts';
import { skillContracts } from './skill-contracts.ts';
import { statusContracts } from './status-contracts.ts';
import { syncContracts } from './sync-contracts.ts';
import { systemContracts } from './system-contracts.ts';
import { toolContracts } from './tool-contracts.ts';
import { provenanceContracts } from './provenance-contracts.ts';
import { forgettingContracts } from './forgetting-contracts.ts';
import { pushContracts } from './push-contracts.ts';
import { trashContracts } from './trash-contracts.ts';
import { ttsContracts } from './tts-contracts.ts';
import { usageContracts } from './usage-contracts.ts';
import { webContracts } from './web-contracts.ts';
import { wikiContracts } from './wiki-contracts.ts';
import { workspaceContracts } from './workspace-contracts.ts';

/** All methods. */
export const contracts = {
  ...connectionContracts,
  ...chatContracts,
  ...sessionListContracts,
  ...agentContracts,
  ...modelListContracts,
  ...syncContracts,
  ...approvalContracts,
  ...sessionContracts,
  ...modelContracts,
  ...configContracts,
  ...toolContracts,
  ...webContracts,
  ...usageContracts,
  ...budgetContracts,
  ...deliveryContracts,
  ...backupContracts,
  ...browserContracts,
  ...browserViewContracts,
  ...ttsContracts,
  ...desktopContracts,
  ...channelContracts,
  ...workspaceContracts,
  ...collectionContracts,
  ...provenanceContracts,
  ...forgettingContracts,
  ...trashContracts,
  ...wikiContracts,
  ...planContracts,
  ...projectContracts,
  ...pushContracts,
  ...hookContracts,
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

export type AllContracts = typeof contracts;
export type MethodName = keyof AllContracts;
export type MethodParams<M extends MethodName> = ContractParams<AllContracts[M]>;
export type MethodParsed<M extends MethodName> = ParsedParams<AllContracts[M]>;
export type MethodResult<M extends MethodName> = ContractResult<AllContracts[M]>;

// Checks that every entry is a contract; `contracts` itself keeps the type of each method.
contracts satisfies Record<string, Contract>;
