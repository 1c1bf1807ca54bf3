import { toParameterDraft } from '#app/parameters/parameter-draft.ts';
import type { AgentDraft } from '#app/state/agent-draft.ts';
import { m } from '#app/i18n/messages.ts';

/** Templates of agents. */
export const getAgentStarters = (): { about: string; draft: Partial<AgentDraft> }[] => [
  {
    about: m.agents_starter_editor(),
    draft: {
      name: m.agents_starter_editor_name(),
      avatar: '✍️',
      systemPrompt: m.agents_starter_editor_prompt(),
      tools: 'none',
    },
  },
  {
    about: m.agents_starter_reviewer(),
    draft: {
      name: m.agents_starter_reviewer_name(),
      avatar: '🔎',
      systemPrompt: m.agents_starter_reviewer_prompt(),
      tools: 'some',
      allow: 'file_list\nfile_read',
      parameters: toParameterDraft({ temperature: 0.2 }),
    },
  },
  {
    about: m.agents_starter_translator(),
    draft: {
      name: m.agents_starter_translator_name(),
      avatar: '🌍',
      systemPrompt: m.agents_starter_translator_prompt(),
      tools: 'none',
      memory: false,
    },
  },
];
