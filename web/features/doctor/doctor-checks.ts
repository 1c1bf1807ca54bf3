import type { DoctorCheck } from '#shared/rpc/methods/status-contracts.ts';
import { m } from '#app/i18n/messages.ts';

export const SEVERITY_LABELS: Record<DoctorCheck['severity'], () => string> = {
  critical: () => m.doctor_state_critical(),
  error: () => m.doctor_state_error(),
  warning: () => m.doctor_state_warning(),
  info: () => m.doctor_state_info(),
  ok: () => m.doctor_state_ok(),
};

const SEVERITY_ORDER = Object.keys(SEVERITY_LABELS);

/** Sorts checks by severity, the gravest first. */
export const sortBySeverity = (checks: readonly DoctorCheck[]): DoctorCheck[] =>
  checks.toSorted((a, b) => SEVERITY_ORDER.indexOf(a.severity) - SEVERITY_ORDER.indexOf(b.severity));

/** Summary of all checks. */
export function summarizeChecks(checks: readonly DoctorCheck[]): string {
  const faults = checks.filter(({ severity }) => severity === 'error' || severity === 'critical').length;
  const warnings = checks.filter(({ severity }) => severity === 'warning').length;
  if (faults + warnings === 0) return m.doctor_all_well();
  if (faults === 0) return m.doctor_warnings({ count: warnings });
  return warnings === 0 ? m.doctor_faults({ count: faults }) : m.doctor_faults_and_warnings({ faults, warnings });
}

/** The command that a hint asks to run, if the hint consists only of it. */
export const findCommand = (hint: string): string | undefined => /^Run: `?([^`]+?)`?$/.exec(hint)?.[1];
