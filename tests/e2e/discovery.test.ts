import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { runPerch, startPerch } from './perch-process.ts';

interface Beacon {
  name: string;
  host: string;
  port: number;
  method: string;
  wsUrl: string;
}

const discover = async (...args: string[]): Promise<Beacon[]> => {
  const { stdout } = await runPerch(['gateway', 'discover', '--json', ...args]);
  return (JSON.parse(stdout) as { beacons: Beacon[] }).beacons;
};

const EXPOSED_OPTIONS = { host: 'tab', args: ['--bind', '0.0.0.0', '--expose', '--advertise'] } as const;

verifies('cli.discover/row', 'a gateway of this machine is found, and told in words too', async () => {
  await using gateway = await startPerch({ host: 'tab' });
  const port = Number(new URL(gateway.url).port);
  expect(await discover()).toContainEqual({
    name: expect.stringMatching(/^Perch \d/),
    ...{ host: '127.0.0.1', port, method: 'loopback', wsUrl: gateway.wsUrl },
  });
  // Without the option it does not advertise itself.
  expect((await discover('--timeout', '800')).filter((beacon) => beacon.method === 'mdns' && beacon.port === port)).toEqual([]);
  const { stdout } = await runPerch(['gateway', 'discover', '--timeout', '500']);
  expect(stdout).toContain(`${gateway.wsUrl}  Perch `);
});

verifies(['discovery/advertise', 'discovery/browse'], 'one that advertises itself is found on its network’s address', async () => {
  await using gateway = await startPerch(EXPOSED_OPTIONS);
  const port = Number(new URL(gateway.url).port);
  const found = (await discover()).find((beacon) => beacon.method === 'mdns' && beacon.port === port);
  expect(found?.name).toMatch(/^Perch on /);
  // The discovered address is reachable.
  const health: unknown = await (await fetch(`http://${found?.host}:${port}/health`)).json();
  expect(health).toMatchObject({ status: 'no-host' });
  expect(gateway.output.stdout.trimEnd().split('\n')).toHaveLength(3);
});

verifies('discovery/advertise-exposed', 'one that only this machine can reach is refused the wish', async () => {
  const failed: unknown = await runPerch(['gateway', 'run', '--port', '0', '--advertise']).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 2, stderr: expect.stringMatching(/^perch: --advertise [^\n]*--expose[^\n]*\n$/) });
});

// Uses the system's own responder, if one is running.
const avahi = spawnSync('avahi-browse', ['--all', '--terminate'], { timeout: 10_000 }).status === 0;
test.runIf(avahi)('the system’s own browser sees what is advertised (skipped where no avahi-daemon runs)', async () => {
  await using gateway = await startPerch(EXPOSED_OPTIONS);
  const port = new URL(gateway.url).port;
  const { stdout } = await promisify(execFile)('avahi-browse', ['--resolve', '--parsable', '--terminate', '_perch-gw._tcp']);
  const line = stdout.split('\n').find((each) => each.startsWith('=') && each.split(';')[8] === port);
  expect(line).toMatch(/"protocol=3"/);
  expect(line).toMatch(/"version=\d/);
});
