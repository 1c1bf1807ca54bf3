import type { SkillEntry } from '#shared/rpc/methods/skill-contracts.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';

/** The skills that agents can read when they need them. */
class Skills {
  /** Null before the first answer. */
  list = $state.raw<SkillEntry[] | null>(null);
  problem = $state<Problem | null>(null);
  reading = $state(false);

  async load(): Promise<void> {
    this.reading = true;
    try {
      const result = await gateway.call('skills.list', {});
      this.list = result.skills.toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
      this.problem = null;
    } catch (error) {
      if (!isConnectionLost(error)) this.problem = toProblem(error, m.skills_doing_read());
    } finally {
      this.reading = false;
    }
  }
}

export const skills = new Skills();
