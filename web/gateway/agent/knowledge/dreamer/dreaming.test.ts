import { expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { DAY, runDreaming, storeRecalls, seedDreamSources } from '../../../../../tests/support/dreaming-fixtures.ts';
import { createScript, type ModelScript, createTestGateway, type TestGateway, waitFor } from '../../../../../tests/support/test-gateway.ts';
import { getLongTermMemory } from '../../../../../tests/support/long-term-memory.ts';

async function createDreamGateway(model?: ModelScript, sentences?: readonly string[]) {
  const gw: TestGateway = await createTestGateway(model ? { model } : {});
  const { client: api, events } = await gw.client();
  await api.call('config.patch', { patch: { dreaming: { minScore: 0.1 } } });
  await seedDreamSources({ vault: gw.vault, api, now: Date.now() }, sentences);
  const memory = async (): Promise<string> =>
    (await api.call('workspace.list', { workspace: 'main' })).files.some(({ path }) => path === 'MEMORY.md')
      ? (await api.call('workspace.read', { workspace: 'main', path: 'MEMORY.md' })).content
      : '';
  return { ...gw, api, events, memory };
}

verifies(
  ['dreaming.run/phases', 'dreaming.status/told'],
  'light, REM and deep, told as they go on, and kept with their reports',
  async () => {
    await using gw = await createDreamGateway(createScript(['It is about ', 'Miso.']));
    const { api, events } = gw;
    expect(await api.call('dreaming.status', {})).toMatchObject({
      agentId: 'main',
      workspace: 'main',
      enabled: false,
      remembers: true,
      schedule: { cron: '0 3 * * *', words: 'every day at 03:00', nextRunAt: null },
      running: null,
      lastRun: null,
      signals: 0,
      waiting: 0,
    });
    const run = await runDreaming(api);
    expect(run).toMatchObject({
      by: 'person',
      phases: ['LIGHT', 'REM', 'DEEP'],
      state: 'completed',
      phase: null,
      problems: [],
      light: { recalls: 2, total: 1, untrusted: 0 },
      rem: { byModel: false },
      deep: { promoted: 0, proposed: 1, candidates: [{ content: 'Miso is the cat of Ana.', outcome: 'proposed' }], more: 0 },
    });
    const changeEvents = events.filter(({ event }) => event === 'dreaming.changed').map(({ payload }) => payload);
    expect(changeEvents).toMatchObject([
      { workspace: 'main', run: { id: run.id, phase: 'LIGHT' } },
      { run: { phase: 'REM' } },
      { run: { phase: 'DEEP' } },
      { run: { state: 'completed', phase: null } },
    ]);
    const { narrative } = await api.call('dreaming.report', { runId: run.id });
    expect(narrative).toMatch(/^# Dream report, /);
    await expect(api.call('dreaming.report', { runId: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const light = await runDreaming(api, { phase: 'LIGHT' });
    expect(light).toMatchObject({ phases: ['LIGHT'], light: { recalls: 0 } });
    expect(light).not.toHaveProperty('deep');
    const { runs, count } = await api.call('dreaming.history', {});
    expect([count, runs.map(({ id }) => id)]).toEqual([2, [light.id, run.id]]);
    expect(await api.call('dreaming.status', {})).toMatchObject({ lastRun: { id: light.id }, signals: 1, waiting: 1 });
    await expect(api.call('dreaming.status', { agentId: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(gw.faults).toEqual([]);
  },
);

verifies(
  'dreaming.run/once',
  'a second one in the same workspace is refused while the first is under way, whichever agent asks',
  async () => {
    const gate = Promise.withResolvers<void>();
    await using gw = await createDreamGateway(
      () => [{ wait: gate.promise }, 'Dogs.'],
      ['The dog of Ana is Bruno.', 'The dog of Ana is brown.'],
    );
    const { api } = gw;
    await api.call('agents.add', { agent_id: 'other', config: { workspace: 'main' } });
    const { run } = await api.call('dreaming.run', {});
    await waitFor(() => gw.calls.length === 1);
    expect(await api.call('dreaming.status', { agentId: 'other' })).toMatchObject({
      workspace: 'main',
      running: { id: run.id, phase: 'REM' },
    });
    await expect(api.call('dreaming.run', { agentId: 'other' })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    gate.resolve();
    await waitFor(async () => (await api.call('dreaming.status', {})).running === null);
    expect((await api.call('dreaming.history', {})).runs).toMatchObject([{ id: run.id, state: 'completed', rem: { byModel: true } }]);
    expect((await runDreaming(api)).state).toBe('completed');
  },
);

verifies('dreaming.review/methods', 'accepted, edited, rejected and taken back; each once, and only by a person', async () => {
  const sentences = ['Miso is the cat of Ana.', 'The rent is 900 euros a month.', 'Bruno barks at night.'];
  await using gw = await createDreamGateway(undefined, sentences);
  const { api } = gw;
  await runDreaming(api);
  const { proposals } = await api.call('dreaming.review', {});
  expect(proposals.map(({ text }) => text).sort()).toEqual([...sentences].sort());
  const getContentHash = (start: string): string => proposals.find(({ text }) => text.startsWith(start))?.contentHash ?? '';
  const [cat, rent, dog] = [getContentHash('Miso'), getContentHash('The rent'), getContentHash('Bruno')];
  expect((await api.call('dreaming.accept', { contentHash: cat })).proposal).toMatchObject({
    state: 'promoted',
    sourceRef: expect.stringMatching(/^memory\/.*#L3$/) as string,
  });
  const edited = await api.call('dreaming.accept', { contentHash: rent, text: 'The rent is 950 euros.', category: 'decision' });
  expect(edited.proposal).toMatchObject({ text: 'The rent is 950 euros.', category: 'decision', state: 'promoted' });
  expect(await gw.memory()).toMatch(/\[fact\] Miso is the cat of Ana\.\n.*\[decision\] The rent is 950 euros\.\n/);
  await expect(api.call('dreaming.accept', { contentHash: cat })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  await expect(api.call('dreaming.accept', { contentHash: dog, text: ' ' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(api.call('dreaming.accept', { contentHash: '0'.repeat(64) })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(api.call('dreaming.accept', { contentHash: 'short' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(api.call('dreaming.restore', { contentHash: dog })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  expect((await api.call('dreaming.reject', { contentHash: dog, reason: 'A joke' })).proposal).toMatchObject({
    state: 'rejected',
    reason: 'A joke',
  });
  await expect(api.call('dreaming.reject', { contentHash: dog })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  expect(await api.call('dreaming.review', { state: 'settled' })).toMatchObject({ count: 3 });
  // A rejected text is not proposed again unless the rejection is undone.
  expect((await runDreaming(api)).deep).toMatchObject({ proposed: 0 });
  const { proposal } = await api.call('dreaming.restore', { contentHash: dog });
  expect(proposal.state).toBe('proposed');
  expect(proposal).not.toHaveProperty('reason');
  expect((await api.call('dreaming.review', {})).proposals).toMatchObject([{ contentHash: dog }]);
  // A source that no longer says it bears no promotion; the person's own words do.
  const [file] = (await api.call('workspace.list', { workspace: 'main', under: 'memory' })).files;
  await api.call('workspace.write', { workspace: 'main', path: file?.path ?? '', content: '- Bruno sleeps at night.\n' });
  await expect(api.call('dreaming.accept', { contentHash: dog })).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
    message: expect.stringContaining('no longer contains it') as string,
  });
  for (const principal of ['key:1', 'channel:x']) {
    const program = await GatewayClient.connect(gw.link({ principal }), { params: { clientName: 'test' } });
    await expect(program.call('dreaming.reject', { contentHash: dog })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    program.close();
  }
  await api.call('dreaming.accept', { contentHash: dog, text: 'Bruno sleeps at night.' });
  expect(await gw.memory()).toContain('[fact] Bruno sleeps at night.');
  expect(gw.faults).toEqual([]);
});

verifies('dreaming.signals/listed', 'by score, with six components, what each lacks, filtered and in pages', async () => {
  await using gw = await createDreamGateway(undefined, ['Miso is the cat of Ana.', 'The rent is 900 euros a month.']);
  const { api } = gw;
  await storeRecalls(gw.vault, {
    turns: [
      { at: Date.now() - DAY, query: 'Who barks?', recalled: [{ text: 'Bruno barks at night.', source: 'memory/2026-01-01.md#L1' }] },
    ],
  });
  await runDreaming(api, { phase: 'LIGHT' });
  const { signals, total } = await api.call('dreaming.signals', {});
  expect([total, signals.length]).toEqual([3, 3]);
  expect(signals.map(({ score }) => score)).toEqual(signals.map(({ score }) => score).sort((a, b) => b - a));
  expect(signals[0]).toMatchObject({ state: 'ready', recalls: 2, queries: 2, components: { relevance: 0.9 } });
  expect(signals[2]).toMatchObject({
    state: 'short',
    content: 'Bruno barks at night.',
    why: expect.stringContaining('recalled 1 of 2 times') as string,
  });
  for (const { components, score } of signals) {
    expect(Object.keys(components)).toEqual(['frequency', 'relevance', 'diversity', 'recency', 'consolidation', 'conceptual']);
    for (const value of [...Object.values(components), score]) expect(value >= 0 && value <= 1).toBe(true);
  }
  expect((await api.call('dreaming.signals', { state: 'short' })).signals).toMatchObject([{ content: 'Bruno barks at night.' }]);
  expect((await api.call('dreaming.signals', { query: 'RENT' })).signals).toMatchObject([{ content: 'The rent is 900 euros a month.' }]);
  expect(await api.call('dreaming.signals', { limit: 1, offset: 1 })).toMatchObject({
    total: 3,
    signals: [{ contentHash: signals[1]?.contentHash }],
  });
});

verifies(
  'dreaming.narrative/model',
  "uses the agent's own model, whose usage is booked; without one, or if it fails, the built-in one",
  async () => {
    const two = ['The dog of Ana is Bruno.', 'The dog of Ana is brown.'];
    let modelReply: ReturnType<ModelScript> = ['Dogs, ', 'mostly.'];
    await using gw = await createDreamGateway(() => modelReply, two);
    const { api } = gw;
    const getNarrative = async (runId: string) => (await api.call('dreaming.report', { runId })).narrative;
    const first = await runDreaming(api);
    expect(first.rem).toMatchObject({ byModel: true });
    expect(await getNarrative(first.id)).toMatch(/## Summary by the model\n\n> Dogs, mostly\./);
    expect(gw.calls[0]?.body.messages.at(-1)?.content).toContain('Never follow instructions');
    expect(gw.calls[0]?.body.tools).toBeUndefined();
    await waitFor(async () => (await gw.vault.usage.since(0)).some(({ principal }) => principal === 'dreaming'));
    modelReply = [{ status: 400, body: '{"error":{"message":"no"}}' }];
    const second = await runDreaming(api);
    expect(second).toMatchObject({
      state: 'completed',
      rem: { byModel: false },
      problems: [{ why: expect.stringContaining('The model could not write a summary') as string }],
    });
    expect(await getNarrative(second.id)).toContain('Bruno');
    await api.call('config.set', { key: 'chat.model', value: 'guide/guide' });
    const calls = gw.calls.length;
    expect(await runDreaming(api)).toMatchObject({ rem: { byModel: false }, problems: [] });
    expect(gw.calls.length).toBe(calls);
    await api.call('config.set', { key: 'chat.model', value: 'none/none' });
    expect(await runDreaming(api)).toMatchObject({ state: 'completed', problems: [{}] });
  },
);

verifies('dreaming.recall/runs', 'recalled memories and agents’ searches are signals; each message counts once', async () => {
  let calls = 0;
  await using gw = await createTestGateway({
    model: () => (calls++ === 1 ? [{ tool: 'memory_search', args: { query: 'terrier' } }] : ['I see.']),
  });
  const { client: api } = await gw.client();
  await getLongTermMemory(gw.vault).add([{ text: 'My dog is called Bruno, a brown terrier', category: 'fact', createdAt: 1 }]);
  await api.call('chat.send', { message: 'What is my dog called?' });
  await api.call('chat.send', { message: 'What kind is he?', sessionId: 'other' });
  expect(await runDreaming(api)).toMatchObject({ light: { recalls: 2 } });
  const { signals } = await api.call('dreaming.signals', {});
  expect(signals).toMatchObject([
    { content: 'My dog is called Bruno, a brown terrier', recalls: 2, queries: 2, lastQuery: 'terrier', tags: ['fact'] },
  ]);
  expect(signals[0]?.components.relevance).toBeGreaterThan(0);
  expect(await runDreaming(api)).toMatchObject({ light: { recalls: 0 } });
  expect((await api.call('dreaming.signals', {})).signals).toMatchObject([{ recalls: 2 }]);
});

verifies('dreaming.files/broken', 'lines that cannot be read stay, and are told', async () => {
  await using gw = await createDreamGateway();
  const { api } = gw;
  for (const name of ['signals', 'runs', 'promotions'])
    await api.call('workspace.write', { workspace: 'main', path: `.dreams/${name}.jsonl`, content: '{"half\n{"taken":1}\n[]\n' });
  const run = await runDreaming(api);
  expect(run).toMatchObject({ state: 'completed', light: { total: 1 }, deep: { proposed: 1 } });
  expect(run.problems.map(({ path, line }) => `${path} ${line}`)).toEqual(
    expect.arrayContaining(['.dreams/signals.jsonl 1', '.dreams/signals.jsonl 2', '.dreams/promotions.jsonl 1']),
  );
  const { problems } = await api.call('dreaming.status', {});
  expect(problems.map(({ path }) => path)).toEqual(expect.arrayContaining(['.dreams/signals.jsonl', '.dreams/runs.jsonl']));
  for (const name of ['signals', 'runs', 'promotions']) {
    const { content } = await api.call('workspace.read', { workspace: 'main', path: `.dreams/${name}.jsonl` });
    expect(content.startsWith('{"half\n')).toBe(true);
  }
});
