import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { advertiseGateway } from './advertise.ts';
import { MAX_BEACONS } from './beacon.ts';
import { browseMdns } from './browse-mdns.ts';
import { findFreeUdpPort, startHostileResponder, createResponse, type ResponderClaims } from './tests/responder.ts';

const LOOK_MS = 600;

/** Returns the gateways found while these packets are sent. */
async function found(...packets: (ResponderClaims | Buffer)[]) {
  const port = await findFreeUdpPort();
  await using _responder = await startHostileResponder(
    port,
    packets.map((packet) => (Buffer.isBuffer(packet) ? packet : createResponse(packet))),
  );
  return await browseMdns({ timeoutMs: LOOK_MS, network: { interface: '127.0.0.1', port } });
}

verifies(['discovery/advertise', 'discovery/browse'], 'a gateway that is advertised is found, until it stops', async () => {
  const network = { interface: '127.0.0.1', port: await findFreeUdpPort() };
  const lines: string[] = [];
  {
    await using _one = await advertiseGateway({
      port: 7333,
      version: '1.2.3',
      bind: '0.0.0.0',
      network,
      log: (line) => void lines.push(line),
    });
    await using _two = await advertiseGateway({
      port: 7334,
      version: '1.2.3',
      bind: '0.0.0.0',
      network,
      log: (line) => void lines.push(line),
    });
    const beacons = await browseMdns({ timeoutMs: LOOK_MS, network });
    expect(beacons.map(({ port }) => port).sort()).toEqual([7333, 7334]);
    for (const { name, host, port, method, wsUrl } of beacons) {
      expect(name).toMatch(new RegExp(`^Perch on \\S+ \\(${port}-[0-9a-f]{4}\\)$`));
      expect({ method, wsUrl }).toEqual({ method: 'mdns', wsUrl: `ws://${host}:${port}/ws` });
    }
  }
  expect(await browseMdns({ timeoutMs: LOOK_MS, network })).toEqual([]);
  expect(lines).toEqual([]);
});

verifies('discovery/untrusted', 'data from other machines is sanitized or omitted', async () => {
  const [beacon, ...more] = await found({
    name: 'evil\u001b[2J\u202e\u0007\n gateway',
    port: 4444,
    txt: [Buffer.from('version=\u001b]0;owned\u0007')],
  });
  expect(more).toEqual([]);
  expect(beacon).toEqual({
    ...{ name: 'evil\\u{1b}[2J\\u{202e}\\u{7} gateway', host: '127.0.0.1', port: 4444, method: 'mdns' },
    wsUrl: 'ws://127.0.0.1:4444/ws',
  });

  const nowhere = ['8.8.8.8', '0.0.0.0', '255.255.255.255', '224.0.0.1', '169.254.169.254'].map((address) => ({
    ...{ name: `at ${address}`, address, target: `x${address.replaceAll('.', '-')}.local` },
  }));
  // Like a router that forwards another machine's answer.
  const forwarded = { name: 'elsewhere', address: '10.1.2.3', target: 'example.com' };
  const results = await found({ name: 'no port', port: 0 }, { name: 'no gateway', type: 'example.com' }, ...nowhere, forwarded);
  expect(results).toMatchObject([{ name: 'elsewhere', host: '10.1.2.3' }]);
});

verifies('discovery/untrusted', 'texts of any size, packets that are none, and a flood do no harm', async () => {
  const huge = Array.from({ length: 200 }, () => randomBytes(255));
  expect(await found({ name: 'huge', txt: huge })).toMatchObject([{ name: 'huge' }]);
  const good = createResponse({ name: 'good' });
  const broken = Array.from({ length: 100 }, (_, index) => {
    const packet = index % 2 === 0 ? Buffer.from(good) : good.subarray(0, index % good.length);
    for (let times = 0; times < 4 && packet.length > 5; times++) packet[4 + Math.floor(Math.random() * (packet.length - 4))] = index & 0xff;
    return packet;
  });
  expect(
    (await found(...broken.filter((packet) => !packet.equals(good)), { name: 'still', port: 4321 })).map(({ name }) => name),
  ).toContain('still');
  const flood = Array.from({ length: MAX_BEACONS + 50 }, (_, index) => ({ name: `n${index}`, port: 1000 + index }));
  expect((await found(...flood)).length).toBeLessThanOrEqual(MAX_BEACONS);
});

test('a responder outlives what strangers ask and say', async () => {
  const network = { interface: '127.0.0.1', port: await findFreeUdpPort() };
  await using _advertised = await advertiseGateway({ port: 7333, version: '1', bind: '0.0.0.0', network, log: () => {} });
  const query = Buffer.from('000000000001000000000000', 'hex');
  const noise = Array.from({ length: 300 }, (_, index) => Buffer.concat([query.subarray(0, index % 13), randomBytes(index)]));
  await using _responder = await startHostileResponder(network.port, noise);
  expect(await browseMdns({ timeoutMs: LOOK_MS, network })).toMatchObject([{ port: 7333 }]);
});
