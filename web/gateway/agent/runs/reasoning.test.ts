import { describe, expect } from 'vitest';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { type TestGateway, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const getReasoningEvents = (events: readonly EventFrame[]): unknown[][] =>
  events.flatMap(({ event, payload }) => (event === 'chat.reasoning' ? [[payload['delta'], payload['offset']]] : []));
const listStoredReasoning = async ({ vault }: TestGateway) =>
  (await vault.messages.listAll('main/main')).flatMap(({ role, content, reasoning }) => (reasoning ? [{ role, content, reasoning }] : []));
const createDeferred = (): { promise: Promise<void>; resolve: () => void } => Promise.withResolvers<void>();

describe('reasoning', () => {
  verifies('chat.reasoning/streams', 'of each step, with how long it took; told to readers and not to models', async () => {
    const clock = new FakeClock();
    const gates = [createDeferred(), createDeferred(), createDeferred()];
    await using gw = await createTestGateway({
      clock,
      model: (_call, count) =>
        count === 1
          ? [{ think: 'Which ' }, { think: 'tool?' }, { wait: gates[0]?.promise ?? Promise.resolve() }, { tool: 'current_time', args: {} }]
          : count === 2
            ? [
                { think: 'Now I *know*.' },
                { wait: gates[1]?.promise ?? Promise.resolve() },
                'Noon.',
                { wait: gates[2]?.promise ?? Promise.resolve() },
              ]
            : ['Yes.'],
    });
    const { client, events } = await gw.client();
    const pendingSend = client.call('chat.send', { message: 'What time is it?' });
    await waitFor(() => getReasoningEvents(events).length === 2);
    expect((await client.call('chat.history', { sessionId: 'main' })).runs).toMatchObject([
      { text: '', reasoning: 'Which tool?', calls: [] },
    ]);
    clock.advance(3000);
    gates[0]?.resolve();
    await waitFor(() => getReasoningEvents(events).length === 3);
    // A client that joins in the middle learns of the calls.
    expect((await client.call('chat.history', { sessionId: 'main' })).runs).toMatchObject([
      { calls: [{ tool: 'current_time', args: {}, at: 0, result: expect.stringContaining(':') as unknown }] },
    ]);
    clock.advance(12_000);
    gates[1]?.resolve();
    await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
    // From here on the text is no longer reasoning.
    clock.advance(4000);
    gates[2]?.resolve();
    const { messageId } = await pendingSend;
    expect(getReasoningEvents(events)).toEqual([
      ['Which ', 0],
      ['tool?', 6],
      ['Now I *know*.', 11],
    ]);
    expect(events.flatMap(({ event, payload }) => (event === 'chat.delta' ? [payload['delta']] : []))).toEqual(['Noon.']);
    expect(await listStoredReasoning(gw)).toEqual([
      { role: 'assistant', content: '', reasoning: { text: 'Which tool?', ms: 3000 } },
      { role: 'assistant', content: 'Noon.', reasoning: { text: 'Now I *know*.', ms: 12_000 } },
    ]);
    await client.call('chat.send', { message: 'Sure?' });
    expect(JSON.stringify(gw.calls.at(-1)?.body.messages.slice(1))).not.toContain('know');

    const path = 'main/main.jsonl';
    const lines = (await client.call('sessions.export', { path })).content.trim().split('\n');
    expect(
      lines.map((line) => JSON.parse(line) as { id: string; reasoning?: unknown }).find(({ id }) => id === messageId)?.reasoning,
    ).toEqual({
      text: 'Now I *know*.',
      ms: 12_000,
    });
    const markdown = (await client.call('sessions.export', { path, format: 'markdown' })).content;
    expect(markdown).toContain('> **Thought for 12 s**\n>\n> Now I *know*.\n\nNoon.');
    const { session } = await client.call('sessions.import', { content: lines.join('\n'), sessionId: 'again' });
    expect((await gw.vault.messages.listAll(`main/${session.sessionId}`)).filter(({ reasoning }) => reasoning)).toHaveLength(2);
  });

  verifies('chat.reasoning/streams', 'is stored with a reply stopped before its first word', async () => {
    await using gw = await createTestGateway({ model: () => [{ think: 'Well' }, { wait: new Promise(() => {}) }] });
    const { client, events } = await gw.client();
    const pendingSend = client.call('chat.send', { message: 'hi' });
    pendingSend.catch(() => {});
    await waitFor(() => getReasoningEvents(events).length === 1);
    await client.call('chat.abort', { sessionId: 'main' });
    await expect(pendingSend).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await listStoredReasoning(gw)).toMatchObject([{ role: 'assistant', content: '', reasoning: { text: 'Well' } }]);
  });

  verifies('chat.reasoning/bounded', 'and the answer comes whole', async () => {
    const long = 'x'.repeat(20_000);
    await using gw = await createTestGateway({ model: () => [{ think: long }, { think: long }, { think: 'more' }, 'Done.'] });
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'hi' });
    expect(getReasoningEvents(events).map(([delta]) => String(delta).length)).toEqual([20_000, 12_000]);
    expect(await listStoredReasoning(gw)).toMatchObject([{ content: 'Done.', reasoning: { text: 'x'.repeat(32_000), cut: true } }]);
  });
});
