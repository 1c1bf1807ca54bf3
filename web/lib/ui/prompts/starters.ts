import type { Prompt } from '#lib/prompts/prompt.ts';

/** Prompts that people begin with. */
export const PROMPT_STARTERS: readonly { about: string; prompt: Prompt }[] = [
  {
    about: '📝 Sum up a text',
    prompt: {
      name: 'sum-up',
      title: 'Sum up a text',
      description: 'What is on the clipboard, in a few points',
      text: 'Sum up the text below in at most {{number of points}} points, each of one sentence. Say what is left open.\n\n{{clipboard}}',
    },
  },
  {
    about: '✉️ Answer a letter',
    prompt: {
      name: 'answer',
      title: 'Answer a letter',
      description: 'A friendly answer that says what you mean',
      text: 'Today is {{date}}. Write an answer to the letter below: short, friendly, and it says that {{what you want to say}}.\n\n{{letter}}',
    },
  },
  {
    about: '🧒 Explain it simply',
    prompt: {
      name: 'explain',
      title: 'Explain it simply',
      description: 'With an example from daily life',
      text: 'Explain {{subject}} to somebody who has never heard of it. Begin with an example from daily life, then say where it falls short.',
    },
  },
];
