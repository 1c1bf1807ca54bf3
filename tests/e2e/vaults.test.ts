import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { findProcesses } from '../../bridge/headless/tests/stub-host-page.ts';
import type { GatewayClient } from '../../shared/client/index.ts';
import { verifies } from '../requirements.ts';
import { launchBrowser } from './test-browser.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { runPerch, type Perch, startPerch } from './perch-process.ts';

let home = '';
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'perch-vaults-'))));
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));

const readToken = (name: string): string => readFileSync(join(home, 'vaults', name, 'token'), 'utf8').trim();
/** A client of the vault whose token this is, at the same address as everybody's. */
const connectClient = (gateway: Perch, name: string): Promise<GatewayClient> =>
  gateway.client({ clientName: 'tests', auth: { token: name === '' ? gateway.token : readToken(name) } });
const listSessions = async (client: GatewayClient): Promise<string[]> =>
  (await client.call('sessions.list', {})).sessions.map(({ title }) => title);

const startWithVaults = async (names: readonly string[], args: readonly string[] = []): Promise<Perch> => {
  for (const name of names) await runPerch(['vault', 'create', name], { PERCH_HOME: home });
  return startPerch({ home, args });
};

describe('several vaults on one gateway', () => {
  verifies('vaults/browsers', 'have chats of their own, and one whose browser is killed stops nobody else', async () => {
    await using gateway = await startWithVaults(['work'], ['--max-browsers', '2']);
    const [own, work] = [await connectClient(gateway, ''), await connectClient(gateway, 'work')];
    await work.call('chat.send', { message: 'a secret of work', sessionId: 'main' });
    expect(await listSessions(work)).toEqual(['a secret of work']);
    expect(await listSessions(own)).toEqual([]);
    const { stdout } = await runPerch(['sessions', '--vault', 'work', '--port', new URL(gateway.url).port], { PERCH_HOME: home });
    expect(stdout).toContain('a secret of work');

    const left: string[] = [];
    void own.closed.then(() => left.push('own'));
    const browser = findProcesses(join(home, 'vaults', 'work', 'profiles'));
    expect(browser.length).toBeGreaterThan(1);
    for (const { pid } of browser) process.kill(pid, 'SIGKILL');
    await work.closed;
    expect(await listSessions(own)).toEqual([]);
    const again = await connectClient(gateway, 'work');
    expect(await listSessions(again)).toEqual(['a secret of work']);
    expect(left).toEqual([]);
    for (const client of [own, again]) client.close();
  });

  verifies('vaults/browser-limit', 'share one browser’s room, by turns; who waits in vain is told when to come again', async () => {
    await using gateway = await startWithVaults(['work', 'lab'], ['--max-browsers', '1']);
    const running = (): number =>
      new Set(
        findProcesses(home).flatMap(({ args }) => args.filter((arg) => arg.startsWith('--user-data-dir=')).map((arg) => arg.slice(16))),
      ).size;
    for (const name of ['work', 'lab', 'work']) {
      const client = await connectClient(gateway, name);
      await client.call('chat.send', { message: `of ${name}`, sessionId: 'main' });
      expect(await listSessions(client)).toEqual([`of ${name}`]);
      expect(running()).toBe(1);
      client.close();
    }
    const busy = await connectClient(gateway, '');
    const models = (name: string): Promise<Response> =>
      fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${readToken(name)}` } });
    const refused = await models('lab');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await busy.call('health', {})).status).toBe('ok');
    busy.close();
    expect((await models('lab')).status).toBe(200);
  });

  verifies('vaults/walls', 'each has its app at an origin of its own, in one browser beside the other', async () => {
    await using gateway = await startWithVaults(['work'], ['--max-browsers', '2']);
    await using browser = await launchBrowser();
    const link = (await runPerch(['open', '--vault', 'work', '--port', new URL(gateway.url).port], { PERCH_HOME: home })).stdout.trim();
    expect(new URL(link).hostname).toBe('work.localhost');
    const work = await browser.page(link);
    await waitForConnection(work, LINKED_STATUS);
    const own = await browser.page(gateway.linkUrl);
    await waitForConnection(own, LINKED_STATUS);
    await work.getByRole('textbox', { name: 'Message' }).fill('only in work');
    await work.getByRole('textbox', { name: 'Message' }).press('Enter');
    const [theirs, mine] = [await connectClient(gateway, 'work'), await connectClient(gateway, '')];
    await expect.poll(() => listSessions(theirs)).toEqual(['only in work']);
    expect(await listSessions(mine)).toEqual([]);
    for (const client of [theirs, mine]) client.close();
  });
});
