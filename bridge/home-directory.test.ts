import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configFilePort } from '#shared/ports/config-file-port.ts';
import { verifies } from '../tests/requirements.ts';
import { FakeBridge, createCapability } from '../tests/support/fake-bridge.ts';
import { createConfigFileHandlers } from './capabilities/config-file-handlers.ts';
import { Home, getHomeDirectory, type StoredCredential } from './home-directory.ts';

let dir: string;
beforeEach(async () => void (dir = join(await mkdtemp(join(tmpdir(), 'perch-home-')), 'perch')));
afterEach(() => rm(join(dir, '..'), { recursive: true, force: true }));

const readMode = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);
const credential = (id: string): StoredCredential => ({ id, secret: 'A'.repeat(43), kind: 'app', createdAt: 1 });

describe('the home directory', () => {
  const places = [
    [{ PERCH_HOME: '/p' }, 'linux', '/p'],
    [{ PERCH_HOME: '/p' }, 'win32', '/p'],
    [{ XDG_CONFIG_HOME: '/x' }, 'linux', '/x/perch'],
    [{}, 'linux', '/home/me/.config/perch'],
    [{ XDG_CONFIG_HOME: '/x' }, 'darwin', '/home/me/Library/Application Support/perch'],
    [{ APPDATA: '/roaming' }, 'win32', '/roaming/perch'],
  ] as const;
  verifies('config-file/place', 'on each platform', async () => {
    for (const [env, platform, expected] of places) expect(getHomeDirectory(env, platform, '/home/me'), platform).toBe(expected);
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, 'config.json'), '{"chat": {}}');
    const bridge = new FakeBridge(createCapability(configFilePort, createConfigFileHandlers(dir)));
    expect(await bridge.call(configFilePort, 'config-file.read', {})).toMatchObject({
      path: join(dir, 'config.json'),
      document: { chat: {} },
    });
  });
});

describe('the token file', () => {
  it('is made once, with 256 bits, for the owner alone, whatever the umask', async () => {
    const before = process.umask(0);
    try {
      const token = await (await Home.open({ dir })).token();
      expect(Buffer.from(token, 'base64url')).toHaveLength(32);
      expect([await readMode(dir), await readMode(join(dir, 'token'))]).toEqual(['700', '600']);
      expect(await (await Home.open({ dir })).token()).toBe(token);
    } finally {
      process.umask(before);
    }
  });

  it('is one and the same for starts at the same time', async () => {
    const homes = await Promise.all(Array.from({ length: 8 }, () => Home.open({ dir })));
    const tokens = await Promise.all(homes.map((home) => home.token()));
    expect(new Set(tokens).size).toBe(1);
    expect(await readdir(dir)).toEqual(['token']);
  });

  it('warns of a mode that lets others in, and only then', async () => {
    const lines: string[] = [];
    const warn = (line: string): void => void lines.push(line);
    await (await Home.open({ dir, warn })).token();
    await (await Home.open({ dir, warn })).token();
    expect(lines).toEqual([]);
    await chmod(join(dir, 'token'), 0o644);
    await (await Home.open({ dir, warn })).token();
    expect(lines).toEqual([expect.stringContaining(`${join(dir, 'token')} can be read by other users (mode 644)`)]);
  });

  it('names the file when it holds no token', async () => {
    const home = await Home.open({ dir });
    await writeFile(home.tokenFile, 'short\n');
    await expect(home.token()).rejects.toThrow(home.tokenFile);
  });

  it('says which directory cannot be made', async () => {
    await writeFile(join(dir, '..', 'file'), '');
    await expect(Home.open({ dir: join(dir, '..', 'file', 'perch') })).rejects.toThrow(/Couldn’t create the folder .*file\/perch/);
  });
});

describe('the credentials file', () => {
  it('keeps concurrent additions of several writers, with mode 0600 and no leftovers', async () => {
    const home = await Home.open({ dir });
    expect(await home.credentials()).toEqual([]);
    await Promise.all(['a', 'b', 'c'].map((id) => home.addCredentials([credential(id)])));
    expect((await (await Home.open({ dir })).credentials()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(await readMode(home.credentialsFile)).toBe('600');
    expect(await readdir(dir)).toEqual(['credentials.json']);
  });

  it.each(['{', '[]', '{"version":1,"credentials":[{"id":"x","secret":"short","kind":"app","createdAt":1}]}'])(
    'is named when damaged (%s), and left as it is',
    async (text) => {
      const home = await Home.open({ dir });
      await writeFile(home.credentialsFile, text);
      await expect(home.credentials()).rejects.toThrow(`${home.credentialsFile} is damaged`);
      await expect(home.addCredentials([credential('a')])).rejects.toThrow('is damaged');
      expect(await readFile(home.credentialsFile, 'utf8')).toBe(text);
    },
  );

  it.skipIf(process.platform === 'win32')('stays whole when the disk refuses the new one', async () => {
    const home = await Home.open({ dir });
    await home.addCredentials([credential('a')]);
    // Simulates a full disk with the shell's file size limit.
    const script = `
      import { Home } from ${JSON.stringify(join(import.meta.dirname, 'home-directory.ts'))};
      const home = await Home.open({ dir: ${JSON.stringify(dir)} });
      const many = Array.from({ length: 200 }, (_, i) => ({ id: 'x' + i, secret: 'A'.repeat(43), kind: 'app', createdAt: 1 }));
      await home.addCredentials(many).then(() => console.log('written'), () => console.log('refused'));`;
    const command = `trap '' XFSZ; ulimit -f 4; exec "$0" --input-type=module -e "$1"`;
    expect(execFileSync('bash', ['-c', command, process.execPath, script], { encoding: 'utf8', cwd: import.meta.dirname })).toBe(
      'refused\n',
    );
    expect((await home.credentials()).map(({ id }) => id)).toEqual(['a']);
    expect(await readdir(dir)).toEqual(['credentials.json']);
  });
});
