// Another process with the journal open: prints its contents at the start and after each change notification.
import { openJournal } from '../journal/open-journal.ts';
import { loadVaultKey } from '../journal/vault-key.ts';
import { readContents } from './fixture.ts';

const [, , dir = ''] = process.argv;
const journal = await openJournal({ dir, vaultKey: await loadVaultKey(dir), log: () => {} });
const print = async (): Promise<void> => void process.stdout.write(`${JSON.stringify(await readContents(journal))}\n`);
journal.on('changed', () => void print());
await print();
