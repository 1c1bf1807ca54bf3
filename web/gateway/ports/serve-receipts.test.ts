import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { MUX_VERSION, PORTS_VERSION, SCHEMA_VERSION } from '#shared/link/hello.ts';
import { fetchOverStream } from '#shared/link/stream-http.ts';
import { memoryPair } from '#shared/link/link.ts';
import { Mux } from '#shared/link/mux.ts';
import { type UsageReceipt, USAGE_RECEIPTS_KIND } from '#shared/link/splice.ts';
import { serveReceipts } from './serve-receipts.ts';

verifies('http.chat/receipts', 'one that cannot be read is noted and passed over, and holds up no other', async () => {
  const stored: UsageReceipt[] = [];
  const noted: unknown[] = [];
  const gateway = {
    storeReceipts: async (given: UsageReceipt[]) => void stored.push(...given),
    logError: (_component: string, error: unknown) => void noted.push(error),
  };
  const [near, far] = memoryPair<Uint8Array>();
  const hello = { muxVersion: MUX_VERSION, portsVersion: PORTS_VERSION, schemaVersion: SCHEMA_VERSION, build: 'test', capabilities: [] };
  new Mux(far, { side: 'acceptor', hello, onstream: (stream, opening) => serveReceipts(stream, opening, async () => gateway) });
  const bridge = new Mux(near, { side: 'dialer', hello, onstream: () => {} });
  const call = { id: 'readable', provider: 'up', model: 'up/m', principal: 'owner', inputTokens: 1 };
  const readable = { call, endedAt: 1, how: 'done', chars: 4 };
  const body = JSON.stringify([{ of: 'another version' }, readable, null]);
  const response = await fetchOverStream(
    bridge,
    { kind: USAGE_RECEIPTS_KIND },
    { method: 'POST', body, signal: AbortSignal.timeout(10_000) },
  );
  expect(response.status).toBe(204);
  expect(stored).toEqual([readable]);
  expect(noted).toHaveLength(2);
});
