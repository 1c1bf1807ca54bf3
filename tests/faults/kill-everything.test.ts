import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type Perch, startPerch } from '../e2e/perch-process.ts';
import { connectOutside } from '../e2e/outside-client.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { EXTRAS_HOME, installSharedExtra } from '../support/gguf-extra.ts';
import { createGgufFile } from '../support/gguf-file.ts';
import { OffspringProcesses } from '../support/offspring-processes.ts';
import { toTestServerCommand, startMcpServer } from '../support/mcp-fixtures.ts';

// Everything that a bridge can start runs at once, and hangs; then the bridge dies.

const { missing } = await installSharedExtra();
const MODEL = 'perch/tiny/tiny.gguf';
/** Two seconds are promised; the machine may be busy. */
const MAX_EXIT_MS = 6_000;

const site = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<title>A page</title>Hello'));
let place = '';
beforeAll(async () => {
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  place = `127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterAll(() => site.close());

/** Hangs and ignores SIGTERM, as does a child in its own session. */
const HANGING_PROGRAM = `trap '' TERM\nsetsid sleep 600 &\nsleep 600\n`;

interface ProcessGroup extends AsyncDisposable {
  perch: Perch;
  offspring: OffspringProcesses;
  /** Everything, at once; what of it is called never answers. */
  begin(): Promise<void>;
}

/** A gateway whose programs for speech, screenshots and the registry hang. */
async function startHangingGateway(): Promise<ProcessGroup> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'perch-kill-')));
  const [home, bin] = ['home', 'bin'].map((name) => join(folder, name)) as [string, string];
  for (const dir of [home, bin, dirname(join(home, 'models', MODEL)), join(home, 'extras')]) mkdirSync(dir, { recursive: true });
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}`);
    chmodSync(join(bin, name), 0o755);
  };
  for (const name of ['npm', 'command', 'espeak-ng']) program(name, HANGING_PROGRAM);
  // As if gdbus listened, without ever getting an answer.
  program('gdbus', `echo 'The name org.freedesktop.portal.Desktop is owned by :1.7'\n${HANGING_PROGRAM}`);
  if (missing === undefined) {
    writeFileSync(join(home, 'models', MODEL), createGgufFile());
    symlinkSync(join(EXTRAS_HOME, 'extras', 'gguf'), join(home, 'extras', 'gguf'));
  }
  const perch = await startPerch({
    home,
    env: {
      PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
      TMPDIR: folder,
      WAYLAND_DISPLAY: 'wayland-0',
      XDG_SESSION_TYPE: 'wayland',
    },
  });
  return {
    perch,
    offspring: new OffspringProcesses(folder),
    async begin() {
      const { client } = await connectOutside(perch);
      const hanging = (call: Promise<unknown>): void => void call.catch(() => {});
      await client.call('config.set', { key: 'browser.allow', value: [place] });
      hanging(client.call('tts.voices', {}));
      hanging(client.call('desktop.screenshot', {}));
      hanging(client.call('update.check', {}));
      const { request } = await client.call('exec.create', { command: join(bin, 'command') });
      await client.call('exec.approve', { requestId: request.requestId });
      if (missing === undefined)
        hanging(
          perch.fetch('/v1/chat/completions', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ model: `gguf/${MODEL}`, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }),
          }),
        );
      await Promise.all([
        client.call('browser.open', { url: `http://${place}/` }),
        startMcpServer(client, 'forks', toTestServerCommand('forks')),
      ]).catch(() => {});
    },
    async [Symbol.asyncDispose]() {
      await perch[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** Processes that must exist: part of a command line of each. */
const EXPECTED_PROCESSES = [
  ...['chromium', 'driver.ts', 'bin/command', 'home/running/', 'bin/espeak-ng', 'bin/gdbus', 'bin/npm', 'keeper.ts'],
  ...(missing === undefined ? ['gguf/runner.ts'] : []),
];

const expectNoProcesses = async ({ offspring }: Pick<ProcessGroup, 'offspring'>): Promise<void> => {
  await waitFor(() => offspring.running().length === 0, 'the end of all', MAX_EXIT_MS).catch(() => {});
  const left = offspring.running();
  for (const { pid } of left) process.kill(pid, 'SIGKILL');
  expect(left).toEqual([]);
};

describe.skipIf(process.platform !== 'linux')('processes of a bridge', () => {
  for (const signal of ['SIGKILL', 'SIGTERM'] as const)
    verifies(
      'bridge/nothing-outlives-it',
      `${signal} while everything runs that it can start${missing === undefined ? '' : ` (without models: ${missing})`}`,
      async () => {
        await using lot = await startHangingGateway();
        await lot.begin();
        const commands = (): string =>
          lot.offspring
            .running()
            .map(({ command }) => command)
            .join('\n');
        await waitFor(() => EXPECTED_PROCESSES.every((part) => commands().includes(part)), 'everything', 20_000).catch(() => {});
        for (const part of EXPECTED_PROCESSES) expect(commands()).toContain(part);
        await lot.perch.kill(signal);
        await expectNoProcesses(lot);
      },
    );

  verifies(
    'bridge/nothing-outlives-it',
    'SIGKILL while it starts them',
    async () => {
      for (const more of [1, 6, 12]) {
        await using lot = await startHangingGateway();
        const before = lot.offspring.running().length;
        void lot.begin().catch(() => {});
        await waitFor(() => lot.offspring.running().length >= before + more, `${more} processes more`, 20_000);
        await lot.perch.kill('SIGKILL');
        await expectNoProcesses(lot);
      }
    },
    120_000,
  );

  verifies('bridge/nothing-outlives-it', 'SIGKILL while what drives its browsers hangs', async () => {
    await using lot = await startHangingGateway();
    using outside = await connectOutside(lot.perch);
    await outside.client.call('config.set', { key: 'browser.allow', value: [place] });
    await outside.client.call('browser.open', { url: `http://${place}/` });
    const driver = lot.offspring.running().find(({ command }) => command.includes('driver.ts'));
    if (!driver) expect.fail('no driver runs');
    process.kill(driver.pid, 'SIGSTOP');
    await lot.perch.kill('SIGKILL');
    await expectNoProcesses(lot);
  });

  verifies('bridge/nothing-outlives-it', 'SIGKILL while it starts itself', async () => {
    for (const many of [1, 2, 4, 6]) {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'perch-kill-')));
      const offspring = new OffspringProcesses(folder);
      const args = [join(import.meta.dirname, '../../bridge/cli/main.ts'), 'gateway', 'run', '--port', '0'];
      const env = { ...process.env, TMPDIR: folder, PERCH_HOME: join(folder, 'home') };
      const bridge = spawn(process.execPath, args, { env, stdio: 'ignore' });
      await waitFor(() => offspring.running().length >= many, `${many} processes`, 20_000);
      bridge.kill('SIGKILL');
      await expectNoProcesses({ offspring });
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
  });
});
