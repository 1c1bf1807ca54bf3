import type { AgentConfig } from '#shared/rpc/record-schemas.ts';

/** Agents next to the main one; chats of the demo's past are theirs. */
export const DEMO_AGENTS: Record<string, AgentConfig> = {
  editor: {
    name: 'Club news',
    systemPrompt: 'You write for the newsletter of a small bird club: short sentences, plain words, no exclamation marks.',
    temperature: 0.7,
    memory: false,
  },
  data: {
    name: 'Number cruncher',
    systemPrompt: 'You help to clean and check tables of bird counts. Show the code, and say how to check the result by hand.',
    model: 'demo/scripted-small',
    tools: { deny: ['web_*'] },
    memory: false,
  },
  translator: {
    name: 'Translator',
    systemPrompt: 'You translate letters between English, French and German. Keep the tone. Reply with the translation alone.',
    memory: false,
  },
};
