import { gateway } from '#app/connection/gateway-connection.svelte.ts';

/** A skill in the list above a message field. */
export interface SkillChoice {
  name: string;
  title: string;
  description: string;
  text: null;
}

/** The skills that can be called by their names, by agent. */
class SkillChoices {
  #lists = $state.raw<Readonly<Record<string, readonly SkillChoice[]>>>({});

  getChoices(agentId: string | null): readonly SkillChoice[] {
    return (agentId !== null && this.#lists[agentId]) || [];
  }

  /** Loads the skills of an agent; if that fails, the previous list stays. */
  async load(agentId: string): Promise<void> {
    try {
      const { skills } = await gateway.call('skills.list', { agentId });
      const choices = skills
        .filter(({ state, userInvocable }) => state === 'ready' && userInvocable !== false)
        .map(({ name, description }) => ({ name, title: '', description, text: null }));
      this.#lists = { ...this.#lists, [agentId]: choices };
    } catch {
      // The agent was deleted, the host is of an older build, or there is no connection.
    }
  }
}

export const skillChoices = new SkillChoices();
