import { expect, vi } from 'vitest';
import { verifies } from '../requirements.ts';
import { parseClaimFile } from '../../web/gateway/knowledge/wiki/claim-lines.ts';
import { ClaimsManager } from '../../web/gateway/knowledge/wiki/claims-manager.ts';
import { LongTermFile } from '../../web/gateway/knowledge/memory/long-term-file.ts';
import { createConflictMerger } from '../../web/gateway/agent/workspace/conflict-merger.ts';
import { createSubWorkspace } from '../../web/gateway/agent/workspace/sub-workspace.ts';
import { createVaultWorkspace } from '../../web/gateway/agent/workspace/vault-workspace.ts';
import { MemoryJournal } from '../support/memory-journal.ts';
import { getConflictCopies, TestReplica } from './test-replica.ts';

const START = Date.UTC(2026, 10, 22, 9, 30);

/** Two replicas on one journal, the second of which merges as the host that serves does. */
class ReplicaPair {
  readonly journal = new MemoryJournal();
  readonly first: TestReplica;
  readonly second: TestReplica;
  /** The replica that merges. */
  readonly activate: TestReplica[];

  private constructor(here: TestReplica, there: TestReplica) {
    [this.first, this.second, this.activate] = [here, there, [there]];
  }

  static async open(): Promise<ReplicaPair> {
    const pair = new ReplicaPair(await TestReplica.open('here'), await TestReplica.open('there'));
    for (const replica of pair.onBoth) {
      replica.clock.jump(START);
      await replica.join(pair.journal);
    }
    return pair;
  }

  get onBoth(): TestReplica[] {
    return [this.first, this.second];
  }

  /** Runs the actions of both while partitioned, the second one later, and then synchronizes them. */
  async whilePartitioned(
    ours: (replica: TestReplica) => Promise<unknown>,
    theirs: (replica: TestReplica) => Promise<unknown>,
  ): Promise<void> {
    for (const replica of this.onBoth) {
      await replica.waitForSync(this.journal);
      replica.disconnect();
    }
    await ours(this.first);
    this.second.clock.jump(60_000);
    await theirs(this.second);
    for (const replica of this.onBoth) await replica.join(this.journal);
    await this.waitForSync();
  }

  async waitForSync(): Promise<void> {
    for (const replica of [...this.onBoth, ...this.onBoth]) await replica.waitForSync(this.journal);
  }

  /** Merges conflicts on the active hosts, then synchronizes again. */
  async waitForMerge(): Promise<void> {
    for (const { vault, faults } of this.activate) {
      const merger = createConflictMerger({
        ...{ vault, sync: undefined },
        isActive: () => true,
        onMerged: () => {},
        fault: (error) => faults.push(error),
      });
      await merger.whenSettled();
      merger.stop();
    }
    await this.waitForSync();
    for (const { faults } of this.onBoth) expect(faults).toEqual([]);
    expect(await this.first.readContent()).toEqual(await this.second.readContent());
  }
}

const getWorkspace = (replica: TestReplica) => createVaultWorkspace(replica, 'main');
const getMemory = (replica: TestReplica): LongTermFile => new LongTermFile(getWorkspace(replica), 'MEMORY.md');
const addMemory =
  (...texts: string[]) =>
  (replica: TestReplica) =>
    getMemory(replica).add(texts.map((text) => ({ text, category: 'fact', createdAt: replica.clock.now() })));
const getMemoryTexts = async (replica: TestReplica): Promise<string[]> => (await getMemory(replica).memories()).map(({ text }) => text);

verifies('vault.files/merged', 'memories added on two partitioned hosts exist on both, without a conflict', async () => {
  const pair = await ReplicaPair.open();
  await addMemory('Miso is a cat')(pair.first);
  await pair.whilePartitioned(addMemory('Rex is a dog', 'Ada has both'), addMemory('Tea, not coffee'));
  // Only the later version: without merging, the other would be lost.
  for (const replica of pair.onBoth) {
    expect(await getMemoryTexts(replica)).toEqual(['Miso is a cat', 'Tea, not coffee']);
    expect(await getConflictCopies(replica.vault)).toHaveLength(1);
  }
  await pair.waitForMerge();
  for (const replica of pair.onBoth) {
    expect(await getMemoryTexts(replica)).toEqual(['Miso is a cat', 'Rex is a dog', 'Ada has both', 'Tea, not coffee']);
    expect(await getConflictCopies(replica.vault)).toEqual([]);
  }
  // The next version is derived from it and causes no conflict.
  await addMemory('More')(pair.first);
  await pair.waitForSync();
  expect(await getConflictCopies(pair.second.vault)).toEqual([]);
});

