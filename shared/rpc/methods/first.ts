import { agents } from './agents.ts';
import { approvals } from './approvals.ts';
import { chat } from './chat.ts';
import { connection } from './connection.ts';
import { modelList } from './model-list.ts';
import { sessionList } from './session-list.ts';
import { sync } from './sync.ts';

/** What the chat page calls at its start, and what a chat takes: the gateway has these from its own start on. */
export const firstContracts = {
  ...connection,
  ...chat,
  ...sessionList,
  ...agents,
  ...modelList,
  ...sync,
  ...approvals,
};
