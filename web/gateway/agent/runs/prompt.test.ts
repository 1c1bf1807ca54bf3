import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';
import { createPrompt } from './prompt.ts';

let made = 0;
const message = (role: MessageRecord['role'], fields: Partial<MessageRecord> = {}): MessageRecord => ({
  ...{ id: String(++made), sessionKey: 'main/main', parentId: null, depth: made, timestamp: 0, role, content: role },
  ...fields,
});
const asks = (...ids: string[]): MessageRecord =>
  message('assistant', { content: '', toolCalls: ids.map((id) => ({ id, tool: 'look', args: {} })) });
const result = (toolCallId: string): MessageRecord => message('tool', { toolCallId, name: 'look' });

/** Roles, with the ids of calls and results. */
const shape = (branch: readonly MessageRecord[]): string[] =>
  createPrompt('s', branch)
    .slice(1)
    .map(({ role, toolCalls = [], toolCallId = '' }) => [role, ...toolCalls.map(({ id }) => id), toolCallId].filter(Boolean).join(' '));

verifies('chat/calls-and-results', 'a branch that is cut anywhere has no call without its result, and no result without its call', () => {
  const branch = [message('user'), asks('a', 'b'), result('a'), result('b'), asks('c'), result('c'), message('assistant'), message('user')];
  expect(shape(branch)).toEqual(['user', 'assistant a b', 'tool a', 'tool b', 'assistant c', 'tool c', 'assistant', 'user']);
  for (let from = 0; from <= branch.length; from++) {
    for (let to = from; to <= branch.length; to++) {
      const asked = createPrompt('s', [...branch.slice(from, to), message('user')]);
      for (const [at, { toolCalls = [] }] of asked.entries()) {
        const behind = asked.slice(at + 1, at + 1 + toolCalls.length).map(({ role, toolCallId }) => [role, toolCallId]);
        expect(behind).toEqual(toolCalls.map(({ id }) => ['tool', id]));
      }
      expect(asked.filter(({ role }) => role === 'tool')).toHaveLength(asked.flatMap(({ toolCalls = [] }) => toolCalls).length);
    }
  }
  expect(shape([asks('x'), result('other'), message('user')])).toEqual(['assistant x', 'tool x', 'user']);
});
