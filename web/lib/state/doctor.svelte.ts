import type { DoctorCheck } from '#shared/rpc/methods/status.ts';
import { bySeverity, summaryWords } from '#lib/doctor/checks.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';
import { announcer } from './announcer.svelte.ts';

/** Findings of the gateway's diagnosis. */
class Doctor {
  /** The gravest first; null before the first answer. */
  checks = $state.raw<readonly DoctorCheck[] | null>(null);
  /** When they were made, milliseconds since 1970. */
  at = $state(0);
  problem = $state<Problem | null>(null);
  #running = $state.raw<AbortController | null>(null);

  get running(): boolean {
    return this.#running !== null;
  }

  /** Runs all checks anew. */
  async run(): Promise<void> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    try {
      const { checks } = await gateway.call('doctor.run', {}, { signal: running.signal });
      if (running.signal.aborted) return;
      this.checks = bySeverity(checks);
      this.at = Date.now();
      this.problem = null;
      announcer.say(summaryWords(checks));
    } catch (error) {
      if (!running.signal.aborted && !isLost(error)) this.problem = problemOf(error, m.doctor_doing_run());
    } finally {
      if (this.#running === running) this.#running = null;
    }
  }

  stop(): void {
    this.#running?.abort();
    this.#running = null;
  }
}

export const doctor = new Doctor();
