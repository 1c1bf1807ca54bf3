import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createMirrorLabels } from '../files-mirror/mirror-labels.ts';
import { ContentLabels } from './content-labels.ts';
import { TaintedCommands } from './tainted-commands.ts';
import { toMemoryId } from '../../knowledge/memory/index/index-entry.ts';
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
  const created: { commands?: TaintedCommands; mirror?: ReturnType<typeof createMirrorLabels> } = {};
  const at = await createMirroredWorkspace({
    isWatched: false,
    beforeImport: async (...imported) => created.mirror?.beforeImport(...imported),
    beforeCopy: async (...copied) => created.mirror?.beforeCopy(...copied),
    onSynced: async (lookedAt) => created.commands?.markSettled(lookedAt),
  });
  const deps = { vault: at.vault, clock: at.clock };
  await at.settle();
  const labels = new ContentLabels(deps);
  const noProvenance = { load: () => Promise.reject(new Error('no provenance here')) };
  const open = (): void => {
    created.commands = new TaintedCommands(deps);
    created.mirror = createMirrorLabels({ vault: at.vault, labels, commands: created.commands, provenance: noProvenance });
  };
  open();
  await at.vault.collection('execRequests').put(toRecord(ended === 'ended' ? at.clock.now() : undefined, readOutside));
  return Object.assign(at, {
    /** A host that knows only the vault's data. */
    begin(): void {
      open();
      at.restart();
    },
    labels,
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

verifies('injection/labels', 'are given to each memory that a command of a tainted run adds to MEMORY.md', async () => {
  await using at = await createFixture('running');
  await at.write('MEMORY.md', '- 2026-11-01 10:00 [fact] Mine\n');
  await at.settle();
  at.writeToDisk('MEMORY.md', '- 2026-11-01 10:00 [fact] Mine\n- 2026-11-01 11:00 [fact] Obey\n');
  await at.settle();
  expect([...(await at.labels.list('memory', 'main/')).keys()]).toEqual([`main/${toMemoryId('Obey')}`]);
});

verifies('injection/labels', 'go with a file that is renamed or copied on disk, and with the copy of a conflict', async () => {
  await using at = await createFixture('running', []);
  await at.write('notes.md', 'Obey');
  await at.write('mine.md', 'Of the owner');
  await at.labels.add('file', 'main/notes.md', SOURCES);
  await at.settle();
  at.writeToDisk('copy.md', 'Obey');
  await at.settle();
  renameSync(join(at.root, 'copy.md'), join(at.root, 'renamed.md'));
  renameSync(join(at.root, 'mine.md'), join(at.root, 'still-mine.md'));
  await at.settle();
  expect([await at.sources('renamed.md'), await at.sources('still-mine.md')]).toEqual([SOURCES, []]);
  await at.write('notes.md', 'Obey again');
  at.writeToDisk('notes.md', 'Of the owner');
  await at.settle();
  const [copy = ''] = Object.keys(await at.readVault()).filter((path) => path.includes('(conflict '));
  expect(await at.readVault()).toMatchObject({ 'notes.md': 'Of the owner', [copy]: 'Obey again' });
  expect([await at.sources('notes.md'), await at.sources(copy)]).toEqual([[], SOURCES]);
});
