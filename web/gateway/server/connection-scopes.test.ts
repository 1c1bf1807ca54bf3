import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { type Say, createTestGateway } from '../../../tests/support/test-gateway.ts';

const WRITE_CALL: Say = { tool: 'file_write', args: { path: 'notes.md', content: 'new' } };

verifies('keys/tools', 'a connection that limits its scopes limits the runs that it starts', async () => {
  await using gw = await createTestGateway({ model: (_call, count) => (count % 2 === 1 ? [WRITE_CALL] : ['done']) });
  const { client: limited } = await gw.client({ scopes: ['read', 'chat'] });
  const { client: owner } = await gw.client();
  await limited.call('chat.send', { sessionId: 'main', message: 'Write it' });
  await limited.call('chat.resend', { sessionId: 'main' });
  await limited.call('chat.edit', { sessionId: 'main', message: 'Write it again' });
  expect((await owner.call('workspace.list', {})).files).toEqual([]);
  expect(gw.calls.some(({ body }) => JSON.stringify(body.tools ?? []).includes('file_write'))).toBe(false);
  await owner.call('chat.send', { sessionId: 'main', message: 'Write it' });
  expect((await owner.call('workspace.list', {})).files.map(({ path }) => path)).toEqual(['notes.md']);
});
