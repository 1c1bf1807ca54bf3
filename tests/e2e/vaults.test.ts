import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { processesNaming, until } from '../../bridge/headless/tests/stand-in.ts';
import type { GatewayClient } from '../../shared/client/index.ts';
import { verifies } from '../requirements.ts';
import { launchBrowser } from './browser.ts';
import { connected, LINKED } from './connected.ts';
import { perch, type Perch, startPerch } from './harness.ts';

let home = '';
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'perch-vaults-'))));
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));

const tokenOf = (name: string): string => readFileSync(join(home, 'vaults', name, 'token'), 'utf8').trim();
/** A client of the vault whose token this is, at the same address as everybody's. */
const clientOf = (gateway: Perch, name: string): Promise<GatewayClient> =>
  gateway.client({ clientName: 'tests', auth: { token: name === '' ? gateway.token : tokenOf(name) } });
const sessionsOf = async (client: GatewayClient): Promise<string[]> =>
  (await client.call('sessions.list', {})).sessions.map(({ title }) => title);

const withVaults = async (names: readonly string[], args: readonly string[] = []): Promise<Perch> => {
  for (const name of names) await perch(['vault', 'create', name], { PERCH_HOME: home });
  return startPerch({ home, args });
};

describe('several vaults on one gateway', () => {
  verifies('vaults/browsers', 'have chats of their own, and one whose browser is killed stops nobody else', async () => {
    await using gateway = await withVaults(['work'], ['--max-browsers', '2']);
    const [own, work] = [await clientOf(gateway, ''), await clientOf(gateway, 'work')];
    await work.call('chat.send', { message: 'a secret of work', sessionId: 'main' });
    expect(await sessionsOf(work)).toEqual(['a secret of work']);
    expect(await sessionsOf(own)).toEqual([]);
    const { stdout } = await perch(['sessions', '--vault', 'work', '--port', new URL(gateway.url).port], { PERCH_HOME: home });
    expect(stdout).toContain('a secret of work');

    const left: string[] = [];
    void own.closed.then(() => left.push('own'));
    const browser = processesNaming(join(home, 'vaults', 'work', 'profiles'));
    expect(browser.length).toBeGreaterThan(1);
    for (const { pid } of browser) process.kill(pid, 'SIGKILL');
    await work.closed;
    expect(await sessionsOf(own)).toEqual([]);
    const again = await clientOf(gateway, 'work');
    expect(await sessionsOf(again)).toEqual(['a secret of work']);
    expect(left).toEqual([]);
    for (const client of [own, again]) client.close();
  });

  verifies('vaults/browser-limit', 'share one browser’s room, by turns; who waits in vain is told when to come again', async () => {
    await using gateway = await withVaults(['work', 'lab'], ['--max-browsers', '1']);
    const running = (): number =>
      new Set(
        processesNaming(home).flatMap(({ args }) => args.filter((arg) => arg.startsWith('--user-data-dir=')).map((arg) => arg.slice(16))),
      ).size;
    for (const name of ['work', 'lab', 'work']) {
      const client = await clientOf(gateway, name);
      await client.call('chat.send', { message: `of ${name}`, sessionId: 'main' });
      expect(await sessionsOf(client)).toEqual([`of ${name}`]);
      expect(running()).toBe(1);
      client.close();
    }
    const busy = await clientOf(gateway, '');
    const models = (name: string): Promise<Response> =>
      fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${tokenOf(name)}` } });
    const refused = await models('lab');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await busy.call('health', {})).status).toBe('healthy');
    busy.close();
    expect((await models('lab')).status).toBe(200);
  });

  verifies('vaults/walls', 'each has its app at an origin of its own, in one browser beside the other', async () => {
    await using gateway = await withVaults(['work'], ['--max-browsers', '2']);
    await using browser = await launchBrowser();
    const link = (await perch(['open', '--vault', 'work', '--port', new URL(gateway.url).port], { PERCH_HOME: home })).stdout.trim();
    expect(new URL(link).hostname).toBe('work.localhost');
    const work = await browser.page(link);
    await connected(work, LINKED);
    const own = await browser.page(gateway.linkUrl);
    await connected(own, LINKED);
    await work.getByRole('textbox', { name: 'Message' }).fill('only in work');
    await work.getByRole('textbox', { name: 'Message' }).press('Enter');
    const [theirs, mine] = [await clientOf(gateway, 'work'), await clientOf(gateway, '')];
    let titles: string[] = [];
    await until(() => (void sessionsOf(theirs).then((found) => (titles = found)), titles.length > 0));
    expect(titles).toEqual(['only in work']);
    expect(await sessionsOf(mine)).toEqual([]);
    for (const client of [theirs, mine]) client.close();
  });
});
