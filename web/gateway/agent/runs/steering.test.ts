import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { type ModelScript, type TestGateway, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const NEVER = new Promise(() => {});
const toTimeCall = (name: string) => ({ tool: 'current_time', args: {}, id: name });
/** Calls a tool, then says that it is done. */
const oneToolScript: ModelScript = (_call, count) => (count === 1 ? ['Let me see. ', toTimeCall('a')] : [`answer ${count}`]);

/** A run with a tool call that waits for an approval until `let go`. */
async function startRunInTool(gw: TestGateway, extra: object = {}) {
  const { client, events } = await gw.client();
  await client.call('config.patch', { patch: { tools: { policies: { current_time: 'ask' } } } });
  const first = client.call('chat.send', { message: 'What time is it?', ...extra });
  first.catch(() => {});
  const pending = async () => (await client.call('approvals.list', {})).approvals;
  await waitFor(async () => (await pending()).length === 1, 'the tool runs');
  const letGo = async (): Promise<void> => {
    for (const { id } of await pending()) await client.call('approvals.resolve', { id, decision: 'approve' });
  };
  return { client, events, first, letGo };
}

const getUserTexts = (events: EventFrame[]): string[] =>
  events.flatMap(({ event, payload }) =>
    event === 'chat.message' ? [String(payload.content)] : event === 'chat.done' || event === 'chat.error' ? [event] : [],
  );

async function getBranch(client: GatewayClient): Promise<[string, unknown][]> {
  const { messages } = await client.call('chat.history', { sessionId: 'main' });
  return messages.map(({ role, content, aborted }) => [aborted ? `${role} aborted` : role, role === 'tool' ? '…' : content]);
}

describe('a steering message', () => {
  verifies('chat.send/steer', 'comes behind the results of the tools that run, before the model is asked again', async () => {
    await using gw = await createTestGateway({ model: oneToolScript });
    const { client, events, first, letGo } = await startRunInTool(gw);
    const steering = client.call('chat.send', { message: 'In Tokyo', steer: true });
    expect(gw.calls).toHaveLength(1);
    await letGo();
    const [before, after] = await Promise.all([first, steering]);
    expect(gw.calls).toHaveLength(2);
    expect(gw.calls[1]?.body.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user']);
    expect(gw.calls[1]?.body.messages.at(-2)?.content).toContain('timeZone');
    expect(gw.calls[1]?.body.messages.at(-1)?.content).toBe('In Tokyo');
    expect(await getBranch(client)).toEqual([
      ['user', 'What time is it?'],
      ['assistant', 'Let me see. '],
      ['tool', '…'],
      ['assistant', ''],
      ['user', 'In Tokyo'],
      ['assistant', 'answer 2'],
    ]);
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    expect(messages.slice(1).map(({ parentId }) => parentId)).toEqual(messages.slice(0, -1).map(({ id }) => id));
    expect([messages[3]?.id, messages[5]?.id]).toEqual([before.messageId, after.messageId]);
    expect(getUserTexts(events)).toEqual(['What time is it?', 'chat.done', 'In Tokyo', 'chat.done']);
    expect(gw.faults).toEqual([]);
  });

  verifies('chat.send/steer', 'goes ahead of queued messages, and two steering messages keep their order', async () => {
    await using gw = await createTestGateway({ model: oneToolScript });
    const { client, first, letGo } = await startRunInTool(gw);
    const others = [
      client.call('chat.send', { message: 'waits' }),
      client.call('chat.send', { message: 'now', steer: true }),
      client.call('chat.send', { message: 'now too', steer: true }),
    ];
    await letGo();
    await first;
    await Promise.all(others);
    expect(gw.calls.map(({ body }) => body.messages.at(-1)?.content)).toEqual(['What time is it?', 'now too', 'waits']);
    const userTexts = (await getBranch(client)).flatMap(([role, content]) => (role === 'user' ? [content] : []));
    expect(userTexts).toEqual(['What time is it?', 'now', 'now too', 'waits']);
  });

  verifies('chat.send/steer', 'stops text that is merely written, and keeps it', async () => {
    await using gw = await createTestGateway({ model: (_call, count) => (count === 1 ? ['half', { wait: NEVER }] : ['new']) });
    const { client, events } = await gw.client();
    const first = client.call('chat.send', { message: 'a' });
    first.catch(() => {});
    await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
    await client.call('chat.send', { message: 'b', steer: true });
    await expect(first).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await getBranch(client)).toEqual([
      ['user', 'a'],
      ['assistant aborted', 'half'],
      ['user', 'b'],
      ['assistant', 'new'],
    ]);
  });

  verifies('chat.send/steer', 'ends a run without visible output, and one reply serves both messages', async () => {
    await using gw = await createTestGateway({ model: (_call, count) => (count === 1 ? [{ wait: NEVER }] : ['to both']) });
    const { client, events } = await gw.client();
    const first = client.call('chat.send', { message: 'a' });
    await waitFor(() => gw.calls.length === 1);
    await client.call('chat.send', { message: 'b', steer: true });
    expect(await first).toMatchObject({ completed: true });
    expect(await getBranch(client)).toEqual([
      ['user', 'a'],
      ['assistant', ''],
      ['user', 'b'],
      ['assistant', 'to both'],
    ]);
    expect(gw.calls[1]?.body.messages.slice(1).map(({ content }) => content)).toEqual(['a', 'b']);
    expect(getUserTexts(events)).toEqual(['a', 'chat.done', 'b', 'chat.done']);
    expect(gw.faults).toEqual([]);
  });

  verifies('chat.send/steer', 'is sent as usual where nothing runs, and a repeat by its key makes no second one', async () => {
    await using gw = await createTestGateway({ model: oneToolScript });
    const { client, first, letGo } = await startRunInTool(gw);
    const steer = () => client.call('chat.send', { message: 'now', steer: true, idempotencyKey: 'once' });
    const both = [steer(), steer()];
    await letGo();
    await first;
    const [one, two] = await Promise.all(both);
    expect(two).toEqual(one);
    expect(await steer()).toEqual(one);
    await client.call('chat.send', { message: 'alone', steer: true });
    const userTexts = (await getBranch(client)).flatMap(([role, content]) => (role === 'user' ? [content] : []));
    expect(userTexts).toEqual(['What time is it?', 'now', 'alone']);
  });

  verifies('chat.send/steer', 'the answer of the run that made way is found by its own key', async () => {
    await using gw = await createTestGateway({ model: oneToolScript });
    const { client, first, letGo } = await startRunInTool(gw, { idempotencyKey: 'first' });
    const steering = client.call('chat.send', { message: 'now', steer: true });
    await letGo();
    const [before] = await Promise.all([first, steering]);
    // Another host, which has only stored data.
    const other = await createTestGateway({ vault: gw.vault, model: oneToolScript });
    const { client: otherClient } = await other.client();
    const again = await otherClient.call('chat.send', { message: 'What time is it?', idempotencyKey: 'first' });
    expect(again.messageId).toBe(before.messageId);
    expect(other.calls).toHaveLength(0);
  });

  verifies(['chat.send/steer', 'chat.abort/takes-back'], 'is withdrawn while the tool runs: the run continues unchanged', async () => {
    await using gw = await createTestGateway({ model: oneToolScript });
    const { client, events, first, letGo } = await startRunInTool(gw);
    const steering = client.call('chat.send', { message: 'never mind', steer: true, idempotencyKey: 'k' });
    const refused = expect(steering).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await client.call('chat.abort', { sessionId: 'main', sentWith: 'k' })).toMatchObject({ aborted: true });
    await refused;
    await letGo();
    await first;
    expect((await getBranch(client)).at(-1)).toEqual(['assistant', 'answer 2']);
    expect(getUserTexts(events)).toEqual(['What time is it?', 'chat.done']);
    // Sent again by the same key, it is sent.
    await client.call('chat.send', { message: 'never mind', idempotencyKey: 'k' });
    expect((await getBranch(client)).map(([, content]) => content)).toContain('never mind');
  });

  verifies('chat.abort/takes-back', 'running messages, and those of others, cannot be withdrawn', async () => {
    await using gw = await createTestGateway({ model: oneToolScript });
    const { client, letGo, first } = await startRunInTool(gw, { idempotencyKey: 'runs' });
    expect(await client.call('chat.abort', { sessionId: 'main', sentWith: 'runs' })).toEqual({ aborted: false, runIds: [] });
    expect(await client.call('chat.abort', { sessionId: 'main', sentWith: 'none' })).toEqual({ aborted: false, runIds: [] });
    await letGo();
    expect(await first).toMatchObject({ completed: true });
  });

  verifies(['chat.send/steer', 'chat.abort/keeps-partial'], 'Stop ends both, and keeps the partial text', async () => {
    await using gw = await createTestGateway({ model: oneToolScript });
    const { client, first } = await startRunInTool(gw);
    const steering = client.call('chat.send', { message: 'now', steer: true });
    const refused = expect(steering).rejects.toMatchObject({ code: 'ABORTED' });
    const { runIds } = await client.call('chat.abort', { sessionId: 'main' });
    expect(runIds).toHaveLength(2);
    await expect(first).rejects.toMatchObject({ code: 'ABORTED' });
    await refused;
    expect(await getBranch(client)).toEqual([
      ['user', 'What time is it?'],
      ['assistant', 'Let me see. '],
      ['tool', '…'],
      ['assistant aborted', ''],
      ['user', 'now'],
      ['assistant aborted', ''],
    ]);
  });
});
