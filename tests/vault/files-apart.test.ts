import { expect, vi } from 'vitest';
import { verifies } from '../requirements.ts';
import { readClaimFile } from '../../web/gateway/core/wiki/claim-lines.ts';
import { ClaimsManager } from '../../web/gateway/core/wiki/claims-manager.ts';
import { LongTermFile } from '../../web/gateway/core/memory/long-term-file.ts';
import { keepMerged } from '../../web/gateway/core/workspace/keep-merged.ts';
import { underFolder } from '../../web/gateway/core/workspace/under-folder.ts';
import { vaultWorkspace } from '../../web/gateway/core/workspace/vault-workspace.ts';
import { MemoryJournal } from '../support/memory-journal.ts';
import { copiesOf, TestReplica } from './replicas.ts';

const START = Date.UTC(2026, 10, 22, 9, 30);

/** Two replicas on one journal, the second of which merges as the host that serves does. */
class Pair {
  readonly journal = new MemoryJournal();
  readonly here: TestReplica;
  readonly there: TestReplica;
  /** The replica that merges. */
  readonly serves: TestReplica[];

  private constructor(here: TestReplica, there: TestReplica) {
    [this.here, this.there, this.serves] = [here, there, [there]];
  }

  static async open(): Promise<Pair> {
    const pair = new Pair(await TestReplica.open('here'), await TestReplica.open('there'));
    for (const replica of pair.both) {
      replica.clock.jump(START);
      await replica.join(pair.journal);
    }
    return pair;
  }

  get both(): TestReplica[] {
    return [this.here, this.there];
  }

  /** Runs the actions of both while partitioned, the second one later, and then synchronizes them. */
  async apart(ours: (replica: TestReplica) => Promise<unknown>, theirs: (replica: TestReplica) => Promise<unknown>): Promise<void> {
    for (const replica of this.both) {
      await replica.synced(this.journal);
      replica.cut();
    }
    await ours(this.here);
    this.there.clock.jump(60_000);
    await theirs(this.there);
    for (const replica of this.both) await replica.join(this.journal);
    await this.synced();
  }

  async synced(): Promise<void> {
    for (const replica of [...this.both, ...this.both]) await replica.synced(this.journal);
  }

  /** Merges conflicts on the active hosts, then synchronizes again. */
  async merged(): Promise<void> {
    for (const { vault, faults } of this.serves) {
      const kept = keepMerged({
        ...{ vault, sync: undefined },
        serves: () => true,
        changed: () => {},
        fault: (error) => faults.push(error),
      });
      await kept.settled();
      kept.stop();
    }
    await this.synced();
    for (const { faults } of this.both) expect(faults).toEqual([]);
    expect(await this.here.content()).toEqual(await this.there.content());
  }
}

const workspaceOf = (replica: TestReplica) => vaultWorkspace(replica, 'main');
const memoryOf = (replica: TestReplica): LongTermFile => new LongTermFile(workspaceOf(replica), 'MEMORY.md');
const remember =
  (...texts: string[]) =>
  (replica: TestReplica) =>
    memoryOf(replica).add(texts.map((text) => ({ text, category: 'fact', createdAt: replica.clock.now() })));
const textsOf = async (replica: TestReplica): Promise<string[]> => (await memoryOf(replica).memories()).map(({ text }) => text);

verifies('vault.files/merged', 'memories added on two partitioned hosts exist on both, without a conflict', async () => {
  const pair = await Pair.open();
  await remember('Miso is a cat')(pair.here);
  await pair.apart(remember('Rex is a dog', 'Ada has both'), remember('Tea, not coffee'));
  // Only the later version: without merging, the other would be lost.
  for (const replica of pair.both) {
    expect(await textsOf(replica)).toEqual(['Miso is a cat', 'Tea, not coffee']);
    expect(await copiesOf(replica.vault)).toHaveLength(1);
  }
  await pair.merged();
  for (const replica of pair.both) {
    expect(await textsOf(replica)).toEqual(['Miso is a cat', 'Rex is a dog', 'Ada has both', 'Tea, not coffee']);
    expect(await copiesOf(replica.vault)).toEqual([]);
  }
  // The next version is derived from it and causes no conflict.
  await remember('More')(pair.here);
  await pair.synced();
  expect(await copiesOf(pair.there.vault)).toEqual([]);
});

