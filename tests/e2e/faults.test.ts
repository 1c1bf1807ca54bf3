import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream, UPSTREAM_TEXT } from '../test-upstream.ts';
import { startPerch } from './perch-process.ts';
import { addProvider, connectOutside } from './outside-client.ts';

verifies(['bridge/killed', 'storage/acknowledged-is-durable', 'runs/interrupted'], 'SIGKILL in the middle of a reply', async () => {
  await using upstream = await startUpstream();
  await using perch = await startPerch();
  const first = await connectOutside(perch);
  await addProvider(first.client, upstream.url);
  await first.client.call('chat.send', { message: 'kept', sessionId: 'kill', model: 'local/normal' });
  const pendingSend = first.client.call('chat.send', { message: 'cut off', sessionId: 'kill', model: 'local/stall' });
  const failure = pendingSend.catch((error: unknown) => error);
  await waitFor(() => first.events.filter(({ event }) => event === 'chat.delta').length > 6);
  await perch.kill('SIGKILL');
  expect(await failure).toMatchObject({ name: 'ConnectionClosed' });
  await perch.restart();
  using second = await connectOutside(perch);
  await waitFor(async () => (await second.client.call('chat.history', { sessionId: 'kill' })).messages.length >= 4);
  const { messages } = await second.client.call('chat.history', { sessionId: 'kill' });
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  expect(messages[2]).toMatchObject({ content: 'cut off' });
  // With the bridge its way out is gone at once, so the run may have ended before the worker did.
  expect(messages[3]?.interrupted === true || messages[3]?.error?.code === 'INTERNAL_ERROR').toBe(true);
  const again = await second.client.call('chat.resend', { sessionId: 'kill', model: 'local/normal' });
  expect(again.completed).toBe(true);
});

verifies(
  ['lease/host-dies', 'headless/restarts', 'http/no-host'],
  'the managed Chromium is killed: clients are told, service comes back',
  async () => {
    await using perch = await startPerch();
    using first = await connectOutside(perch);
    const before = spawnSync('pgrep', ['-P', String(perch.pid)], { encoding: 'utf8' })
      .stdout.trim()
      .split('\n');
    for (const pid of before) process.kill(Number(pid), 'SIGKILL');
    const end = await first.client.closed;
    expect([1012, 1013]).toContain(end.code);
    await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'service after the restart');
    using second = await connectOutside(perch);
    expect(await second.client.call('health', {})).toMatchObject({ status: 'ok' });
  },
);

verifies(
  ['http.chat/splice-host', 'http.chat/receipts'],
  'the managed Chromium is killed while a model streams over /v1: the answer comes whole, and is counted',
  async () => {
    await using upstream = await startUpstream();
    await using perch = await startPerch();
    {
      using outside = await connectOutside(perch);
      await addProvider(outside.client, upstream.url);
    }
    const response = await perch.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'local/slow-200', messages: [{ role: 'user', content: 'x' }], stream: true }),
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader?.read())?.value ?? '';
    const { stdout } = spawnSync('pgrep', ['-P', String(perch.pid)], { encoding: 'utf8' });
    for (const pid of stdout.trim().split('\n')) process.kill(Number(pid), 'SIGKILL');
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value;
    expect(text).toContain(UPSTREAM_TEXT.at(-1));
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'service after the restart');
    using outside = await connectOutside(perch);
    await waitFor(async () => {
      const { byModel } = await outside.client.call('usage.get', { days: 1 });
      return byModel['local/slow-200']?.calls === 1;
    }, 'the call in the books');
  },
);
