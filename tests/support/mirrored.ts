import 'fake-indexeddb/auto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { IDBFactory } from 'fake-indexeddb';
import { filesPort } from '#shared/ports/files.ts';
import type { MirrorState } from '#shared/rpc/methods/workspace.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { type Disk, nodeDisk } from '../../bridge/capabilities/files/disk.ts';
import { filesHandlers } from '../../bridge/capabilities/files/files.ts';
import { FilesMirror, type FilesMirrorDeps } from '../../web/gateway/core/files-mirror/files-mirror.ts';
import type { Agent } from '../../web/gateway/core/agents.ts';
import { base64Of } from '../../web/gateway/core/workspace/content.ts';
import { Workspaces } from '../../web/gateway/core/workspace/workspaces.ts';
import type { Vault } from '../../web/gateway/core/vault.ts';
import { openVault, takeEpoch } from '../../web/gateway/storage/vault.ts';
import { FakeClock } from './clock.ts';
import { FakeBridge, lend } from './fake-bridge.ts';

const main: Agent = {
  id: 'main',
  name: 'Main',
  model: undefined,
  fallbacks: [],
  systemPrompt: undefined,
  temperature: undefined,
  config: {},
};

let databases = 0;

/** The mirror with a real vault and the bridge's real handlers, a memory link between. Its clock is a test's to turn. */
export async function mirrored(
  options: { disk?: Disk; isWatched?: boolean; files?: Vault['files'] } & Partial<
    Pick<FilesMirrorDeps, 'serves' | 'settings' | 'sync' | 'taken' | 'agreed'>
  > = {},
) {
  const home = mkdtempSync(join(tmpdir(), 'perch-mirror-'));
  const root = join(home, 'workspaces', 'main');
  const clock = new FakeClock();
  const name = `mirror-${++databases}`;
  globalThis.indexedDB = new IDBFactory();
  const stored = await openVault({ name, epoch: await takeEpoch(name), clock, onclosed: () => {} });
  const vault = { ...stored, files: options.files ?? stored.files };
  const workspaces = new Workspaces({ vault, clock });
  const faults: unknown[] = [];
  const log: string[] = [];
  const { disk = nodeDisk, isWatched = true, files: _, ...rest } = options;
  const lent = (): FakeBridge => {
    const handlers = filesHandlers({ home, disk });
    return new FakeBridge(lend(filesPort, isWatched ? handlers : { ...handlers, 'files.watch': () => new Promise(() => {}) }));
  };
  let bridge = lent();
  const start = (): FilesMirror =>
    new FilesMirror({
      ...{
        bridge,
        vault,
        clock,
        sync: undefined,
        serves: () => true,
        taken: async () => {},
        agreed: async () => {},
        settings: () => ({ workspaces: { mirror: true } }),
      },
      agents: { list: () => [main] },
      log: { write: (level, component, message) => void log.push(`${level} ${component} ${message}`) },
      timeZone: () => 'UTC',
      fault(error) {
        if (!(error instanceof RpcError)) faults.push(error);
        return error instanceof RpcError ? error : new RpcError('INTERNAL_ERROR', String(error));
      },
      ...rest,
    });
  let mirror = start();
  const read = (path: string): Buffer => readFileSync(join(root, path));
  return {
    ...{ home, root, clock, vault, workspaces, log, faults, read },
    get mirror() {
      return mirror;
    },
    get bridge() {
      return bridge;
    },
    /** Restarts both, as after a crash. */
    restart() {
      mirror.stop();
      bridge.detach();
      bridge = lent();
      mirror = start();
    },
    /** Looks now, until nothing is left to do. */
    async settle(): Promise<MirrorState | undefined> {
      mirror.look();
      await mirror.settled();
      return mirror.states.find(({ workspace }) => workspace === 'main');
    },
    save(path: string, content: string | Uint8Array): void {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    write: (path: string, content: string) => workspaces.write('main', { path, content, encoding: 'utf8' }),
    /** Content of the folder, by path. */
    onDisk(): Record<string, string> {
      const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
      return Object.fromEntries(
        names.filter((path) => statSync(join(root, path)).isFile()).map((path) => [path, read(path).toString('latin1')]),
      );
    },
    async inVault(): Promise<Record<string, string>> {
      const files = await vault.files.list('main', '');
      const contents = files.map(
        async ({ path }) =>
          [path, Buffer.from(base64Of((await vault.files.get('main', path)) ?? none), 'base64').toString('latin1')] as const,
      );
      return Object.fromEntries(await Promise.all(contents));
    },
    async [Symbol.asyncDispose]() {
      mirror.stop();
      await mirror.settled();
      bridge.detach();
      await stored.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

const none = { content: '', encoding: 'utf8' } as const;
