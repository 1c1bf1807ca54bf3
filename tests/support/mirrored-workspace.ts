import 'fake-indexeddb/auto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { IDBFactory } from 'fake-indexeddb';
import { filesPort } from '#shared/ports/files-port.ts';
import type { MirrorState } from '#shared/rpc/methods/workspace-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { type Disk, nodeDisk } from '../../bridge/capabilities/files/disk.ts';
import { createWorkspaceHandlers } from '../../bridge/capabilities/files/workspace-handlers.ts';
import { FilesMirror, type FilesMirrorDeps } from '../../web/gateway/agent/files-mirror/files-mirror.ts';
import type { Agent } from '../../web/gateway/agent/agents.ts';
import { toBase64Content } from '../../web/gateway/agent/workspace/file-content.ts';
import { Workspaces } from '../../web/gateway/agent/workspace/workspaces.ts';
import type { Vault } from '../../web/gateway/storage/vault-interface.ts';
import { openVault, acquireEpoch } from '../../web/gateway/storage/open-vault.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeBridge, createCapability } from './fake-bridge.ts';

const MAIN_AGENT: Agent = {
  id: 'main',
  name: 'Main',
  model: undefined,
  fallbacks: [],
  systemPrompt: undefined,
  parameters: {},
  config: {},
};

let databases = 0;

/** The mirror with a real vault and the bridge's real handlers over a memory link. The test controls its clock. */
export async function createMirroredWorkspace(
  options: { disk?: Disk; isWatched?: boolean; files?: Vault['files'] } & Partial<
    Pick<FilesMirrorDeps, 'isActive' | 'settings' | 'sync' | 'beforeImport' | 'beforeCopy' | 'onSynced'>
  > = {},
) {
  const home = mkdtempSync(join(tmpdir(), 'perch-mirror-'));
  const root = join(home, 'workspaces', 'main');
  const clock = new FakeClock();
  const name = `mirror-${++databases}`;
  globalThis.indexedDB = new IDBFactory();
  const stored = await openVault({ name, epoch: await acquireEpoch(name), clock, onclosed: () => {} });
  const vault = { ...stored, files: options.files ?? stored.files };
  const workspaces = new Workspaces({ vault, clock });
  const faults: unknown[] = [];
  const log: string[] = [];
  const { disk = nodeDisk, isWatched = true, files: _, ...rest } = options;
  const createBridge = (): FakeBridge => {
    const handlers = createWorkspaceHandlers({ home, disk });
    return new FakeBridge(createCapability(filesPort, isWatched ? handlers : { ...handlers, 'files.watch': () => new Promise(() => {}) }));
  };
  let bridge = createBridge();
  const start = (): FilesMirror =>
    new FilesMirror({
      ...{
        bridge,
        vault,
        clock,
        sync: undefined,
        isActive: () => true,
        beforeImport: async () => undefined,
        beforeCopy: async () => {},
        onSynced: async () => {},
        settings: () => ({ workspaces: { mirror: true } }),
      },
      agents: { list: () => [MAIN_AGENT] },
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
    /** Restarts both, like after a crash. */
    restart() {
      mirror.stop();
      bridge.detach();
      bridge = createBridge();
      mirror = start();
    },
    /** Synchronises now, until nothing is left to do. */
    async settle(): Promise<MirrorState | undefined> {
      mirror.refresh();
      await mirror.whenSettled();
      return mirror.states.find(({ workspace }) => workspace === 'main');
    },
    writeToDisk(path: string, content: string | Uint8Array): void {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    write: (path: string, content: string) => workspaces.write('main', { path, content, encoding: 'utf8' }),
    /** Content of the folder, by path. */
    readDisk(): Record<string, string> {
      const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
      return Object.fromEntries(
        names.filter((path) => statSync(join(root, path)).isFile()).map((path) => [path, read(path).toString('latin1')]),
      );
    },
    async readVault(): Promise<Record<string, string>> {
      const files = await vault.files.list('main', '');
      const contents = files.map(
        async ({ path }) =>
          [path, Buffer.from(toBase64Content((await vault.files.get('main', path)) ?? EMPTY_FILE), 'base64').toString('latin1')] as const,
      );
      return Object.fromEntries(await Promise.all(contents));
    },
    async [Symbol.asyncDispose]() {
      mirror.stop();
      await mirror.whenSettled();
      bridge.detach();
      await stored.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

const EMPTY_FILE = { content: '', encoding: 'utf8' } as const;
