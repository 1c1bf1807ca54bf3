import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFailingWorkspace } from '../../../../tests/support/failing-workspace.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { memoryWorkspace, type Workspace } from '../memory/workspace.ts';
import { DAY_MS } from './signal.ts';
import { SIGNALS_FILE, SignalsStore } from './signals-store.ts';

const NOW = Date.UTC(2026, 10, 22, 23, 30);

describe('SignalsStore', () => {
  verifies('dreaming.signals/records', 'keeps concurrent writes of another process', async () => {
    const real = memoryWorkspace();
    const other = new SignalsStore(real, { now: () => NOW });
    let late: (() => Promise<unknown>) | undefined;
    const first = async (): Promise<void> => {
      const work = late;
      late = undefined;
      await work?.();
    };
    const workspace: Workspace = {
      ...real,
      write: (path, text) => first().then(() => real.write(path, text)),
      update: (path, edit) => first().then(() => real.update(path, edit)),
    };
    let now = NOW - 40 * DAY_MS;
    const store = new SignalsStore(workspace, { now: () => now });
    await store.addSignal('Old', 'memory/2026-10-13.md');
    now = NOW;
    late = () => other.addSignal('New', 'memory/2026-11-22.md');
    expect((await store.cleanupOldSignals(30)).map(({ content }) => content)).toEqual(['Old']);
    expect((await store.getAllSignals()).map(({ content }) => content)).toEqual(['New']);
  });

  verifies('dreaming.signals/records', 'counts recalls by content, and forgets what is old', async () => {
    const workspace = memoryWorkspace();
    let now = NOW - 40 * DAY_MS;
    const store = new SignalsStore(workspace, { now: () => now, timeZone: 'Europe/Berlin' });
    const old = await store.addSignal('Nobody asked for this', 'memory/2026-10-13.md', '', []);
    now = NOW;
    const first = await store.addSignal('Miso is  the cat', 'memory/2026-11-20.md', 'cat', ['pet']);
    expect(first).toMatchObject({
      content: 'Miso is  the cat',
      sourceRef: 'memory/2026-11-20.md',
      query: 'cat',
      tags: ['pet'],
      recallCount: 1,
    });
    expect(first.contentHash).toMatch(/^[0-9a-f]{64}$/);
    // 00:30 in Berlin.
    expect(first.recalls).toEqual([{ query: 'cat', day: '2026-11-23', score: 0.5, at: NOW }]);
    const [again] = await store.note([
      { content: ' miso IS the cat\n', sourceRef: 'other.md', query: 'pets', score: 7, tags: ['pet', 'miso'] },
    ]);
    expect(again).toMatchObject({
      contentHash: first.contentHash,
      sourceRef: 'memory/2026-11-20.md',
      query: 'cat',
      tags: ['pet', 'miso'],
      recallCount: 2,
    });
    expect(again?.recalls.map(({ score }) => score)).toEqual([0.5, 1]);
    await store.recordConsolidation(first.contentHash);
    expect(await store.getStats()).toEqual({ total: 2, totalRecallQueries: 2, totalConsolidations: 1 });
    expect((await store.getAllSignals()).map(({ contentHash }) => contentHash)).toEqual([old.contentHash, first.contentHash]);
    expect((await store.getSignalsByAge(30)).map(({ contentHash }) => contentHash)).toEqual([first.contentHash]);
    expect(await store.cleanupOldSignals(30)).toEqual([old]);
    expect(await store.cleanupOldSignals(30)).toEqual([]);
    expect(await new SignalsStore(workspace, { now: () => now }).getAllSignals()).toMatchObject([{ recallCount: 2, consolidations: 1 }]);
    const [line = ''] = (await workspace.read(SIGNALS_FILE))?.split('\n') ?? [];
    expect(Object.keys(JSON.parse(line))).toEqual(expect.arrayContaining(['content_hash', 'source_ref', 'created_at', 'recall_count']));
    await expect(store.addSignal('  ', 'a.md')).rejects.toThrow('The content of a signal must not be empty.');
    await expect(store.addSignal('x'.repeat(4001), 'a.md')).rejects.toThrow('has 4001 characters. The maximum is 4000.');
    await expect(store.recordConsolidation('0'.repeat(64))).rejects.toThrow('No signal with hash');
    await expect(store.cleanupOldSignals(Number.NaN)).rejects.toThrow('Invalid number of days');
  });

  verifies('dreaming.signals/durable', 'a crash at any write leaves what was or what is to be', async () => {
    const action = fc.record({
      kind: fc.constantFrom('add', 'consolidate', 'clean'),
      which: fc.integer({ min: 0, max: 3 }),
      day: fc.nat(60),
    });
    const run = async (store: SignalsStore, { kind, which, day }: { kind: string; which: number; day: number }): Promise<void> => {
      if (kind === 'add') await store.note([{ content: `fact ${which}`, sourceRef: 'a.md', query: `q${day}`, at: NOW - day * DAY_MS }]);
      else if (kind === 'clean') await store.cleanupOldSignals(day);
      else
        await store.recordConsolidations(
          (await store.getAllSignals()).slice(0, which).map(({ contentHash }) => ({ contentHash, at: NOW })),
        );
    };
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 15 }), fc.integer({ min: 1, max: 15 }), fc.boolean(), async (actions, at, half) => {
        const real = memoryWorkspace();
        const broken = new SignalsStore(createFailingWorkspace(real, at, half), { now: () => NOW });
        const twin = new SignalsStore(memoryWorkspace(), { now: () => NOW });
        for (const each of actions) {
          const before = await twin.getAllSignals();
          await run(twin, each);
          const failed = await run(broken, each).then(
            () => false,
            () => true,
          );
          const left = await new SignalsStore(real, { now: () => NOW }).getAllSignals();
          if (!failed) expect(left).toEqual(await twin.getAllSignals());
          else {
            expect([before, await twin.getAllSignals()]).toContainEqual(left);
            return;
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  verifies('dreaming.signals/durable', 'broken lines stay, are told, and break nothing', async () => {
    const workspace = memoryWorkspace();
    const store = new SignalsStore(workspace, { now: () => NOW });
    await store.addSignal('The first one', 'a.md');
    await workspace.append(SIGNALS_FILE, '{"content": "cut of');
    const kept = await store.addSignal('The second one', 'a.md');
    await workspace.append(SIGNALS_FILE, '[]\n{"content":"x","source_ref":"a","content_hash":"short","created_at":1}\n');
    expect((await store.getAllSignals()).map(({ content }) => content)).toEqual(['The first one', 'The second one']);
    expect(await store.brokenLines()).toMatchObject([
      { path: SIGNALS_FILE, line: 2, why: 'invalid JSON' },
      { path: SIGNALS_FILE, line: 4 },
      { path: SIGNALS_FILE, line: 5, why: expect.stringContaining('content_hash') },
    ]);
    await store.note([{ content: 'An old one', sourceRef: 'a.md', at: NOW - 50 * DAY_MS }]);
    await store.cleanupOldSignals(10);
    expect(await workspace.read(SIGNALS_FILE)).toContain('{"content": "cut of\n');
    expect(await store.brokenLines()).toHaveLength(3);
    expect((await store.getAllSignals()).map(({ contentHash }) => contentHash)).toContain(kept.contentHash);
  });

  verifies('dreaming.signals/durable', 'the file does not grow for ever', async () => {
    const workspace = memoryWorkspace();
    const store = new SignalsStore(workspace, { now: () => NOW });
    for (let i = 0; i < 1200; i++) await store.addSignal('Asked for again and again', 'a.md', `query ${i % 40}`);
    expect((await workspace.read(SIGNALS_FILE))?.split('\n').length).toBeLessThan(600);
    const [signal] = await store.getAllSignals();
    expect([signal?.recallCount, signal?.recalls.length]).toEqual([1200, 32]);
    await store.note(Array.from({ length: 5200 }, (_, i) => ({ content: `number ${i}`, sourceRef: 'a.md', at: NOW - 5200 + i })));
    expect((await store.getStats()).total).toBe(4500);
    expect((await store.getAllSignals()).at(-1)?.content).toBe('Asked for again and again');
  });

  it('merges concurrent writes of two stores', async () => {
    const workspace = memoryWorkspace();
    const stores = [new SignalsStore(workspace), new SignalsStore(workspace)];
    await Promise.all(Array.from({ length: 40 }, (_, i) => stores[i % 2]?.addSignal(`thing ${i % 10}`, 'a.md', `q${i}`)));
    expect(await stores[0]?.getStats()).toMatchObject({ total: 10, totalRecallQueries: 40 });
  });
});
