import type { DoctorCheck } from '#shared/rpc/methods/status.ts';
import { m } from '#lib/i18n/pages.ts';

export const STATES: Record<DoctorCheck['severity'], () => string> = {
  critical: () => m.doctor_state_critical(),
  error: () => m.doctor_state_error(),
  warning: () => m.doctor_state_warning(),
  info: () => m.doctor_state_info(),
  ok: () => m.doctor_state_ok(),
};

const ORDER = Object.keys(STATES);

/** The gravest first, and else as they came. */
export const bySeverity = (checks: readonly DoctorCheck[]): DoctorCheck[] =>
  checks.toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));

/** Summary of all checks. */
export function summaryWords(checks: readonly DoctorCheck[]): string {
  const faults = checks.filter(({ severity }) => severity === 'error' || severity === 'critical').length;
  const warnings = checks.filter(({ severity }) => severity === 'warning').length;
  if (faults + warnings === 0) return m.doctor_all_well();
  if (faults === 0) return m.doctor_warnings({ count: warnings });
  return warnings === 0 ? m.doctor_faults({ count: faults }) : m.doctor_faults_and_warnings({ faults, warnings });
}

/** The command that a hint asks to run, if the hint consists only of it. */
export const commandIn = (hint: string): string | undefined => /^Run: `?([^`]+?)`?$/.exec(hint)?.[1];
