import type { DreamChange, DreamProposal, DreamRun, DreamSignal } from '#shared/rpc/methods/dreaming-contracts.ts';
import type { ScoreComponent, SignalState } from './types.ts';
import { formatNumber } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';

/** Components of a score, with labels and explanations. */
export const SCORE_COMPONENTS: readonly { name: ScoreComponent; label: () => string; about: () => string }[] = [
  { name: 'frequency', label: () => m.dreaming_part_frequency(), about: () => m.dreaming_part_frequency_about() },
  { name: 'relevance', label: () => m.dreaming_part_relevance(), about: () => m.dreaming_part_relevance_about() },
  { name: 'diversity', label: () => m.dreaming_part_diversity(), about: () => m.dreaming_part_diversity_about() },
  { name: 'recency', label: () => m.dreaming_part_recency(), about: () => m.dreaming_part_recency_about() },
  { name: 'consolidation', label: () => m.dreaming_part_consolidation(), about: () => m.dreaming_part_consolidation_about() },
  { name: 'conceptual', label: () => m.dreaming_part_conceptual(), about: () => m.dreaming_part_conceptual_about() },
];

export const SIGNAL_STATES: readonly { state: SignalState; label: () => string }[] = [
  { state: 'all', label: () => m.dreaming_signal_all() },
  { state: 'ready', label: () => m.dreaming_signal_ready() },
  { state: 'short', label: () => m.dreaming_signal_short() },
  { state: 'proposed', label: () => m.dreaming_signal_proposed() },
  { state: 'promoted', label: () => m.dreaming_signal_promoted() },
  { state: 'rejected', label: () => m.dreaming_signal_rejected() },
  { state: 'untrusted', label: () => m.dreaming_signal_untrusted() },
];

export const getSignalStateLabel = (state: DreamSignal['state']): string =>
  SIGNAL_STATES.find((each) => each.state === state)?.label() ?? state;

export const PHASES: readonly { phase: DreamRun['phases'][number]; label: () => string; now: () => string }[] = [
  { phase: 'LIGHT', label: () => m.dreaming_phase_light(), now: () => m.dreaming_phase_light_now() },
  { phase: 'REM', label: () => m.dreaming_phase_rem(), now: () => m.dreaming_phase_rem_now() },
  { phase: 'DEEP', label: () => m.dreaming_phase_deep(), now: () => m.dreaming_phase_deep_now() },
];

export const RUN_STATE_LABELS: Readonly<Record<DreamRun['state'], () => string>> = {
  running: () => m.dreaming_run_running(),
  completed: () => m.dreaming_run_completed(),
  failed: () => m.dreaming_run_failed(),
  interrupted: () => m.dreaming_run_interrupted(),
};

/** Result of the last run, with a placeholder for its time. */
export const LAST_RUN_LABELS: Readonly<Record<DreamRun['state'], () => string>> = {
  running: () => m.dreaming_last_running(),
  completed: () => m.dreaming_last_completed(),
  failed: () => m.dreaming_last_failed(),
  interrupted: () => m.dreaming_last_interrupted(),
};

export const CATEGORY_LABELS: Readonly<Record<DreamProposal['category'], () => string>> = {
  fact: () => m.dreaming_category_fact(),
  preference: () => m.dreaming_category_preference(),
  decision: () => m.dreaming_category_decision(),
  task: () => m.dreaming_category_task(),
  event: () => m.dreaming_category_event(),
  other: () => m.dreaming_category_other(),
};

export const CHANGE_KIND_LABELS: Readonly<Record<DreamChange['kind'], () => string>> = {
  update: () => m.dreaming_change_update(),
  retire: () => m.dreaming_change_retire(),
  merge: () => m.dreaming_change_merge(),
  shorten: () => m.dreaming_change_shorten(),
  promote: () => m.dreaming_change_promote(),
};

export const CHANGE_STATE_LABELS: Readonly<Record<DreamChange['state'], () => string>> = {
  proposed: () => m.dreaming_change_proposed(),
  applying: () => m.dreaming_change_applied(),
  applied: () => m.dreaming_change_applied(),
  undone: () => m.dreaming_change_undone(),
  dismissed: () => m.dreaming_change_dismissed(),
  turned_down: () => m.dreaming_change_turned_down(),
};

/** Formats a share in hundredths: 46. */
export const toHundredths = (share: number): string => formatNumber(Math.round(share * 100));

/** Formats a source reference for people: `memory/2026-11-20.md, line 3`. */
export function formatSourceRef(sourceRef: string): string {
  const [path = '', lines = ''] = sourceRef.split('#');
  const line = lines.replace(/^L/, '').replace(/-L?/, '–');
  return line === '' ? path : m.dreaming_source_line({ path, line });
}