verifies(
  'vault.files/merged',
  'the same memory changed on both is there in both wordings; one that was forgotten on one side comes back',
  async () => {
    const pair = await Pair.open();
    await remember('Miso is a cat')(pair.here);
    const [memory] = await memoryOf(pair.here).memories();
    const id = memory?.id ?? '';
    await pair.apart(
      (replica) => memoryOf(replica).replace(id, { text: 'Miso is an old cat' }),
      (replica) => memoryOf(replica).replace(id, { text: 'Miso is a grey cat' }),
    );
    await pair.merged();
    expect((await textsOf(pair.here)).sort()).toEqual(['Miso is a grey cat', 'Miso is an old cat']);
    const [grey] = (await memoryOf(pair.here).memories()).filter(({ text }) => text.includes('grey'));
    await pair.apart((replica) => memoryOf(replica).forget(grey?.id ?? ''), remember('Rex is a dog'));
    await pair.merged();
    expect((await textsOf(pair.there)).sort()).toEqual(['Miso is a grey cat', 'Miso is an old cat', 'Rex is a dog']);
    expect(await copiesOf(pair.here.vault)).toEqual([]);
  },
);

verifies('vault.files/merged', 'a file that one has removed and the other has added to is there', async () => {
  const pair = await Pair.open();
  await remember('Miso is a cat')(pair.here);
  await pair.apart(remember('Rex is a dog'), ({ vault }) => vault.files.remove('main', 'MEMORY.md'));
  expect(await textsOf(pair.there)).toEqual([]);
  await pair.merged();
  expect(await textsOf(pair.there)).toEqual(['Miso is a cat', 'Rex is a dog']);
  expect(await copiesOf(pair.here.vault)).toEqual([]);
});

verifies(
  ['vault.files/merged', 'vault.files/lines'],
  'a claim that two hosts changed apart has both histories; the later state counts, and it goes on from there',
  async () => {
    const dir = '.perch-wiki/claims';
    const claimsOf = (replica: TestReplica): ClaimsManager =>
      new ClaimsManager(underFolder(workspaceOf(replica), 'wiki'), dir, { now: () => replica.clock.now() });
    const pair = await Pair.open();
    const { id } = await claimsOf(pair.here).addClaim('entities/Miso.md', 'Miso is a cat');
    await pair.apart(
      async (replica) => {
        await claimsOf(replica).updateClaim(id, { confidence: 0.5 });
        await claimsOf(replica).updateClaim(id, { tags: ['cats'] });
      },
      (replica) => claimsOf(replica).refuteClaim(id, 'Miso is a dog'),
    );
    await pair.merged();
    const path = `wiki/${dir}/${id}.jsonl`;
    const history = readClaimFile(path, id, (await workspaceOf(pair.here).read(path)) ?? '');
    expect(history.problems).toEqual([]);
    expect(history.changes.map(({ event }) => event)).toEqual(['added', 'updated', 'updated', 'refuted']);
    expect(history.changes.at(-1)?.claim).toMatchObject({ text: 'Miso is a cat', status: 'REFUTED' });
    expect(await copiesOf(pair.here.vault)).toEqual([]);
    await claimsOf(pair.here).deleteClaim(id);
    expect((await claimsOf(pair.here).restoreClaim(id)).status).toBe('REFUTED');
  },
);

