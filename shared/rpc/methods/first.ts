import { agents } from './agents.ts';
import { approvals } from './approvals.ts';
import { chat } from './chat.ts';
import { connection } from './connection.ts';
import { modelList } from './model-list.ts';
import { sessionList } from './session-list.ts';
import { sync } from './sync.ts';

/** Contracts that the gateway loads at its start: the first calls of the chat page, and what a chat needs. */
export const firstContracts = {
  ...connection,
  ...chat,
  ...sessionList,
  ...agents,
  ...modelList,
  ...sync,
  ...approvals,
};
