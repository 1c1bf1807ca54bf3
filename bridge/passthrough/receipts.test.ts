import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fetchOverStream, serveHttp } from '#shared/link/stream-http.ts';
import {
  FORWARD_HEADER,
  FORWARD_KIND,
  type ForwardRequest,
  type UsageReceipt,
  usageReceipt,
  USAGE_RECEIPTS_KIND,
  createSplicedResponse,
} from '#shared/link/splice.ts';
import { z } from '#shared/rpc/zod.ts';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifies } from '../../tests/requirements.ts';
import { Home } from '../home-directory.ts';
import { ReceiptFile } from './receipt-file.ts';
import { startTestBridge, type TestBridge } from '../server/tests/test-bridge.ts';
import type { FakeHost } from '../server/tests/fake-host.ts';

let dir: string;
let home: Home;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'perch-receipts-'));
  home = await Home.open({ dir });
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

const start = async (): Promise<TestBridge> => startTestBridge({ home, timing: { receiptsMs: 20, graceMs: 10 } });
const of = (id: string): UsageReceipt => ({
  call: { id, provider: 'p', model: 'p/m', principal: 'owner', inputTokens: 3 },
  endedAt: 1_800_000_000_000,
  how: 'done',
  chars: 4,
});

/** A host that answers every request through `url`. Stores receipts in `taken`, or rejects them if that is undefined. */
async function splicer(gateway: TestBridge, url: string, taken?: UsageReceipt[]): Promise<FakeHost> {
  const host: FakeHost = await gateway.attach({
    onstream: (stream, opening) =>
      serveHttp(stream, opening, gateway.url, async (request) => {
        if (opening.kind === USAGE_RECEIPTS_KIND) {
          if (!taken) return new Response(null, { status: 500 });
          taken.push(...z.array(usageReceipt).parse(await request.json()));
          return new Response(null, { status: 204 });
        }
        const wish: ForwardRequest = {
          ...{ to: stream.id, call: of(await request.text()).call, stream: false },
          ...{ wire: 'chat', choices: 1, idleMs: 30_000, trailerMs: 30_000, stripUsage: false, thinksFirst: false },
        };
        const headers = { ':method': 'POST', ':url': url, [FORWARD_HEADER]: JSON.stringify(wish) };
        await fetchOverStream(host.mux, { kind: FORWARD_KIND, headers }, { signal: request.signal });
        return createSplicedResponse(null);
      }),
  });
  return host;
}

async function startModel() {
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  const server = createServer((_request, response) => response.end(JSON.stringify({ choices: [], usage }))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const sendRequest = async (gateway: TestBridge, id: string): Promise<void> => {
  const answer = await gateway.http('/v1/chat/completions', { method: 'POST', body: id });
  expect(answer.status).toBe(200);
  await answer.text();
};
const listIds = (receipts: UsageReceipt[]): string[] => receipts.map(({ call }) => call.id);
const written = async (): Promise<string[]> => listIds(await new ReceiptFile(home.receiptsFile, () => {}).read());

verifies(
  'http.chat/receipts',
  'that no host takes survive a restart of the bridge, and their file is deleted once they are stored',
  async () => {
    await using model = await startModel();
    await using first = await startTestBridge({ home, timing: { receiptsMs: 20, graceMs: 10 } });
    await splicer(first, model.url);
    await sendRequest(first, 'a');
    await sendRequest(first, 'b');
    await expect.poll(written).toEqual(['a', 'b']);
    // The first file is still there, as after a kill.
    await using second = await start();
    const taken: UsageReceipt[] = [];
    await splicer(second, model.url, taken);
    await expect.poll(() => listIds(taken)).toEqual(['a', 'b']);
    expect(taken[0]?.usage).toEqual({ inputTokens: 11, outputTokens: 7, totalTokens: 18 });
    await expect.poll(() => existsSync(home.receiptsFile)).toBe(false);
    await sendRequest(second, 'c');
    await expect.poll(() => listIds(taken)).toEqual(['a', 'b', 'c']);
    expect(first.lines.filter((line) => line.includes('didn’t accept'))).toHaveLength(1);
  },
);

verifies('http.chat/receipts', 'are in the file when the bridge has closed', async () => {
  await using model = await startModel();
  const gateway = await start();
  await splicer(gateway, model.url);
  await sendRequest(gateway, 'a');
  await gateway[Symbol.asyncDispose]();
  expect(await written()).toEqual(['a']);
});

it('that a crash has cut are passed over, and do not spoil the next one', async () => {
  writeFileSync(home.receiptsFile, `${JSON.stringify(of('a'))}\n{"call":{"id":"cu`);
  const file = new ReceiptFile(home.receiptsFile, () => {});
  expect(listIds(await file.read())).toEqual(['a']);
  expect(await file.append([of('b')])).toBe(true);
  expect(await written()).toEqual(['a', 'b']);
  expect(await file.replace([of('c')])).toBe(true);
  expect(readFileSync(home.receiptsFile, 'utf8').trim()).toBe(JSON.stringify(of('c')));
});

it('that cannot be written are told of once', async () => {
  const lines: string[] = [];
  const file = new ReceiptFile(join(dir, 'none', 'receipts.ndjson'), (line) => lines.push(line));
  expect(await file.append([of('a')])).toBe(false);
  expect(await file.append([of('b')])).toBe(false);
  expect(lines).toEqual([expect.stringContaining('only kept in memory')]);
});
