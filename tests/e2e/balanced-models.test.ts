import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../bridge/journal/fixture.ts';
import { findFreePort } from '../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream, UPSTREAM_TEXT } from '../test-upstream.ts';
import { startPerch } from './perch-process.ts';
import { createOpenai } from './openai-client.ts';
import { addProvider, connectOutside } from './outside-client.ts';

/** Debian's package is `haproxy`, in a folder that a person's PATH need not have. */
const HAPROXY = ['haproxy', '/usr/sbin/haproxy'].find((name) => spawnSync(name, ['-v']).status === 0);
const text = UPSTREAM_TEXT.join('');

/** HAProxy with deploy/haproxy.cfg, its addresses replaced by those that are here. */
async function startBalancer(dir: string, ports: readonly number[]): Promise<{ url: string } & AsyncDisposable> {
  const own = await findFreePort();
  const written = readFileSync(join(import.meta.dirname, '../../deploy/haproxy.cfg'), 'utf8');
  const [first, second] = ports;
  const config = written.replace('127.0.0.1:8400', `127.0.0.1:${own}`).replace('10.0.0.11:8000', `127.0.0.1:${first}`);
  const file = join(dir, 'haproxy.cfg');
  writeFileSync(file, config.replace('10.0.0.12:8000', `127.0.0.1:${second}`));
  const child = spawn(HAPROXY ?? 'haproxy', ['-f', file], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${own}/v1`;
  await waitFor(async () => (await fetch(`${url}/models`).catch(() => undefined))?.ok === true, 'the balancer');
  return {
    url,
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

if (!HAPROXY) test.skip('operations/models: haproxy is not installed here', () => {});
describe.runIf(HAPROXY)('several servers of models behind a balancer', () => {
  verifies(
    'operations/models',
    'share the requests; a server that stops, even during an answer, fails no later request, and is used again once it is back',
    async () => {
      using folder = temporaryFolder();
      await using first = await startUpstream({ models: ['normal', 'stall'] });
      let second = await startUpstream({ models: ['normal', 'stall'] });
      const { port } = second;
      try {
        await using balanced = await startBalancer(folder.dir, [first.port, port]);
        await using perch = await startPerch({ host: 'headless' });
        using outside = await connectOutside(perch);
        await addProvider(outside.client, balanced.url);
        const openai = createOpenai(perch);
        const completeText = async (): Promise<string | null | undefined> => {
          const answer = await openai.chat.completions.create({ model: 'local/normal', messages: [{ role: 'user', content: 'Hello' }] });
          return answer.choices[0]?.message.content;
        };
        const completions = (upstream: typeof first): number =>
          upstream.requests.filter(({ path }) => path.endsWith('/completions')).length;
        expect(await Promise.all(Array.from({ length: 10 }, completeText))).toEqual(Array.from({ length: 10 }, () => text));
        for (const upstream of [first, second]) expect(completions(upstream)).toBeGreaterThan(0);
        // The balancer finds out by itself, meanwhile it sends elsewhere what nobody has taken.
        await second.close();
        expect(await Promise.all(Array.from({ length: 10 }, completeText))).toEqual(Array.from({ length: 10 }, () => text));
        second = await startUpstream({ models: ['normal', 'stall'], port });
        await waitFor(async () => (await completeText()) === text && completions(second) > 0, 'the server that is back, asked', 30_000);
        // Streams under way at both; one server ends.
        const stalled = Array.from({ length: 4 }, async () => {
          const stream = await openai.chat.completions.create({
            ...{ model: 'local/stall', stream: true as const },
            messages: [{ role: 'user' as const, content: 'Hello' }],
          });
          let got = '';
          for await (const { choices } of stream) got += choices[0]?.delta.content ?? '';
          return got;
        });
        const ends = stalled.map((each) =>
          each.then(
            () => 'ended',
            () => 'failed',
          ),
        );
        await waitFor(() =>
          [first, second].every((upstream) => upstream.requests.filter(({ body }) => body?.['model'] === 'stall').length === 2),
        );
        await second.close();
        await waitFor(
          async () => (await Promise.all(ends.map((end) => Promise.race([end, 'goes on'])))).filter((end) => end === 'failed').length === 2,
        );
        expect(await completeText()).toBe(text);
        await first.close();
        await Promise.allSettled(stalled);
        await expect(completeText()).rejects.toMatchObject({ status: 502 });
      } finally {
        await second.close();
      }
    },
    180_000,
  );
});
