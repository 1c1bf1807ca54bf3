import type { SkillEntry } from '#shared/rpc/methods/skills.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/pages.ts';

/** The skills that agents can read when they need them. */
class Skills {
  /** Null before the first answer. */
  list = $state.raw<SkillEntry[] | null>(null);
  problem = $state<Problem | null>(null);
  reading = $state(false);

  async load(): Promise<void> {
    this.reading = true;
    try {
      const read = await gateway.call('skills.list', {});
      this.list = read.skills.toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
      this.problem = null;
    } catch (error) {
      if (!isLost(error)) this.problem = problemOf(error, m.skills_doing_read());
    } finally {
      this.reading = false;
    }
  }
}

export const skills = new Skills();
