import { expect, vi } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { getLongTermMemory } from '../../../../../tests/support/long-term-memory.ts';
import { MemoryIndexStore } from '../../../../../tests/support/memory-index-store.ts';
import { createTestGateway, type TestGateway } from '../../../../../tests/support/test-gateway.ts';
import { settingsSchema } from '../../../config/settings-schema.ts';
import { toMemoryId } from '../../../knowledge/memory/index/index-entry.ts';
import type { MemoryLine } from '../../../knowledge/memory/long-term.ts';
import { createAgents } from '../../agents.ts';
import { ContentLabels } from '../../trust/content-labels.ts';
import { LongTermMemories } from '../memory/long-term-memories.ts';
import { ReplyRecall, type ReplyRecallDeps } from './reply-recall.ts';

/** Indexing and saving take a while on a busy machine. */
const WAIT = { timeout: 10_000 };
const SECRET = 'The safe opens with xylophone';
const manyMemories = (): MemoryLine[] =>
  Array.from({ length: 600 }, (_, nth) => ({ text: `The boat number ${nth} lies at the pier`, category: 'fact', createdAt: 0 }));

function createRecall({ vault }: TestGateway, snapshots: Map<string, MemoryIndexStore>) {
  const clock = new FakeClock();
  const settings = settingsSchema.parse({});
  const agents = createAgents(() => settings);
  const longTerm = new LongTermMemories({ vault, clock, agents });
  const getSnapshotStore = (name: string): MemoryIndexStore => {
    const store = snapshots.get(name) ?? new MemoryIndexStore();
    snapshots.set(name, store);
    return store;
  };
  const deps: ReplyRecallDeps = {
    vault,
    main: () => agents.get('main'),
    longTermMemories: { load: () => Promise.resolve(longTerm) },
    memoryStore: () =>
      Promise.resolve(
        Object.assign(new MemoryIndexStore(), { kept: () => Promise.resolve(new Map()), keep: vi.fn(), forget: vi.fn(), getSnapshotStore }),
      ),
    labels: new ContentLabels({ vault, clock }),
    clock,
    settings: () => settings,
    log: { write: vi.fn() },
  };
  return { recall: new ReplyRecall(deps), agent: agents.get('main'), clock, readMemories: vi.spyOn(longTerm, 'listIn') };
}

verifies(['recall/restart', 'recall/keeps-up'], 'prepared after the start and after changes, and saved for the next start', async () => {
  await using gw = await createTestGateway();
  const file = getLongTermMemory(gw.vault);
  await file.add([...manyMemories(), { text: SECRET, category: 'fact', createdAt: 0 }]);
  const snapshots = new Map<string, MemoryIndexStore>();
  const isSaved = (): boolean | undefined => {
    const bytes = snapshots.get('recall main')?.bytes;
    return bytes && Buffer.from(bytes).includes('xylophon');
  };
  const { recall, clock } = createRecall(gw, snapshots);
  clock.advance(1000);
  await vi.waitFor(() => expect(isSaved()).toBe(true), WAIT);
  await file.forget(toMemoryId(SECRET));
  clock.advance(1000);
  await vi.waitFor(() => expect(isSaved()).toBe(false), WAIT);
  await recall.close();

  // The next start takes the saved index, and reads no memory.
  const restarted = createRecall(gw, snapshots);
  const readSnapshot = vi.spyOn(snapshots.get('recall main') ?? new MemoryIndexStore(), 'snapshot');
  restarted.clock.advance(1000);
  await vi.waitFor(() => expect(readSnapshot).toHaveBeenCalled(), WAIT);
  const run = { agent: restarted.agent, project: undefined, isTainted: false, above: [], session: { key: 'main/main' } };
  const recalled = await restarted.recall.recall({ ...run, user: { content: 'Where is boat number 42?' } }, new AbortController().signal);
  expect(recalled?.memories[0]).toMatchObject({ text: 'The boat number 42 lies at the pier', category: 'fact' });
  expect(restarted.readMemories).not.toHaveBeenCalled();
  await restarted.recall.close();
  // Nothing is left that waits for a change.
  await file.add([{ text: 'The kayak is in the barn', category: 'fact', createdAt: 0 }]);
  expect(restarted.clock.pending()).toBe(0);
});
