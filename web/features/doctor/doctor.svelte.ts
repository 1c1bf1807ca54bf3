import type { DoctorCheck } from '#shared/rpc/methods/status-contracts.ts';
import { sortBySeverity, summarizeChecks } from './doctor-checks.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { announcer } from '#app/state/announcer.svelte.ts';

/** Findings of the gateway's diagnosis. */
class Doctor {
  /** The gravest first; null before the first answer. */
  checks = $state.raw<readonly DoctorCheck[] | null>(null);
  /** Time of the checks, milliseconds since 1970. */
  checkedAt = $state(0);
  problem = $state<Problem | null>(null);
  #abort = $state.raw<AbortController | null>(null);

  get isRunning(): boolean {
    return this.#abort !== null;
  }

  /** Runs all checks anew. */
  async run(): Promise<void> {
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    try {
      const { checks } = await gateway.call('doctor.run', {}, { signal: abort.signal });
      if (abort.signal.aborted) return;
      this.checks = sortBySeverity(checks);
      this.checkedAt = Date.now();
      this.problem = null;
      announcer.announce(summarizeChecks(checks));
    } catch (error) {
      if (!abort.signal.aborted && !isConnectionLost(error)) this.problem = toProblem(error, m.doctor_doing_run());
    } finally {
      if (this.#abort === abort) this.#abort = null;
    }
  }

  stop(): void {
    this.#abort?.abort();
    this.#abort = null;
  }
}

export const doctor = new Doctor();
