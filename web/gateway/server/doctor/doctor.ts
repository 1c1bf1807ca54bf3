import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { DoctorCheck } from '#shared/rpc/methods/status-contracts.ts';
import { withTimeout } from '#shared/async/watchdog.ts';
import { bridgeChecks } from './bridge-checks.ts';
import { channelChecks } from './channel-checks.ts';
import { clusterChecks } from './cluster-checks.ts';
import type { HealthCheck, DoctorDeps } from './doctor-deps.ts';
import { dreamingChecks } from './dreaming-checks.ts';
import { jobChecks } from './job-checks.ts';
import { keyChecks } from './key-checks.ts';
import { localModelChecks } from './local-model-checks.ts';
import { mirrorChecks } from './mirror-checks.ts';
import { modelChecks } from './model-checks.ts';
import { programChecks } from './program-checks.ts';
import { settingsChecks } from './settings-checks.ts';
import { storageChecks } from './storage-checks.ts';
import { syncChecks } from './sync-checks.ts';

/** Time limit for a check. Exceeding it is a finding: the tested part does not respond. */
const CHECK_TIMEOUT_MS = 12_000;

/** Runs all checks concurrently, each with its own time limit. A failing check is reported and does not affect the others. */
export async function runDoctor(deps: DoctorDeps, signal: AbortSignal): Promise<MethodResult<'doctor.run'>> {
  const groups = [
    ...[storageChecks, syncChecks, clusterChecks, bridgeChecks, mirrorChecks, modelChecks, localModelChecks],
    ...[programChecks, settingsChecks, keyChecks, channelChecks, dreamingChecks, jobChecks],
  ];
  const found = await Promise.all(groups.flatMap((createChecks) => createChecks(deps)).map((check) => runCheck(check, deps, signal)));
  const checks = found.filter((check) => check !== null);
  const count = (...severities: DoctorCheck['severity'][]): number => checks.filter(({ severity }) => severities.includes(severity)).length;
  const summary = { passed: count('ok', 'info'), warnings: count('warning'), failed: count('error', 'critical') };
  if (summary.failed > 0) {
    const failing = checks.filter(({ severity }) => severity === 'error' || severity === 'critical').map(({ id }) => id);
    deps.log.write('warn', 'doctor', 'Doctor found problems', { failing });
  }
  return { checks, summary };
}

async function runCheck({ id, title, run }: HealthCheck, { clock }: DoctorDeps, signal: AbortSignal): Promise<DoctorCheck | null> {
  try {
    const finding = await withTimeout(clock, CHECK_TIMEOUT_MS, signal, async (timeout) => run(timeout));
    return finding && { id, title, ...finding };
  } catch (error) {
    signal.throwIfAborted();
    const message = `This check failed: ${error instanceof Error ? error.message : String(error)}`;
    return { id, title, severity: 'warning', message, fixHint: 'Check the logs (`logs.tail`) and run Doctor again.' };
  }
}
