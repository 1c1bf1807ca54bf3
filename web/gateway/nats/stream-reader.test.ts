import { describe, expect, test } from 'vitest';
import { openVaultStreams } from '#shared/sync/nats/vault-streams.ts';
import { KEY } from '../../../bridge/journal/fixture.ts';
import { hasNats, createNatsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import { connectToCluster } from './connect-to-cluster.ts';
import { StreamReader } from './stream-reader.ts';
import { deriveSharingKeys, WebSeal } from './web-seal.ts';

if (!hasNats) test.skip('vault.cluster/browser-faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('records written locally', () => {
  verifies('vault.cluster/browser-faults', 'is not read, unless the server that sends has something else under its number', async () => {
    await using nats = await createNatsServer();
    const seal = await WebSeal.create(await deriveSharingKeys(KEY));
    const nc = await connectToCluster(seal.vault, { servers: [nats.webUrl] });
    const places = await openVaultStreams(nc, seal);
    const reader = new StreamReader(places, { onarrived: () => {}, onunsure: () => {} });
    await reader.start({ after: 0, lastSeq: 0 }, () => {});
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    const publish = (text: string): Promise<unknown> => places.js.publish(`${places.prefix}${text}`, text);
    const read = (): number[] => reader.takeMessages(0, 10, 1000).map(({ seq }) => seq);
    reader.noteOwnMessage(1, bytes('own'));
    reader.noteOwnMessage(2, bytes('own'));
    await publish('own');
    await publish('not');
    await waitFor(() => reader.last === 2, 'both messages');
    expect(read()).toEqual([2]);
    // The number becomes known only after the message has arrived.
    reader.noteOwnMessage(2, bytes('own'));
    expect(read()).toEqual([2]);
    reader.noteOwnMessage(2, bytes('not'));
    expect(read()).toEqual([]);
    reader.stop();
    await nc.close();
  });
});
