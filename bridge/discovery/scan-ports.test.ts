import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { startTestBridge } from '../server/tests/test-bridge.ts';
import { parseListeningPorts, listLoopbackAddresses, listNetworkAddresses, scanAddresses } from './scan-ports.ts';

const place = (port: number) => ({ host: '127.0.0.1', port, method: 'loopback' as const });

async function listening(server: ReturnType<typeof createTcpServer>): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

verifies('discovery/scan', 'a gateway on a port of this machine is found by its health', async () => {
  await using gateway = await startTestBridge();
  const port = Number(new URL(gateway.url).port);
  if (process.platform === 'linux') expect(await listLoopbackAddresses()).toContainEqual(place(port));
  expect(await scanAddresses([place(1), place(port)], 2000)).toEqual([
    { name: expect.stringMatching(/^Perch \d/), host: '127.0.0.1', port, method: 'loopback', wsUrl: `ws://127.0.0.1:${port}/ws` },
  ]);
});

verifies(
  ['discovery/scan', 'discovery/untrusted'],
  'ignores services that are no gateway, send too much, redirect or never respond',
  async () => {
    const health = { status: 'ok', version: '\u001b[31m1', build: 'b', mode: 'auto', host: null };
    const answers: RequestListener[] = [
      (_, response) => response.end('<!doctype html>'),
      (_, response) => response.end(JSON.stringify({ ...health, version: 'x'.repeat(1024 * 1024) })),
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/health' }).end(),
      () => {},
      (_, response) => response.end(JSON.stringify(health)),
    ];
    const servers = [
      ...answers.map((answer) => createServer(answer)),
      createTcpServer((socket) => socket.on('error', () => {}).end('\0\0nonsense')),
    ];
    const ports = await Promise.all(servers.map(listening));
    expect(await scanAddresses(ports.map(place), 500)).toEqual([
      { name: 'Perch \\u{1b}[31m1', host: '127.0.0.1', port: ports[4], method: 'loopback', wsUrl: `ws://127.0.0.1:${ports[4]}/ws` },
    ]);
    for (const server of servers) server.close();
    for (const server of servers) if ('closeAllConnections' in server) server.closeAllConnections();
  },
);

verifies('discovery/scan', 'of networks, the private ones that this machine is in are scanned, and nothing else', () => {
  const at = (address: string, internal = false) => ({ address, internal, family: 'IPv4' as const, netmask: '', mac: '', cidr: null });
  const places = listNetworkAddresses({ lo: [at('127.0.0.1', true)], a: [at('192.168.7.9')], b: [at('8.8.8.8')] });
  expect(places).toHaveLength(253);
  expect(places.at(0)).toEqual({ host: '192.168.7.1', port: 7333, method: 'scan' });
  expect(places.map(({ host }) => host)).not.toContain('192.168.7.9');
  expect(listNetworkAddresses({})).toEqual([]);
});

test('ports that are listened on are read from the system’s table', () => {
  const table = `  sl  local_address rem_address   st
   0: 0100007F:1CA5 00000000:0000 0A 00000000:00000000
   1: 00000000:0016 00000000:0000 0A 00000000:00000000
   2: 0100007F:1CA6 0100007F:1CA5 01 00000000:00000000
`;
  expect(parseListeningPorts(table)).toEqual([7333]);
});