verifies('vault.files/merged', 'two hosts that merge the same write the same, and make no new copy of it', async () => {
  const pair = await Pair.open();
  await pair.apart(remember('Rex is a dog'), remember('Miso is a cat'));
  for (const replica of pair.both) replica.cut();
  pair.serves.push(pair.here);
  for (const { vault } of pair.both) {
    const kept = keepMerged({ vault, sync: undefined, serves: () => true, changed: () => {}, fault: () => {} });
    await kept.settled();
    kept.stop();
  }
  const [ours, theirs] = await Promise.all(pair.both.map(({ vault }) => vault.files.get('main', 'MEMORY.md')));
  expect(ours).toEqual(theirs);
  for (const replica of pair.both) await replica.join(pair.journal);
  await pair.synced();
  expect(await copiesOf(pair.here.vault)).toEqual([]);
  await pair.merged();
  expect(await textsOf(pair.here)).toEqual(['Rex is a dog', 'Miso is a cat']);
});

verifies(
  'vault.files/merged',
  'dying between the merge and the copy’s end leaves the new file; the next start only forgets the copy',
  async () => {
    const pair = await Pair.open();
    await pair.apart(remember('Rex is a dog'), remember('Miso is a cat'));
    const { vault, faults } = pair.there;
    const begin = () => keepMerged({ vault, sync: undefined, serves: () => true, changed: () => {}, fault: (error) => faults.push(error) });
    for (const part of ['replace', 'resolve']) {
      const died = vi.fn(() => Promise.reject(new Error('died')));
      using _ =
        part === 'replace'
          ? vi.spyOn(vault.files, 'replace').mockImplementation(died)
          : vi.spyOn(vault.conflicts, 'resolve').mockImplementation(died);
      const kept = begin();
      await kept.settled();
      kept.stop();
      expect(died).toHaveBeenCalledOnce();
      expect(await textsOf(pair.there)).toEqual(part === 'replace' ? ['Miso is a cat'] : ['Rex is a dog', 'Miso is a cat']);
      expect(await copiesOf(vault)).toHaveLength(1);
    }
    faults.length = 0;
    const before = await vault.files.get('main', 'MEMORY.md');
    await pair.merged();
    expect(await vault.files.get('main', 'MEMORY.md')).toEqual(before);
    expect(await copiesOf(vault)).toEqual([]);
  },
);

verifies('vault.files/merged', 'if the winning version has not arrived the copy waits for it', async () => {
  const pair = await Pair.open();
  await pair.apart(remember('Rex is a dog'), remember('Miso is a cat'));
  const { vault } = pair.there;
  const [copy] = await copiesOf(vault);
  const won = await vault.files.get('main', 'MEMORY.md');
  const lost: unknown = JSON.parse(copy?.payload ?? '');
  let tell = (): void => {};
  let arrived = false;
  const get: typeof vault.files.get = async () => (arrived ? won : (lost as typeof won));
  const onforeign: typeof vault.onforeign = (listener) => {
    tell = () => listener([{ store: 'files', key: 'main/MEMORY.md', deleted: false }]);
    return () => {};
  };
  const kept = keepMerged({
    vault: { conflicts: vault.conflicts, files: { ...vault.files, get }, onforeign },
    ...{ sync: undefined, serves: () => true, changed: () => {}, fault: () => {} },
  });
  await kept.settled();
  expect(await copiesOf(vault)).toHaveLength(1);
  arrived = true;
  tell();
  await kept.settled();
  expect(await copiesOf(vault)).toEqual([]);
  expect(await textsOf(pair.there)).toEqual(['Rex is a dog', 'Miso is a cat']);
});

verifies(
  'vault.files/copies',
  'files that are not lists of lines, not text, or too large together stay unmerged with a conflict copy, unless both are equal',
  async () => {
    const pair = await Pair.open();
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
    await pair.apart(all('ours'), all('theirs'));
    await pair.merged();
    const copies = await copiesOf(pair.here.vault);
    expect(copies.map(({ key }) => key).sort()).toEqual(['main/.dreams/large.jsonl', 'main/MEMORY.md', 'main/notes.md']);
    expect(await workspaceOf(pair.here).read('notes.md')).toBe('theirs');
    expect(await workspaceOf(pair.here).read('.dreams/broken.jsonl')).toBe('ours\ntheirs\n');
  },
);