verifies(
  'vault.files/merged',
  'the same memory changed on both is there in both wordings; one that was forgotten on one side comes back',
  async () => {
    const pair = await ReplicaPair.open();
    await addMemory('Miso is a cat')(pair.first);
    const [memory] = await getMemory(pair.first).memories();
    const id = memory?.id ?? '';
    await pair.whilePartitioned(
      (replica) => getMemory(replica).replace(id, { text: 'Miso is an old cat' }),
      (replica) => getMemory(replica).replace(id, { text: 'Miso is a grey cat' }),
    );
    await pair.waitForMerge();
    expect((await getMemoryTexts(pair.first)).sort()).toEqual(['Miso is a grey cat', 'Miso is an old cat']);
    const [grey] = (await getMemory(pair.first).memories()).filter(({ text }) => text.includes('grey'));
    await pair.whilePartitioned((replica) => getMemory(replica).forget(grey?.id ?? ''), addMemory('Rex is a dog'));
    await pair.waitForMerge();
    expect((await getMemoryTexts(pair.second)).sort()).toEqual(['Miso is a grey cat', 'Miso is an old cat', 'Rex is a dog']);
    expect(await getConflictCopies(pair.first.vault)).toEqual([]);
  },
);

verifies('vault.files/merged', 'a file that one has removed and the other has added to is there', async () => {
  const pair = await ReplicaPair.open();
  await addMemory('Miso is a cat')(pair.first);
  await pair.whilePartitioned(addMemory('Rex is a dog'), ({ vault }) => vault.files.remove('main', 'MEMORY.md'));
  expect(await getMemoryTexts(pair.second)).toEqual([]);
  await pair.waitForMerge();
  expect(await getMemoryTexts(pair.second)).toEqual(['Miso is a cat', 'Rex is a dog']);
  expect(await getConflictCopies(pair.first.vault)).toEqual([]);
});

verifies(
  ['vault.files/merged', 'vault.files/lines'],
  'a claim that two hosts changed apart has both histories; the later state counts, and it goes on from there',
  async () => {
    const dir = '.perch-wiki/claims';
    const createClaimsManager = (replica: TestReplica): ClaimsManager =>
      new ClaimsManager(createSubWorkspace(getWorkspace(replica), 'wiki'), dir, { now: () => replica.clock.now() });
    const pair = await ReplicaPair.open();
    const { id } = await createClaimsManager(pair.first).addClaim('entities/Miso.md', 'Miso is a cat');
    await pair.whilePartitioned(
      async (replica) => {
        await createClaimsManager(replica).updateClaim(id, { confidence: 0.5 });
        await createClaimsManager(replica).updateClaim(id, { tags: ['cats'] });
      },
      (replica) => createClaimsManager(replica).refuteClaim(id, 'Miso is a dog'),
    );
    await pair.waitForMerge();
    const path = `wiki/${dir}/${id}.jsonl`;
    const history = parseClaimFile(path, id, (await getWorkspace(pair.first).read(path)) ?? '');
    expect(history.problems).toEqual([]);
    expect(history.changes.map(({ event }) => event)).toEqual(['added', 'updated', 'updated', 'refuted']);
    expect(history.changes.at(-1)?.claim).toMatchObject({ text: 'Miso is a cat', status: 'REFUTED' });
    expect(await getConflictCopies(pair.first.vault)).toEqual([]);
    await createClaimsManager(pair.first).deleteClaim(id);
    expect((await createClaimsManager(pair.first).restoreClaim(id)).status).toBe('REFUTED');
  },
);

verifies('vault.files/merged', 'two hosts that merge the same write the same, and make no new copy of it', async () => {
  const pair = await ReplicaPair.open();
  await pair.whilePartitioned(addMemory('Rex is a dog'), addMemory('Miso is a cat'));
  for (const replica of pair.onBoth) replica.disconnect();
  pair.activate.push(pair.first);
  for (const { vault } of pair.onBoth) {
    const merger = createConflictMerger({ vault, sync: undefined, isActive: () => true, onMerged: () => {}, fault: () => {} });
    await merger.whenSettled();
    merger.stop();
  }
  const [ours, theirs] = await Promise.all(pair.onBoth.map(({ vault }) => vault.files.get('main', 'MEMORY.md')));
  expect(ours).toEqual(theirs);
  for (const replica of pair.onBoth) await replica.join(pair.journal);
  await pair.waitForSync();
  expect(await getConflictCopies(pair.first.vault)).toEqual([]);
  await pair.waitForMerge();
  expect(await getMemoryTexts(pair.first)).toEqual(['Rex is a dog', 'Miso is a cat']);
});

