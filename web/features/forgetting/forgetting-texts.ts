import type { ForgetKind, ForgetReason } from '#shared/rpc/methods/forgetting-contracts.ts';
import { m } from '#app/i18n/messages.ts';

export const KIND_LABELS: Readonly<Record<ForgetKind, () => string>> = {
  memory: () => m.forgetting_kind_memory(),
  note: () => m.forgetting_kind_note(),
  summary: () => m.forgetting_kind_summary(),
  page: () => m.forgetting_kind_page(),
  claim: () => m.forgetting_kind_claim(),
  dream: () => m.forgetting_kind_dream(),
  context: () => m.forgetting_kind_context(),
  version: () => m.forgetting_kind_version(),
  trash: () => m.forgetting_kind_trash(),
  conflict: () => m.forgetting_kind_conflict(),
  message: () => m.forgetting_kind_message(),
  record: () => m.forgetting_kind_record(),
  file: () => m.forgetting_kind_file(),
};

/** Labels of what only remains. */
const OTHER_LABELS: Readonly<Record<string, () => string>> = {
  plans: () => m.forgetting_store_plans(),
  jobs: () => m.forgetting_store_jobs(),
  projects: () => m.forgetting_store_projects(),
  drawings: () => m.forgetting_store_drawings(),
  drawingChanges: () => m.forgetting_store_drawings(),
  collections: () => m.forgetting_store_documents(),
  collectionDocuments: () => m.forgetting_store_documents(),
  collectionTexts: () => m.forgetting_store_documents(),
  apiFiles: () => m.forgetting_store_uploads(),
  channelStates: () => m.forgetting_store_channels(),
  hooks: () => m.forgetting_store_hooks(),
  backup: () => m.forgetting_store_backup(),
  name: () => m.forgetting_store_name(),
};

export const REASON_TEXTS: Readonly<Record<ForgetReason, () => string>> = {
  chat: () => m.forgetting_reason_chat(),
  edited: () => m.forgetting_reason_edited(),
  file: () => m.forgetting_reason_file(),
  use: () => m.forgetting_reason_use(),
  backup: () => m.forgetting_reason_backup(),
  sync: () => m.forgetting_reason_sync(),
  notChosen: () => m.forgetting_reason_not_chosen(),
};

/** Label of a kind of piece, or of what only remains. */
export const getForgetLabel = (kind: string): string => (KIND_LABELS[kind as ForgetKind] ?? OTHER_LABELS[kind])?.() ?? kind;
