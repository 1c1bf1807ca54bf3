import type { SyncStore } from '#shared/sync/stores.ts';
import { m } from '#app/i18n/messages.ts';
import type { RestoreChanges } from './backups.svelte.ts';

const STORE_LABELS: Readonly<Record<SyncStore, () => string>> = {
  sessions: () => m.backups_store_sessions(),
  heads: () => m.backups_store_heads(),
  messages: () => m.backups_store_messages(),
  runs: () => m.backups_store_runs(),
  config: () => m.backups_store_config(),
  secrets: () => m.backups_store_secrets(),
  memories: () => m.backups_store_memories(),
  usage: () => m.backups_store_usage(),
  plans: () => m.backups_store_plans(),
  jobs: () => m.backups_store_jobs(),
  jobRuns: () => m.backups_store_job_runs(),
  execRequests: () => m.backups_store_exec_requests(),
  execPolicies: () => m.backups_store_exec_policies(),
  approvals: () => m.backups_store_approvals(),
  devices: () => m.backups_store_devices(),
  apiKeys: () => m.backups_store_api_keys(),
  projects: () => m.backups_store_projects(),
  hooks: () => m.backups_store_hooks(),
  hookCalls: () => m.backups_store_hook_calls(),
  budgets: () => m.backups_store_budgets(),
  pushDevices: () => m.backups_store_push_devices(),
  deliveries: () => m.backups_store_deliveries(),
  responses: () => m.backups_store_responses(),
  systemEvents: () => m.backups_store_system_events(),
  mcpTools: () => m.backups_store_mcp_tools(),
  channelStates: () => m.backups_store_channel_states(),
  drawings: () => m.backups_store_drawings(),
  drawingChanges: () => m.backups_store_drawing_changes(),
  contentLabels: () => m.backups_store_content_labels(),
  provenance: () => m.backups_store_provenance(),
  forgettings: () => m.backups_store_forgettings(),
  fileVersions: () => m.backups_store_file_versions(),
  collections: () => m.backups_store_collections(),
  collectionDocuments: () => m.backups_store_collection_documents(),
  collectionTexts: () => m.backups_store_collection_texts(),
  trash: () => m.backups_store_trash(),
  trashRecords: () => m.backups_store_trash_records(),
  conversations: () => m.backups_store_conversations(),
  apiFiles: () => m.backups_store_api_files(),
  files: () => m.backups_store_files(),
  conflicts: () => m.backups_store_conflicts(),
};

interface ChangeRow {
  store: string;
  /** Name of the changed kind of data. */
  name: string;
  added: number;
  changed: number;
  removed: number;
}

/** Changes that a restore would make, in words; unchanged data is left out. */
export const toChangeRows = (changes: RestoreChanges): ChangeRow[] =>
  Object.entries(changes)
    .filter(([, { added, changed, removed }]) => added + changed + removed > 0)
    .map(([store, { added, changed, removed }]) => ({
      store,
      name: STORE_LABELS[store as SyncStore]?.() ?? store,
      added,
      changed,
      removed,
    }));
