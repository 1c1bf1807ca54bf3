import { expect, it } from 'vitest';
import { agentConfig } from '#shared/rpc/record-schemas.ts';
import { toAgentConfig, toAgentDraft, NEW_AGENT } from './agent-draft.ts';

const parseConfig = (draft: typeof NEW_AGENT): unknown => agentConfig.parse(JSON.parse(JSON.stringify(toAgentConfig(draft))));

it('sets nothing of what is left as it is', () => expect(parseConfig(NEW_AGENT)).toEqual({}));

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
    expect(parseConfig(toAgentDraft(config))).toEqual(config);
});

it('takes patterns line by line, and “some” without any as none', () => {
  expect(parseConfig({ ...NEW_AGENT, tools: 'some', allow: ' a \n\n b' })).toEqual({ tools: { allow: ['a', 'b'] } });
  expect(parseConfig({ ...NEW_AGENT, tools: 'some', allow: ' \n' })).toEqual({ tools: { allow: [] } });
});

it('stores instructions only if a person has changed the default ones', () => {
  const emptyDraft = toAgentDraft({}, 'Be kind.');
  expect(emptyDraft.systemPrompt).toBe('Be kind.');
  expect(toAgentConfig(emptyDraft, 'Be kind.').systemPrompt).toBeUndefined();
  expect(toAgentConfig({ ...emptyDraft, systemPrompt: 'Be brief.' }, 'Be kind.').systemPrompt).toBe('Be brief.');
  expect(toAgentConfig({ ...emptyDraft, systemPrompt: '' }, 'Be kind.').systemPrompt).toBe('');
  expect(toAgentDraft({ systemPrompt: '' }, 'Be kind.').systemPrompt).toBe('');
});
