import { expect, test } from 'vitest';
import { withCurrentRights } from './restored-rights.ts';

const restore = (store: 'config' | 'jobs' | 'hooks' | 'files', key: string, restored: unknown, current?: unknown): unknown => {
  const payload = withCurrentRights(
    { store, key, payload: JSON.stringify(restored) },
    current === undefined ? null : JSON.stringify(current),
  );
  return JSON.parse(payload ?? 'null');
};

test('tools: what asks or denies comes back, what allows stays as it is', () => {
  const value = {
    policies: { exec: 'auto', web_fetch: 'deny', file_write: 'ask' },
    afterReading: { '*': ['web:*'] },
    webFetch: { allow: ['127.0.0.1'] },
    execTimeoutMs: 5000,
  };
  expect(restore('config', 'tools', { name: 'tools', value })).toEqual({
    name: 'tools',
    value: { execTimeoutMs: 5000, policies: { web_fetch: 'deny', file_write: 'ask' } },
  });
  const now = { policies: { file_write: 'auto', memory_forget: 'deny' }, afterReading: { file_write: ['web:a.test'] } };
  expect(restore('config', 'tools', { name: 'tools', value }, { name: 'tools', value: now })).toEqual({
    name: 'tools',
    value: {
      execTimeoutMs: 5000,
      policies: { web_fetch: 'deny', file_write: 'auto', memory_forget: 'deny' },
      afterReading: { file_write: ['web:a.test'] },
    },
  });
});

test('channels keep the people whom they obey, jobs their grants, and hooks stay off', () => {
  const value = { enabled: true, owners: ['eve'], allowedUsers: [], pairedUsers: [{ id: 'eve', name: 'Eve' }], allowEveryone: true };
  expect(restore('config', 'channels.telegram', { name: 'channels.telegram', value })).toEqual({
    name: 'channels.telegram',
    value: { enabled: true },
  });
  const now = { name: 'channels.telegram', value: { enabled: false, owners: ['ada'], allowedUsers: null } };
  expect(restore('config', 'channels.telegram', { name: 'channels.telegram', value }, now)).toEqual({
    name: 'channels.telegram',
    value: { enabled: true, owners: ['ada'], allowedUsers: null },
  });
  const job = { id: 'j', message: 'Read the news', outsideGrant: { tools: ['*'] } };
  expect(restore('jobs', 'j', job)).toEqual({ id: 'j', message: 'Read the news' });
  expect(restore('jobs', 'j', job, { ...job, message: 'x', outsideGrant: { tools: [] } })).toEqual({ ...job, outsideGrant: { tools: [] } });
  expect(restore('hooks', 'ci', { name: 'ci', enabled: true })).toEqual({ name: 'ci', enabled: false });
  expect(restore('hooks', 'ci', { name: 'ci', enabled: true }, { name: 'ci', enabled: true })).toEqual({ name: 'ci', enabled: true });
});

test('what has no rights, or is no object, is restored as it is', () => {
  for (const payload of ['{"a": 1}', '[1]', 'no JSON', null])
    for (const store of ['files', 'jobs'] as const) expect(withCurrentRights({ store, key: 'k', payload }, null)).toBe(payload);
  expect(withCurrentRights({ store: 'config', key: 'chat', payload: '{"name": "chat"}' }, null)).toBe('{"name": "chat"}');
  // A record that differs in the order of its members alone is unchanged.
  const current = '{"value":{"afterReading":{},"execTimeoutMs":1},"name":"tools"}';
  const payload = '{"name":"tools","value":{"execTimeoutMs":1,"afterReading":{"*":["web:*"]}}}';
  expect(withCurrentRights({ store: 'config', key: 'tools', payload }, current)).toBe(current);
});
