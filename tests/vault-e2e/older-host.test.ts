import { expect } from 'vitest';
import { dialHost } from '../../bridge/server/tests/fake-host.ts';
import { createJournalClient } from '../../bridge/server/tests/journal-client.ts';
import { SCHEMA_VERSION } from '../../shared/link/hello.ts';
import { JOURNAL_KIND } from '../../shared/ports/journal-streams.ts';
import { startPerch } from '../e2e/perch-process.ts';
import { connectOutside } from '../e2e/outside-client.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { waitForHosts, fetchHealth, linkProgramAsDevice } from './bridge-health.ts';
import { readPageCopy, findDifferences } from './vault-copies.ts';
import { ChaosMember } from './member.ts';

const GUIDE = 'guide/guide';

verifies(
  ['vault.sync/read-only', 'vault.hosts/outdated'],
  'a newer build writes: the tab says that it only reads, keeps what it has, refuses writes in words, and shows its chats',
  async () => {
    await using perch = await startPerch();
    await using member = await ChaosMember.link('older', perch);
    await waitForHosts(perch, 2);
    await member.call('chat.send', { sessionId: 'mine', message: 'Here before', model: GUIDE });
    await member.waitForSync();
    const before = await readPageCopy(member.page);

    const { host } = await linkProgramAsDevice(perch);
    const newer = await dialHost({ url: perch.url, credential: host, capabilities: [JOURNAL_KIND] });
    const journal = createJournalClient(newer);
    await journal.call('journal.open', { origin: 'newer', schema: SCHEMA_VERSION + 1, position: null, name: 'A newer Perch' });
    const clock = `${String(Date.now()).padStart(15, '0')}-0000-newer`;
    const payload = JSON.stringify({ id: 'm-new', text: 'written by a newer build', category: 'fact', createdAt: Date.now() });
    await journal.call('journal.push', { records: [{ store: 'memories', key: 'm-new', clock, base: null, seal: 'none', payload }] });
    newer.die();

    await member.page.waitForURL(/\/outdated$/);
    await member.page.getByRole('heading', { name: 'Update Perch in this browser' }).waitFor();
    await waitFor(async () => (await member.getConnectionState())?.host?.sync.state === 'outdated', 'the tab to know');
    // No host is eligible, and programs get that error at once.
    await waitFor(async () => (await fetchHealth(perch))?.host === null, 'nobody to serve');
    const refused = connectOutside(perch).catch((error: unknown) => error);
    expect(await refused).toMatchObject({ code: 1013 });

    // Reading still works.
    await member.page.getByRole('link', { name: 'Open chats (read-only)' }).click();
    await member.page.getByText('Here before').first().waitFor();
    const { messages } = await member.call('chat.history', { sessionId: 'mine' });
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    await expect(member.call('chat.send', { sessionId: 'mine', message: 'Not stored', model: GUIDE })).rejects.toThrow(
      /older.*update|update.*older/i,
    );
    await expect(member.call('sessions.rename', { path: 'main/mine.jsonl', title: 'No' })).rejects.toThrow(/nothing was saved/);

    const after = await readPageCopy(member.page);
    expect(findDifferences(before?.records ?? new Map(), after?.records ?? new Map())).toEqual([]);
  },
);
