import { expect, vi } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import type { Vault } from './vault-interface.ts';
import {
  storeAnswer,
  storeQuestion,
  dumpDatabase,
  TEST_VAULT_KEY,
  newMessage,
  newResult,
  newRun,
  newSession,
  newStep,
  newUsage,
  createTestVault,
} from './fixture.ts';

type Failure = (tx: IDBTransaction) => void;

/** Ways in which a step fails: the call throws, or the transaction is aborted (at each attempt). */
const failures: Record<string, Failure> = {
  'the call throws': () => {
    throw new DOMException('broken on purpose', 'DataError');
  },
  'the transaction is aborted': (tx) => tx.abort(),
};

const operations: Record<string, (vault: Vault) => Promise<unknown>> = {
  'runs.begin': (vault) => vault.runs.begin({ session: newSession('main/new'), ...fresh('main/new') }),
  'runs.begin in a session that exists': (vault) => vault.runs.begin({ session: newSession(), ...fresh(TEST_VAULT_KEY) }),
  'runs.savePartial': (vault) => vault.runs.savePartial('run-open', 'more text', 'more text'),
  'runs.saveStep': (vault) => vault.runs.saveStep(newStep('open', { at: 2 })),
  'runs.saveResult': (vault) => vault.runs.saveResult(newResult('open')),
  'runs.finish': (vault) => {
    const messages = [newMessage('f1', newMessage('open', null)), newMessage('f2', newMessage('f1', newMessage('open', null)))];
    return vault.runs.finish({ runId: 'run-open', status: 'done', endedAt: 8_000, messages, usage: newUsage('u2') });
  },
  'runs.withdraw': (vault) => vault.runs.withdraw('run-open'),
  'sessions.update': (vault) => vault.sessions.update(TEST_VAULT_KEY, { title: 'Other' }),
  'sessions.remove': (vault) => vault.sessions.remove(TEST_VAULT_KEY),
  'sessions.clear': (vault) => vault.sessions.clear(TEST_VAULT_KEY),
  'config.write': (vault) => vault.config.write({ a: 2 }),
  'secrets.set': (vault) => vault.secrets.set('key', 'new'),
  'secrets.set to null': (vault) => vault.secrets.set('key', null),
  'memories.add': (vault) => vault.memories.add({ id: 'n2', text: 'x', category: 'fact', createdAt: 2 }),
  'memories.remove': (vault) => vault.memories.remove('n1'),
};

/** Writes of a single row that only this replica has. */
const SINGLE_ROW_WRITES: ReadonlySet<string> = new Set(['runs.saveResult']);

const fresh = (sessionKey: string) => ({
  message: newMessage('b1', null, { sessionKey }),
  run: newRun('b1', 'b1', { sessionKey }),
});

async function seedVault(vault: Vault): Promise<void> {
  await storeAnswer(vault, await storeQuestion(vault, 'm1'));
  await storeQuestion(vault, 'open');
  await vault.runs.saveStep(newStep('open'));
  await vault.config.write({ a: 1 });
  await vault.secrets.set('key', 'old');
  await vault.memories.add({ id: 'n1', text: 'x', category: 'fact', createdAt: 1 });
}

/** Breaks the `nth` put or delete of every transaction; reports whether one got that far. */
function failAt(nth: number, how: Failure) {
  const counts = new Map<IDBTransaction, number>();
  let broke = false;
  const step = (tx: IDBTransaction): void => {
    const count = (counts.get(tx) ?? 0) + 1;
    counts.set(tx, count);
    if (count !== nth) return;
    broke = true;
    how(tx);
  };
  const { put, delete: remove } = IDBObjectStore.prototype;
  const spies = [
    vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: IDBObjectStore, ...args) {
      const { transaction } = this;
      const request = put.apply(this, args);
      step(transaction);
      return request;
    }),
    vi.spyOn(IDBObjectStore.prototype, 'delete').mockImplementation(function (this: IDBObjectStore, ...args) {
      const { transaction } = this;
      const request = remove.apply(this, args);
      step(transaction);
      return request;
    }),
  ];
  return {
    broke: () => broke,
    [Symbol.dispose]: () => spies.forEach((spy) => spy.mockRestore()),
  };
}

for (const [name, operate] of Object.entries(operations)) {
  for (const [how, failure] of Object.entries(failures)) {
    verifies(['storage/atomic', 'storage/change-log'], `${name}, where ${how}`, async () => {
      for (let nth = 1; ; nth++) {
        await using vault = await createTestVault();
        await seedVault(vault.vault);
        const before = await dumpDatabase(vault.name);
        let broke: boolean;
        let failed: unknown;
        {
          using breakage = failAt(nth, failure);
          await operate(vault.vault).catch((error: unknown) => (failed = error));
          broke = breakage.broke();
        }
        if (!broke) {
          expect(failed).toBeUndefined();
          // At least the record and its row in the change log; local rows have none.
          expect(nth).toBeGreaterThan(SINGLE_ROW_WRITES.has(name) ? 1 : 2);
          expect(await dumpDatabase(vault.name)).not.toEqual(before);
          break;
        }
        expect(failed).toBeInstanceOf(DOMException);
        expect(await dumpDatabase(vault.name)).toEqual(before);
        // The vault remains usable.
        await operate(vault.vault);
        expect(await dumpDatabase(vault.name)).not.toEqual(before);
      }
    });
  }
}
