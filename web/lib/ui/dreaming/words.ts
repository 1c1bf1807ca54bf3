import type { DreamRun, DreamSignal } from '#shared/rpc/methods/dreaming.ts';
import type { Component, SignalState } from '#lib/dreaming/types.ts';

/** What a score is made of, and what each part says. */
export const COMPONENTS: readonly { name: Component; label: string; about: string }[] = [
  { name: 'frequency', label: 'Frequency', about: 'how often it was recalled' },
  { name: 'relevance', label: 'Relevance', about: 'how well it fitted what was asked' },
  { name: 'diversity', label: 'Diversity', about: 'by how many different questions, on how many days' },
  { name: 'recency', label: 'Recency', about: 'how lately it came up' },
  { name: 'consolidation', label: 'Consolidation', about: 'over how many days it came up again' },
  { name: 'conceptual', label: 'Concepts', about: 'how many things it is about' },
];

export const STATES: readonly { state: SignalState; label: string }[] = [
  { state: 'all', label: 'All' },
  { state: 'ready', label: 'Ready' },
  { state: 'short', label: 'Not enough yet' },
  { state: 'proposed', label: 'Waiting for you' },
  { state: 'promoted', label: 'Remembered' },
  { state: 'rejected', label: 'Rejected' },
  { state: 'untrusted', label: 'Not its own words' },
];

export const stateWords = (state: DreamSignal['state']): string => STATES.find((each) => each.state === state)?.label ?? state;

export const PHASES: readonly { phase: DreamRun['phases'][number]; label: string; about: string }[] = [
  { phase: 'LIGHT', label: 'Light', about: 'collects what came up' },
  { phase: 'REM', label: 'REM', about: 'reflects on it' },
  { phase: 'DEEP', label: 'Deep', about: 'proposes the best' },
];

export const runWords: Readonly<Record<DreamRun['state'], string>> = {
  running: 'Under way',
  completed: 'Done',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

/** A share as people read it: 46. */
export const hundredths = (share: number): string => String(Math.round(share * 100));

/** Where something was said, as people read it: `memory/2026-11-20.md, line 3`. */
export function sourceWords(sourceRef: string): string {
  const [path = '', lines = ''] = sourceRef.split('#');
  const line = lines.replace(/^L/, '').replace(/-L?/, '–');
  return line === '' ? path : `${path}, line ${line}`;
}
