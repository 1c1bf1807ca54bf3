import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';

/** A skill as the list over a message field offers it. */
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

  /** If reading fails, the last list stays, since it also has prompts. */
  async load(agentId: string): Promise<void> {
    try {
      const { skills } = await gateway.call('skills.list', { agentId });
      const choices = skills
        .filter(({ state, userInvocable }) => state === 'ready' && userInvocable !== false)
        .map(({ name, description }) => ({ name, title: '', description, text: null }));
      this.#lists = { ...this.#lists, [agentId]: choices };
    } catch {
      // An agent that is gone, a host of an older build, or none.
    }
  }
}

export const skillChoices = new SkillChoices();
