/**
 * What is kept in one vault on all its replicas, by store. `conflicts`: where two replicas changed a record apart, the one that lost is kept as a
 * copy (stores where records are only ever added, or that nobody writes by hand, have no use for that).
 */
export const SYNC_STORES = {
  sessions: { conflicts: true },
  /** Which message a session's active branch ends in. */
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
  /** What `/v1/responses` keeps for its callers. */
  responses: { conflicts: false },
  /** What was told to the agent and waits for its next run. */
  systemEvents: { conflicts: false },
  /** What the tools of tool servers said of themselves when they were approved. */
  mcpTools: { conflicts: false },
  /** How far channels have read, what waits there for an answer, and what they have counted. */
  channelStates: { conflicts: false },
  drawings: { conflicts: false },
  /** What became of drawings' shapes: never changed, only added, and removed when none of their fields counts any more. */
  drawingChanges: { conflicts: false },
  /** Outside sources of files, memories, plans and drawings that wait for review. */
  contentLabels: { conflicts: false },
  /** Earlier versions of files that tools replaced or removed. */
  fileVersions: { conflicts: false },
  /** Files of workspaces. Those of lines are merged by the host that serves (decision 0048). */
  files: { conflicts: true },
  conflicts: { conflicts: false },
} as const satisfies Record<string, { conflicts: boolean }>;
export type SyncStore = keyof typeof SYNC_STORES;
