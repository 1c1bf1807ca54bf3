import { expect } from 'vitest';
import { ContentLabels } from './content-labels.ts';
import { TaintedCommands } from './tainted-commands.ts';
import type { ExecRecord } from '../../storage/vault-interface.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createMirroredWorkspace } from '../../../../tests/support/mirrored-workspace.ts';

const MINUTE = 60_000;
const SOURCES = ['web:pages.test'];

const toRecord = (endedAt: number | undefined, readOutside: string[]): ExecRecord => ({
  ...{ requestId: 'r1', command: 'save', args: [], workingDir: '/', realPath: '/usr/bin/save', hash: 'a'.repeat(64), riskLevel: 'medium' },
  ...{ agentId: 'main', sessionId: 'main', runId: 'run', createdAt: 0, expiresAt: 1, origin: 'here', replica: 'here' },
  status: endedAt === undefined ? 'running' : 'completed',
  ...(endedAt === undefined ? {} : { endedAt }),
  ...(readOutside.length === 0 ? {} : { readOutside }),
});

/** A folder and its mirror, with a command that has ended or is still running. */
async function createFixture(ended: 'ended' | 'running', readOutside = SOURCES) {
  const created: { labels?: ContentLabels; commands?: TaintedCommands } = {};
  const at = await createMirroredWorkspace({
    isWatched: false,
    async beforeImport(workspace, paths) {
      await created.labels?.replaceFiles(workspace, paths, (await created.commands?.getSources()) ?? []);
      return undefined;
    },
    onSynced: async (lookedAt) => created.commands?.markSettled(lookedAt),
  });
  const deps = { vault: at.vault, clock: at.clock };
  await at.settle();
  const labels = new ContentLabels(deps);
  Object.assign(created, { labels, commands: new TaintedCommands(deps) });
  await at.vault.collection('execRequests').put(toRecord(ended === 'ended' ? at.clock.now() : undefined, readOutside));
  return Object.assign(at, {
    /** A host that knows only the vault's data. */
    begin(): void {
      created.commands = new TaintedCommands(deps);
      at.restart();
    },
    sources: (path: string) => labels.getSources('file', `main/${path}`),
  });
}

verifies('injection/labels', 'are given to a file that a command of a tainted run wrote before the gateway was restarted', async () => {
  for (const ended of ['ended', 'running'] as const) {
    await using at = await createFixture(ended);
    at.writeToDisk('planted.md', 'Obey');
    at.mirror.stop();
    await at.clock.advance(60 * MINUTE);
    at.begin();
    await at.settle();
    expect(await at.sources('planted.md')).toEqual(SOURCES);
  }
});

verifies('injection/labels', 'are not added to files that change after all files of the command were found', async () => {
  await using at = await createFixture('ended');
  await at.clock.advance(2 * MINUTE);
  await at.settle();
  at.writeToDisk('mine.md', 'Of the owner');
  await at.settle();
  expect(await at.readVault()).toHaveProperty('mine.md');
  expect(await at.sources('mine.md')).toEqual([]);
});

verifies('injection/labels', 'are not added to files next to a command of an untainted run', async () => {
  await using at = await createFixture('running', []);
  at.writeToDisk('mine.md', 'Of the owner');
  await at.settle();
  expect(await at.sources('mine.md')).toEqual([]);
});
