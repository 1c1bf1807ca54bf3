import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startPerch } from '../e2e/perch-process.ts';
import { readAnswers, STORED_PORT, unpackHome } from '../stored/stored-home.ts';
import { readJournalCopy, readManagedCopy } from './vault-copies.ts';

test('a home folder of an earlier build opens: journal, browser profile and answers are the same, record for record', async () => {
  const home = mkdtempSync(join(tmpdir(), 'perch-stored-'));
  try {
    const stored = unpackHome(home);
    expect(Object.fromEntries((await readJournalCopy(home)).records)).toMatchObject(stored.journal);
    await using perch = await startPerch({ host: 'headless', port: STORED_PORT, home });
    const client = await perch.client();
    expect(await readAnswers(client)).toMatchObject(stored.answers);
    const { backups } = await client.call('backup.status', {});
    const [backup] = backups;
    const { changes } = await client.call('backup.restore', { name: backup?.name ?? '', dryRun: true });
    expect(Object.values(changes).filter(({ added, changed, removed }) => added + changed + removed > 0)).toEqual([]);
    client.close();
    const browser = await readManagedCopy(perch);
    expect(Object.fromEntries(browser?.records ?? [])).toMatchObject(stored.browser);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
});
