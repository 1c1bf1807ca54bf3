import { agentContracts } from './agent-contracts.ts';
import { approvalContracts } from './approval-contracts.ts';
import { chatContracts } from './chat-contracts.ts';
import { connectionContracts } from './connection-contracts.ts';
import { modelListContracts } from './model-list-contracts.ts';
import { sessionListContracts } from './session-list-contracts.ts';
import { syncContracts } from './sync-contracts.ts';

/** Contracts that the gateway loads at its start: the first calls of the chat page, and what a chat needs. */
export const initialContracts = {
  ...connectionContracts,
  ...chatContracts,
  ...sessionListContracts,
  ...agentContracts,
  ...modelListContracts,
  ...syncContracts,
  ...approvalContracts,
};
