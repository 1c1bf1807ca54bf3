import type { DoctorCheck } from '#shared/rpc/methods/status.ts';
import { counted } from '#lib/counted.ts';

export const STATES: Record<DoctorCheck['severity'], string> = {
  critical: 'Grave fault',
  error: 'Fault',
  warning: 'Warning',
  info: 'Note',
  ok: 'Well',
};

const ORDER = Object.keys(STATES);

/** The gravest first, and else as they came. */
export const bySeverity = (checks: readonly DoctorCheck[]): DoctorCheck[] =>
  checks.toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));

/** What all of it comes to. */
export function summaryWords(checks: readonly DoctorCheck[]): string {
  const faults = checks.filter(({ severity }) => severity === 'error' || severity === 'critical').length;
  const warnings = checks.filter(({ severity }) => severity === 'warning').length;
  if (faults + warnings === 0) return 'All is well';
  return [faults && counted(faults, 'fault'), warnings && counted(warnings, 'warning')].filter(Boolean).join(' and ');
}

/** The command that a hint asks to run, where it is nothing but that. */
export const commandIn = (hint: string): string | undefined => /^Run: `?([^`]+?)`?$/.exec(hint)?.[1];
