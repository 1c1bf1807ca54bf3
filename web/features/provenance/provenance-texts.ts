import type { ProvenanceMessage, ProvenanceState, ProvenanceVersionView } from '#shared/rpc/methods/provenance-contracts.ts';
import { m } from '#app/i18n/messages.ts';

export const STATE_TEXTS: Readonly<Record<ProvenanceState, () => string>> = {
  intact: () => m.provenance_state_intact(),
  entryChanged: () => m.provenance_state_entry_changed(),
  sourceChanged: () => m.provenance_state_source_changed(),
  sourceDeleted: () => m.provenance_state_source_deleted(),
  tampered: () => m.provenance_state_tampered(),
  unverifiable: () => m.provenance_state_unverifiable(),
  unrecorded: () => m.provenance_state_unrecorded(),
};

export const SOURCE_LABELS: Readonly<Record<Exclude<ProvenanceMessage['state'], 'intact'>, () => string>> = {
  changed: () => m.provenance_source_changed(),
  deleted: () => m.provenance_source_deleted(),
  unverifiable: () => m.provenance_source_unverifiable(),
};

const AUTHOR_LABELS: Readonly<Record<ProvenanceVersionView['by'], () => string>> = {
  person: () => m.provenance_by_person(),
  program: () => m.provenance_by_program(),
  agent: () => m.provenance_by_agent(),
  summary: () => m.provenance_by_summary(),
  dreaming: () => m.provenance_by_dreaming(),
  import: () => m.provenance_by_import(),
};

/** The writer of a version. `isFirst`: later versions of a person are edits. */
export const getAuthorLabel = (by: ProvenanceVersionView['by'], isFirst: boolean): string =>
  by === 'person' && !isFirst ? m.provenance_by_edit() : AUTHOR_LABELS[by]();