verifies(
  'vault.files/merged',
  'dying between the merge and the copy’s end leaves the new file; the next start only forgets the copy',
  async () => {
    const pair = await ReplicaPair.open();
    await pair.whilePartitioned(addMemory('Rex is a dog'), addMemory('Miso is a cat'));
    const { vault, faults } = pair.second;
    const begin = () =>
      createConflictMerger({ vault, sync: undefined, isActive: () => true, onMerged: () => {}, fault: (error) => faults.push(error) });
    for (const part of ['replace', 'resolve']) {
      const died = vi.fn(() => Promise.reject(new Error('died')));
      using _ =
        part === 'replace'
          ? vi.spyOn(vault.files, 'replace').mockImplementation(died)
          : vi.spyOn(vault.conflicts, 'resolve').mockImplementation(died);
      const merger = begin();
      await merger.whenSettled();
      merger.stop();
      expect(died).toHaveBeenCalledOnce();
      expect(await getMemoryTexts(pair.second)).toEqual(part === 'replace' ? ['Miso is a cat'] : ['Rex is a dog', 'Miso is a cat']);
      expect(await getConflictCopies(vault)).toHaveLength(1);
    }
    faults.length = 0;
    const before = await vault.files.get('main', 'MEMORY.md');
    await pair.waitForMerge();
    expect(await vault.files.get('main', 'MEMORY.md')).toEqual(before);
    expect(await getConflictCopies(vault)).toEqual([]);
  },
);

verifies('vault.files/merged', 'if the winning version has not arrived the copy waits for it', async () => {
  const pair = await ReplicaPair.open();
  await pair.whilePartitioned(addMemory('Rex is a dog'), addMemory('Miso is a cat'));
  const { vault } = pair.second;
  const [copy] = await getConflictCopies(vault);
  const won = await vault.files.get('main', 'MEMORY.md');
  const lost: unknown = JSON.parse(copy?.payload ?? '');
  let tell = (): void => {};
  let arrived = false;
  const get: typeof vault.files.get = async () => (arrived ? won : (lost as typeof won));
  const onforeign: typeof vault.onRemoteChanges = (listener) => {
    tell = () => listener([{ store: 'files', key: 'main/MEMORY.md', deleted: false }]);
    return () => {};
  };
  const merger = createConflictMerger({
    vault: { conflicts: vault.conflicts, files: { ...vault.files, get }, onRemoteChanges: onforeign },
    ...{ sync: undefined, isActive: () => true, onMerged: () => {}, fault: () => {} },
  });
  await merger.whenSettled();
  expect(await getConflictCopies(vault)).toHaveLength(1);
  arrived = true;
  tell();
  await merger.whenSettled();
  expect(await getConflictCopies(vault)).toEqual([]);
  expect(await getMemoryTexts(pair.second)).toEqual(['Rex is a dog', 'Miso is a cat']);
});

verifies(
  'vault.files/copies',
  'files that are not lists of lines, not text, or too large together stay unmerged with a conflict copy, unless both are equal',
  async () => {
    const pair = await ReplicaPair.open();
    const put =
      (path: string, content: string, encoding: 'utf8' | 'base64' = 'utf8') =>
      ({ vault, clock }: TestReplica) =>
        vault.files.put(
          {
            key: `main/${path}`,
            workspace: 'main',
            path,
            mimeType: 'x/y',
            modifiedAt: clock.now(),
            encoding,
            content,
            size: content.length,
          },
          () => {},
        );
    const large = (letter: string): string => `${letter.repeat(5 * 1024 * 1024)}\n`;
    const all = (of: string) => async (replica: TestReplica) => {
      await put('notes.md', of)(replica);
      await put('MEMORY.md', of === 'ours' ? 'AAAA' : 'AAAB', 'base64')(replica);
      await put('.dreams/large.jsonl', large(of.slice(0, 1)))(replica);
      await put('.dreams/broken.jsonl', of)(replica);
      await put('same.png', 'AAAA', 'base64')(replica);
    };
    await pair.whilePartitioned(all('ours'), all('theirs'));
    await pair.waitForMerge();
    const copies = await getConflictCopies(pair.first.vault);
    expect(copies.map(({ key }) => key).sort()).toEqual(['main/.dreams/large.jsonl', 'main/MEMORY.md', 'main/notes.md']);
    expect(await getWorkspace(pair.first).read('notes.md')).toBe('theirs');
    expect(await getWorkspace(pair.first).read('.dreams/broken.jsonl')).toBe('ours\ntheirs\n');
  },
);
