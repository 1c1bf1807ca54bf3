import { m } from '#app/i18n/messages.ts';
import type { Prompt } from '#shared/prompts/prompt.ts';

/** Templates of prompts. */
export const getPromptStarters = (): { about: string; prompt: Prompt }[] => [
  {
    about: `📝 ${m.prompts_starter_sum_up()}`,
    prompt: {
      name: m.prompts_starter_sum_up_name(),
      title: m.prompts_starter_sum_up(),
      description: m.prompts_starter_sum_up_about(),
      text: m.prompts_starter_sum_up_text({ clipboard: '{{clipboard}}' }),
    },
  },
  {
    about: `✉️ ${m.prompts_starter_answer()}`,
    prompt: {
      name: m.prompts_starter_answer_name(),
      title: m.prompts_starter_answer(),
      description: m.prompts_starter_answer_about(),
      text: m.prompts_starter_answer_text({ date: '{{date}}' }),
    },
  },
  {
    about: `🧒 ${m.prompts_starter_explain()}`,
    prompt: {
      name: m.prompts_starter_explain_name(),
      title: m.prompts_starter_explain(),
      description: m.prompts_starter_explain_about(),
      text: m.prompts_starter_explain_text(),
    },
  },
];
