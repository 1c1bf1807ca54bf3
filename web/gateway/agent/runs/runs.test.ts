import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.doUnmock('./run-execution.ts');
  vi.resetModules();
});

it('a run whose code can’t be loaded ends with one error and stores nothing; the next one loads it again', async () => {
  // Another file of the same process may have loaded it.
  vi.resetModules();
  vi.doMock('./run-execution.ts', () => Promise.reject(new Error('the network is down')));
  const { createTestGateway } = await import('../../../../tests/support/test-gateway.ts');
  await using gw = await createTestGateway({ model: () => ['Hi'] });
  const { client, events } = await gw.client();
  const sent = client.call('chat.send', { message: 'Hello' });
  await expect(sent).rejects.toMatchObject({ code: 'INTERNAL_ERROR', extra: { retryable: true, details: { reason: 'not-loaded' } } });
  expect(events.filter(({ event }) => event.startsWith('chat.')).map(({ event }) => event)).toEqual(['chat.error']);
  await expect(client.call('chat.history', { sessionId: 'main' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  vi.doUnmock('./run-execution.ts');
  expect(await client.call('chat.send', { message: 'Hello again' })).toMatchObject({ completed: true });
  expect(gw.calls[0]?.body.messages.filter(({ role }) => role === 'user')).toHaveLength(1);
});
