import type { SyncStore } from '#shared/sync/stores.ts';
import type { RestoreChanges } from '#lib/state/backups.svelte.ts';

const STORES: Readonly<Record<SyncStore, string>> = {
  sessions: 'Chats',
  heads: 'Places in chats',
  messages: 'Messages',
  runs: 'Agents’ runs',
  config: 'Settings',
  secrets: 'Keys and tokens',
  memories: 'What memories are about',
  usage: 'Usage',
  plans: 'Plans',
  jobs: 'Schedules',
  jobRuns: 'Runs of schedules',
  execRequests: 'Commands',
  execPolicies: 'Rules for commands',
  approvals: 'Approvals',
  devices: 'Devices',
  apiKeys: 'Keys for programs',
  responses: 'Responses of programs',
  systemEvents: 'System events',
  mcpTools: 'Tools of servers',
  channelStates: 'Channels',
  drawings: 'Drawings',
  drawingChanges: 'Strokes and shapes',
  files: 'Files, memories, wiki',
  conflicts: 'Changes put aside',
};

export interface ChangeRow {
  /** What it is about. */
  name: string;
  added: number;
  changed: number;
  removed: number;
}

/** What a restore would change, in the words of people; what stays as it is left out. */
export const changeRows = (changes: RestoreChanges): ChangeRow[] =>
  Object.entries(changes)
    .filter(([, { added, changed, removed }]) => added + changed + removed > 0)
    .map(([store, { added, changed, removed }]) => ({ name: STORES[store as SyncStore] ?? store, added, changed, removed }));
