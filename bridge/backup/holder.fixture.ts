// Another process with the journal open: prints its contents at the start and after each change notification.
import { openJournal } from '../journal/open.ts';
import { vaultKey } from '../journal/vault-key.ts';
import { contents } from './fixture.ts';

const [, , dir = ''] = process.argv;
const journal = await openJournal({ dir, vaultKey: await vaultKey(dir), log: () => {} });
const tell = async (): Promise<void> => void process.stdout.write(`${JSON.stringify(await contents(journal))}\n`);
journal.on('changed', () => void tell());
await tell();
