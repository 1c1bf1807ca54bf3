import { expect, it } from 'vitest';
import { agentConfig } from '#shared/rpc/records.ts';
import { configOf, draftOf, NEW_AGENT } from './draft.ts';

const set = (draft: typeof NEW_AGENT): unknown => agentConfig.parse(JSON.parse(JSON.stringify(configOf(draft))));

it('sets nothing of what is left as it is', () => expect(set(NEW_AGENT)).toEqual({}));

it('reads what it has written', () => {
  for (const config of [
    {},
    { name: 'Editor', avatar: '🦉', model: 'local/a', systemPrompt: ' Be brief.\n', temperature: 0, memory: false, workspace: 'letters' },
    { tools: { allow: [] } },
    { toolGroups: ['browser', 'mcp:github'] },
    { toolGroups: [] },
    { tools: { allow: ['file_*', 'web_fetch'], deny: ['file_remove'] } },
    { tools: { deny: ['exec'] } },
  ])
    expect(set(draftOf(config))).toEqual(config);
});

it('takes patterns line by line, and “some” without any as none', () => {
  expect(set({ ...NEW_AGENT, tools: 'some', allow: ' a \n\n b' })).toEqual({ tools: { allow: ['a', 'b'] } });
  expect(set({ ...NEW_AGENT, tools: 'some', allow: ' \n' })).toEqual({ tools: { allow: [] } });
});

it('stores instructions only if a person has changed the default ones', () => {
  const shown = draftOf({}, 'Be kind.');
  expect(shown.systemPrompt).toBe('Be kind.');
  expect(configOf(shown, 'Be kind.').systemPrompt).toBeUndefined();
  expect(configOf({ ...shown, systemPrompt: 'Be brief.' }, 'Be kind.').systemPrompt).toBe('Be brief.');
  expect(configOf({ ...shown, systemPrompt: '' }, 'Be kind.').systemPrompt).toBe('');
  expect(draftOf({ systemPrompt: '' }, 'Be kind.').systemPrompt).toBe('');
});
