import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { DAY, seedDreamSources, toDate } from '../../../../../tests/support/dreaming-fixtures.ts';
import { createTestGateway, type ModelScript, waitFor } from '../../../../../tests/support/test-gateway.ts';

const FACT = 'The boat of Ana is called Wanderer.';
const CLAIM = { path: 'entities/boat', text: 'The boat is blue.', evidence: [{ source_id: 'chat' }] };

/** Saves a memory and a claim before it replies. */
const remember: ModelScript = (_call, count) =>
  count === 1
    ? [
        { tool: 'memory_add', args: { text: FACT, category: 'fact' }, id: 'a' },
        { tool: 'wiki_claim', args: CLAIM, id: 'b' },
      ]
    : ['Noted.'];

const getOnly = async (client: GatewayClient) => {
  const [memory] = (await client.call('memory.list', {})).memories;
  if (!memory) throw new Error('nothing was remembered');
  return client.call('provenance.get', { kind: 'memory', name: memory.id });
};

describe('provenance', () => {
  verifies('provenance/chain', 'a memory and a claim of an agent name the message that they come from', async () => {
    await using gw = await createTestGateway({ model: remember });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'Ana called her boat Wanderer, and it is blue.', sessionId: 'boats' });
    const [question] = (await client.call('chat.history', { sessionId: 'boats' })).messages;
    const chain = await getOnly(client);
    expect(chain).toMatchObject({ text: FACT, state: 'intact', versions: [{ by: 'agent', messageCount: 1 }] });
    expect(chain.versions[0]?.messages).toMatchObject([
      { agentId: 'main', sessionId: 'boats', messageId: question?.id, role: 'user', state: 'intact', quote: question?.content },
    ]);
    const [claim] = (await client.call('wiki.claims', {})).claims;
    expect(await client.call('provenance.get', { kind: 'claim', name: claim?.id ?? '' })).toMatchObject({
      state: 'intact',
      versions: [{ by: 'agent', messages: [{ messageId: question?.id }] }],
    });
    // A change by a person adds a version.
    await client.call('wiki.updateClaim', { id: claim?.id ?? '', confidence: 0.4 });
    const updated = await client.call('provenance.get', { kind: 'claim', name: claim?.id ?? '' });
    expect([updated.state, updated.versions.map(({ by }) => by)]).toEqual(['intact', ['person', 'agent']]);
    expect(await client.call('provenance.check', {})).toEqual({ checked: 2, byState: { intact: 2 }, problems: [] });
    await expect(client.call('provenance.get', { kind: 'memory', name: 'm-none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(gw.faults).toEqual([]);
  });

  verifies('provenance/chain', 'a daily summary and a dream name their messages', async () => {
    const clock = new FakeClock(Date.UTC(2026, 10, 20, 12));
    await using gw = await createTestGateway({ clock, model: () => ['### Key context\n\n- Ana has a boat.'] });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'Ana has a boat.', sessionId: 'boats' });
    const date = toDate(clock.now());
    await client.call('memory.summariseDay', { date });
    const day = await client.call('provenance.get', { kind: 'day', name: date });
    expect(day).toMatchObject({ state: 'intact', versions: [{ by: 'summary', messageCount: 2 }] });
    expect(day.versions[0]?.messages.map(({ quote }) => quote)).toContain('Ana has a boat.');

    await seedDreamSources({ vault: gw.vault, api: client, now: clock.now() });
    await client.call('config.patch', {
      patch: { dreaming: { promotion: 'propose', minRecallCount: 1, minUniqueQueries: 1, minScore: 0 } },
    });
    await client.call('dreaming.run', {});
    const path = `memory/${toDate(clock.now() - 2 * DAY)}.md`;
    const getProposal = async () =>
      (await client.call('dreaming.review', {})).proposals.find(({ sourceRef }) => sourceRef.startsWith(path));
    await waitFor(async () => (await getProposal()) !== undefined, 'a suggestion');
    const { contentHash = '' } = (await getProposal()) ?? {};
    const getDream = () => client.call('provenance.get', { kind: 'dream', name: contentHash });
    await waitFor(async () => (await getDream()).versions.length > 0, 'its origin');
    expect(await getDream()).toMatchObject({ state: 'intact', versions: [{ by: 'dreaming', files: [{ path, state: 'intact' }] }] });
    await client.call('dreaming.accept', { contentHash });
    expect(await getOnly(client)).toMatchObject({ state: 'intact', versions: [{ by: 'dreaming', files: [{ path }] }] });
    expect(gw.faults).toEqual([]);
  });

  verifies('provenance/changes', 'a changed source, entry or record shows', async () => {
    await using gw = await createTestGateway({ model: remember });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'Ana called her boat Wanderer, and it is blue.', sessionId: 'boats' });
    const getState = async (): Promise<string> => (await getOnly(client)).state;
    const [{ id = '' } = {}] = (await client.call('chat.history', { sessionId: 'boats' })).messages;

    // The message is changed behind the gateway's back.
    const store = await gw.vault.forgetting();
    await store.change('messages', id, (message) => ({ ...message, content: 'Ana called her boat Runaway.' }));
    expect((await getOnly(client)).versions[0]?.messages[0]).toMatchObject({ state: 'changed', quote: 'Ana called her boat Runaway.' });
    expect(await getState()).toBe('sourceChanged');
    await store.change('messages', id, (message) => ({ ...message, content: 'Ana called her boat Wanderer, and it is blue.' }));
    expect(await getState()).toBe('intact');

    // The record is changed too: without the key it cannot be signed again.
    const [record] = await gw.vault.collection('provenance').list('main/memory/');
    if (!record) throw new Error('no record');
    const [version] = record.versions;
    if (!version) throw new Error('no version');
    await gw.vault.collection('provenance').put({ ...record, versions: [{ ...version, by: 'person' }] });
    expect(await getState()).toBe('tampered');
    await gw.vault.collection('provenance').put({ ...record, versions: [{ ...version, keyId: 'another' }] });
    expect(await getState()).toBe('unverifiable');
    await gw.vault.collection('provenance').put(record);

    // The entry is changed without a record.
    await store.change('files', 'main/MEMORY.md', (file) => ({
      ...file,
      content: String(file['content']).replace('Wanderer', 'Runaway'),
      modifiedAt: Number(file['modifiedAt']) + 1,
    }));
    expect(await getOnly(client)).toMatchObject({
      text: 'The boat of Ana is called Runaway.',
      state: 'entryChanged',
      versions: [{ by: 'agent' }],
    });
    const { problems } = await client.call('provenance.check', {});
    expect(problems).toMatchObject([{ kind: 'memory', state: 'entryChanged', text: 'The boat of Ana is called Runaway.' }]);
    await client.call('sessions.delete', { path: 'main/boats.jsonl' });
    expect(await client.call('provenance.check', {})).toMatchObject({ byState: { entryChanged: 1, sourceDeleted: 1 } });
  });

  verifies('provenance/edits', 'a person’s edit is a new version of the chain', async () => {
    await using gw = await createTestGateway({ model: remember });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'Ana called her boat Wanderer, and it is blue.', sessionId: 'boats' });
    const getAuthors = async (): Promise<[string, string[]]> => {
      const { state, versions } = await getOnly(client);
      return [state, versions.map(({ by }) => by)];
    };
    const [{ id = '' } = {}] = (await client.call('memory.list', {})).memories;
    await client.call('memory.update', { id, text: 'The boat of Ana is called Windward.' });
    expect(await getAuthors()).toEqual(['intact', ['person', 'agent']]);
    const file = await client.call('workspace.read', { workspace: 'main', path: 'MEMORY.md' });
    const content = file.content.replace('Windward', 'Leeward');
    await client.call('workspace.write', { workspace: 'main', path: 'MEMORY.md', content });
    expect(await getAuthors()).toEqual(['intact', ['person', 'person', 'agent']]);
    await client.call('memory.add', { text: 'Miso is a cat.' });
    expect((await client.call('provenance.check', {})).byState).toEqual({ intact: 3 });
  });
});
