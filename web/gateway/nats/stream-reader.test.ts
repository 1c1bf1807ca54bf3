import { describe, expect, test } from 'vitest';
import { openPlaces } from '#shared/sync/nats/places.ts';
import { KEY } from '../../../bridge/journal/fixture.ts';
import { hasNats, natsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { until } from '../../../tests/support/gateway.ts';
import { connectTo } from './connect.ts';
import { StreamReader } from './stream-reader.ts';
import { sharingKeys, WebSeal } from './web-seal.ts';

if (!hasNats) test.skip('vault.cluster/browser-faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('records written locally', () => {
  verifies('vault.cluster/browser-faults', 'is not read, unless the server that sends has something else under its number', async () => {
    await using nats = await natsServer();
    const seal = await WebSeal.of(await sharingKeys(KEY));
    const nc = await connectTo(seal.vault, { servers: [nats.webUrl] });
    const places = await openPlaces(nc, seal);
    const reader = new StreamReader(places, { onarrived: () => {}, onunsure: () => {} });
    await reader.start({ after: 0, there: 0 }, () => {});
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    const publish = (text: string): Promise<unknown> => places.js.publish(`${places.prefix}${text}`, text);
    const read = (): number[] => reader.take(0, 10, 1000).map(({ seq }) => seq);
    reader.wrote(1, bytes('own'));
    reader.wrote(2, bytes('own'));
    await publish('own');
    await publish('not');
    await until(() => reader.last === 2, 'both messages');
    expect(read()).toEqual([2]);
    // The number becomes known only after the message has arrived.
    reader.wrote(2, bytes('own'));
    expect(read()).toEqual([2]);
    reader.wrote(2, bytes('not'));
    expect(read()).toEqual([]);
    reader.stop();
    await nc.close();
  });
});
