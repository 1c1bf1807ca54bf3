/**
 * Stores that all replicas of a vault share. `conflicts`: if two replicas changed a record concurrently, the losing version is kept as a
 * copy (of no use for stores with additions only, or written by no person).
 */
export const SYNC_STORES = {
  sessions: { conflicts: true },
  /** Last message of a session's active branch. */
  heads: { conflicts: true },
  messages: { conflicts: false },
  runs: { conflicts: false },
  config: { conflicts: true },
  secrets: { conflicts: false },
  memories: { conflicts: true },
  usage: { conflicts: false },
  plans: { conflicts: false },
  jobs: { conflicts: false },
  jobRuns: { conflicts: false },
  execRequests: { conflicts: false },
  execPolicies: { conflicts: false },
  approvals: { conflicts: false },
  devices: { conflicts: false },
  apiKeys: { conflicts: false },
  /** Projects: folders of chats with instructions, files and settings. */
  projects: { conflicts: true },
  /** Webhooks: calls from other services, and events for them. */
  hooks: { conflicts: false },
  /** Calls of hooks. */
  hookCalls: { conflicts: false },
  /** Budgets, with what people decided about them. */
  budgets: { conflicts: false },
  /** Subscriptions of browsers to push notifications. */
  pushDevices: { conflicts: false },
  /** Messages that the gateway sends of its own accord, with their receipts. */
  deliveries: { conflicts: false },
  /** Responses stored for callers of `/v1/responses`. */
  responses: { conflicts: false },
  /** Conversations of `/v1/conversations`. */
  conversations: { conflicts: false },
  /** Files of `/v1/files`, and their contents. */
  apiFiles: { conflicts: false },
  /** Events for an agent's next run. */
  systemEvents: { conflicts: false },
  /** Descriptions of MCP tools at the time they were approved. */
  mcpTools: { conflicts: false },
  /** Read positions of channels, messages that wait for an answer, and counters. */
  channelStates: { conflicts: false },
  drawings: { conflicts: false },
  /** Changes of drawings' shapes: only added, and removed when none of their fields counts any more. */
  drawingChanges: { conflicts: false },
  /** Outside sources of files, memories, plans and drawings that wait for review. */
  contentLabels: { conflicts: false },
  /** Origins of memories, daily summaries, claims and dreams. */
  provenance: { conflicts: false },
  /** The forgotten pieces, without their text. */
  forgettings: { conflicts: false },
  /** Earlier versions of files that tools replaced or removed. */
  fileVersions: { conflicts: false },
  /** Deleted items that can be restored. */
  trash: { conflicts: false },
  /** Records that were moved to the trash with an item. */
  trashRecords: { conflicts: false },
  collections: { conflicts: true },
  /** Documents of collections. */
  collectionDocuments: { conflicts: false },
  /** Texts of documents, in parts, with their passages. */
  collectionTexts: { conflicts: false },
  /** Files of workspaces. Those of lines are merged by the host that serves (decision 0048). */
  files: { conflicts: true },
  conflicts: { conflicts: false },
} as const satisfies Record<string, { conflicts: boolean }>;
export type SyncStore = keyof typeof SYNC_STORES;
