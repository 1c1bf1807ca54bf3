import { deleteDB } from 'idb';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import { storeQuestion, createTestVault } from './fixture.ts';
import { acquireEpoch } from './open-vault.ts';

const POSITION = { journal: 'j', era: 'e', seq: 7 };
const RECORD: SequencedRecord = {
  ...{ store: 'memories', key: 'm', clock: '000000000002000-0000-there', seal: 'none', seq: 8 },
  payload: JSON.stringify({ id: 'm', text: 'x', category: 'fact', createdAt: 1 }),
};

verifies('vault.sync/fills', 'where the data was cleared no position read before is noted again, whatever is written first', async () => {
  for (const first of ['what comes from the journal', 'the position']) {
    const name = `cleared by ${first}`;
    await using vault = await createTestVault({ name, epoch: await acquireEpoch(name) });
    let cleared = 0;
    vault.sync.oncleared = () => cleared++;
    await storeQuestion(vault.vault, 'm1');
    await vault.sync.savePosition(POSITION);
    expect(await vault.sync.readPosition()).toEqual(POSITION);

    await deleteDB(name);
    const applying = first === 'the position' ? undefined : vault.sync.apply([RECORD], { ...POSITION, seq: 8 }, false);
    const keeping = vault.sync.savePosition(POSITION);
    await Promise.all([applying, keeping]);
    expect({ first, position: await vault.sync.readPosition(), cleared }).toEqual({ first, position: null, cleared: 1 });
    await vault.sync.savePosition(POSITION);
    expect(await vault.sync.readPosition()).toEqual(POSITION);
  }
});
