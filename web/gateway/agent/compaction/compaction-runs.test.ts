import { IDBFactory } from 'fake-indexeddb';
import { expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import { separateUnknown, withSafeDefaults } from '../../config/unknown-settings.ts';
import { settingsSchema } from '../../config/settings-schema.ts';
import { StorageFullError } from '../../storage/vault-errors.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import {
  type ModelCall,
  type Say,
  type ModelScript,
  createTestGateway,
  type TestGateway,
  waitFor,
} from '../../../../tests/support/test-gateway.ts';
import { getLongTermMemory } from '../../../../tests/support/long-term-memory.ts';

const PATH = 'main/main.jsonl';
const SUMMARY = '## Goals\n\n- Sail to Oslo\n\n## Decisions\n\n- The boat is red';
const FACTS = '- [preference] Ana drinks tea\n- [fact] The boat is red';
/** Some 110 tokens. */
const LONG_TEXT = 'The harbour lies in fog and nobody has seen the ferry. '.repeat(9);

const getRequestText = ({ body }: ModelCall): string => JSON.stringify(body.messages);
const isFacts = (call: ModelCall): boolean => getRequestText(call).includes('remembered permanently?');
const isSummary = (call: ModelCall): boolean => getRequestText(call).includes('Summarise a conversation');
const isTurn = (call: ModelCall): boolean => !isFacts(call) && !isSummary(call);

/** Answers as asked; `summary` may be held up, or fail. */
const createModel =
  (summary: (call: ModelCall) => readonly Say[] = () => [SUMMARY], turn: ModelScript = () => ['Aye.']): ModelScript =>
  (call, count) =>
    isFacts(call) ? [FACTS] : isSummary(call) ? summary(call) : turn(call, count);

interface ChatFixture extends TestGateway {
  owner: GatewayClient;
  sendMessage(message?: string, sessionId?: string): Promise<unknown>;
  turns(): ModelCall[];
  history(): Promise<HistoryMessage[]>;
}

async function createChat(
  options: Parameters<typeof createTestGateway>[0] & { compaction?: object; summary?: object } = {},
): Promise<ChatFixture> {
  const { compaction, summary, ...rest } = options;
  const gw = await createTestGateway({ model: createModel(), ...rest });
  const { client: owner } = await gw.client();
  const memory = {
    recall: { enabled: false },
    compaction: { max_tokens: 2000, min_messages_to_compact: 2, ...compaction },
    summary: { ...summary },
  };
  // Tools and the default instructions would take most of so small a context.
  await owner.call('config.patch', { patch: { memory, agents: { main: { tools: { allow: [] }, systemPrompt: '' } } } });
  return {
    ...gw,
    owner,
    sendMessage: (message = LONG_TEXT, sessionId = 'main') => owner.call('chat.send', { message, sessionId }),
    turns: () => gw.calls.filter(isTurn),
    history: async () => (await owner.call('chat.history', { sessionId: 'main' })).messages,
  };
}

const wasSummarised = async (gw: ChatFixture): Promise<boolean> =>
  gw.calls.length > 0 && (await gw.history()).some(({ compaction }) => compaction !== undefined);
const SUMMARY_MARKER = '<summary>';

verifies(
  'compaction.run/threshold',
  'compacts at the threshold during the reply; later prompts have the summary and newer messages',
  async () => {
    const held = Promise.withResolvers<void>();
    await using gw = await createChat({ model: createModel(() => [{ wait: held.promise }, SUMMARY]) });
    const { events } = await gw.client();
    while (!gw.calls.some(isFacts)) await gw.sendMessage();
    const before = await gw.history();
    // The turn that triggered it did not wait, and had the whole conversation.
    expect(getRequestText(gw.turns().at(-1)!)).not.toContain(SUMMARY_MARKER);
    await gw.sendMessage('And while it is made?');
    expect(getRequestText(gw.turns().at(-1)!)).not.toContain(SUMMARY_MARKER);
    held.resolve();
    await waitFor(() => wasSummarised(gw), 'the summary');
    const compactedEvents = events.filter(({ event }) => event === 'sessions.compacted');
    expect(compactedEvents).toHaveLength(1);
    const history = await gw.history();
    const at = history.findIndex(({ compaction }) => compaction);
    expect(compactedEvents[0]?.payload).toMatchObject({ path: PATH, messageId: history[at]?.id, compaction: history[at]?.compaction });
    expect(history[at]?.compaction).toMatchObject({
      trigger: 'threshold',
      model: 'test/scripted',
      messages: at + 1,
      summary: expect.stringContaining('Sail to Oslo'),
    });
    const { tokensBefore = 0, tokensAfter = 0 } = history[at]?.compaction ?? {};
    expect(tokensAfter).toBeLessThan(tokensBefore);
    // All messages are unchanged.
    expect(history.slice(0, before.length).map(({ id, content }) => ({ id, content }))).toEqual(
      before.map(({ id, content }) => ({ id, content })),
    );
    expect((await gw.owner.call('sessions.search', { query: 'harbour' })).results).toHaveLength(1);
    await gw.sendMessage('And now?');
    const prompt = gw.turns().at(-1)!.body.messages;
    expect(prompt.map(({ role }) => role).slice(0, 2)).toEqual(['user', 'assistant']);
    expect(JSON.stringify(prompt[0])).toContain('Sail to Oslo');
    expect(prompt.length).toBeLessThan(history.length);
    expect(prompt.at(-1)?.content).toBe('And now?');
    // Its usage is recorded, and facts are remembered.
    const used = (await gw.vault.usage.since(0)).filter(({ sessionKey }) => sessionKey === 'main/main');
    expect(used.length).toBeGreaterThan((await gw.history()).filter((each) => 'model' in each).length);
    expect((await getLongTermMemory(gw.vault).memories()).map(({ text }) => text).sort()).toEqual(['Ana drinks tea', 'The boat is red']);
    expect(gw.faults).toEqual([]);
  },
);

verifies(
  'compaction.run/overflow',
  'the turn waits where the context is full, or where it is told to; a second summary has the first one',
  async () => {
    await using gw = await createChat({ compaction: { max_tokens: 1000 }, summary: { async_mode: false } });
    while (!(await wasSummarised(gw))) await gw.sendMessage();
    expect(getRequestText(gw.turns().at(-1)!)).toContain(SUMMARY_MARKER);
    const first = gw.calls.filter(isSummary).length;
    while (gw.calls.filter(isSummary).length === first) await gw.sendMessage();
    expect(getRequestText(gw.calls.findLast(isSummary)!)).toContain('the summary of what came before');
    // In one stroke over the edge.
    await gw.sendMessage('x y '.repeat(900));
    expect((await gw.history()).findLast(({ compaction }) => compaction)?.compaction).toMatchObject({ trigger: 'overflow' });
  },
);

verifies('compaction.run/failure', 'nothing is dropped where it fails or is empty, and the next try waits', async () => {
  const clock = new FakeClock();
  let answer: readonly Say[] = [''];
  await using gw = await createChat({ clock, model: createModel(() => answer), summary: { async_mode: false } });
  const tries = (): number => gw.calls.filter(isSummary).length;
  while (tries() === 0) await gw.sendMessage();
  const after = tries();
  const length = (await gw.history()).length;
  expect(await wasSummarised(gw)).toBe(false);
  expect(gw.turns().at(-1)!.body.messages).toHaveLength(length - 1);
  await gw.sendMessage('Go on');
  expect(tries()).toBe(after);
  expect(gw.turns().at(-1)!.body.messages).toHaveLength(length + 1);
  clock.advance(61_000);
  answer = [{ status: 400, body: '{}' }];
  await gw.sendMessage('Go on');
  expect(tries()).toBe(after + 1);
  clock.advance(61_000);
  await gw.sendMessage('Go on');
  expect(tries()).toBe(after + 1);
  clock.advance(61_000);
  answer = [SUMMARY];
  await gw.sendMessage('Go on');
  expect(await wasSummarised(gw)).toBe(true);
  clock.advance(100);
  await waitFor(
    async () =>
      (await gw.owner.call('logs.tail', {})).lines.filter((line) => JSON.stringify(line).includes('all messages are kept')).length === 2,
  );
});

verifies('compaction.run/abort', 'a stop while it is waited for drops nothing, and is no failure', async () => {
  const summaryRequested = Promise.withResolvers<void>();
  let held = true;
  await using gw = await createChat({
    model: createModel(() => {
      summaryRequested.resolve();
      return held ? [{ wait: new Promise(() => {}) }] : [SUMMARY];
    }),
    summary: { async_mode: false },
  });
  const ended = (async () => {
    for (;;) await gw.sendMessage();
  })();
  ended.catch(() => {});
  await summaryRequested.promise;
  await gw.owner.call('chat.abort', { sessionId: 'main' });
  await expect(ended).rejects.toMatchObject({ code: 'ABORTED' });
  expect(await wasSummarised(gw)).toBe(false);
  held = false;
  await gw.sendMessage('Go on');
  expect(await wasSummarised(gw)).toBe(true);
});

verifies('compaction.run/branches', 'a branch from before the summary has none; one from behind it has', async () => {
  await using gw = await createChat({ summary: { async_mode: false } });
  while (!(await wasSummarised(gw))) await gw.sendMessage();
  const history = await gw.history();
  const at = history.findIndex(({ compaction }) => compaction);
  await gw.owner.call('sessions.fork', { path: PATH, sessionId: 'before', messageId: history[at - 1]!.id });
  await gw.owner.call('sessions.fork', { path: PATH, sessionId: 'behind' });
  await gw.sendMessage('Hm', 'before');
  expect(getRequestText(gw.turns().at(-1)!)).not.toContain(SUMMARY_MARKER);
  await gw.sendMessage('Hm', 'behind');
  expect(getRequestText(gw.turns().at(-1)!)).toContain(SUMMARY_MARKER);
  // Exports include it too.
  const { content } = await gw.owner.call('sessions.export', { path: PATH });
  await gw.owner.call('sessions.import', { content, sessionId: 'again' });
  await gw.sendMessage('Hm', 'again');
  expect(getRequestText(gw.turns().at(-1)!)).toContain(SUMMARY_MARKER);
  const { session } = (await gw.owner.call('sessions.list', { paths: [PATH] })).sessions.map((session) => ({ session }))[0]!;
  expect(session.size).toBe(new TextEncoder().encode(content).length);
});

verifies('sessions.compact/manual', 'by hand, whatever the length; and why not', async () => {
  let answer: readonly Say[] = [SUMMARY];
  await using gw = await createChat({ model: createModel(() => answer), compaction: { enabled: false, max_tokens: 100_000 } });
  const compact = () => gw.owner.call('sessions.compact', {});
  await expect(compact()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await gw.sendMessage('Hi');
  expect(await compact()).toEqual({ compacted: false, messageId: null, compaction: null });
  for (let turn = 0; turn < 4; turn++) await gw.sendMessage();
  answer = ['nonsense'];
  await expect(compact()).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('All messages are kept') });
  expect(await wasSummarised(gw)).toBe(false);
  answer = [SUMMARY];
  const [done, same] = await Promise.all([compact(), compact()]);
  expect(done).toMatchObject({ compacted: true, compaction: { trigger: 'manual', model: 'test/scripted' } });
  expect(same).toEqual(done);
  expect((await gw.history()).find(({ compaction }) => compaction)?.id).toBe(done.messageId);
  await gw.sendMessage('And now?');
  expect(getRequestText(gw.turns().at(-1)!)).toContain(SUMMARY_MARKER);
  await expect(gw.owner.call('sessions.compact', { agentId: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await gw.owner.call('config.patch', { patch: { chat: { model: 'guide/guide' } } });
  for (const message of [LONG_TEXT, LONG_TEXT, 'Hi']) await gw.sendMessage(message, 'guided');
  await expect(gw.owner.call('sessions.compact', { sessionId: 'guided' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: expect.stringContaining('guide'),
  });
});

verifies(
  'compaction.run/memory',
  'an agent without memory remembers nothing; one whose memory fails is summarised all the same',
  async () => {
    await using gw = await createChat({ summary: { async_mode: false } });
    await gw.owner.call('config.patch', { patch: { agents: { main: { memory: false } } } });
    while (!(await wasSummarised(gw))) await gw.sendMessage();
    expect(gw.calls.filter(isFacts)).toEqual([]);
    expect(await getLongTermMemory(gw.vault).memories()).toEqual([]);
  },
);

verifies('compaction/settings', 'have the samples of the document as defaults, and what does not fit is left out', () => {
  const read = (memory: unknown) => {
    const { document, misfits } = separateUnknown({ memory });
    return { misfits: misfits.map(({ path }) => path.join('.')), memory: withSafeDefaults(settingsSchema.parse(document), misfits).memory };
  };
  expect(read({}).memory).toMatchObject({
    compaction: { enabled: true, max_tokens: 128_000, reserve_ratio: 0.3, min_messages_to_compact: 10, compaction_threshold: 0.85 },
    summary: { enabled: true, max_summary_tokens: 2000, async_mode: true },
  });
  const broken = read({ compaction: { max_tokens: 'many', reserve_ratio: 0.5 }, summary: { model: 'nameless' } });
  expect(broken.misfits.sort()).toEqual(['memory.compaction.max_tokens', 'memory.summary.model']);
  expect(broken.memory.compaction).toMatchObject({ max_tokens: 128_000, reserve_ratio: 0.5, enabled: true });
  expect(read({ compaction: { enabled: 'no' } }).memory).toMatchObject({ compaction: { enabled: false }, recall: { enabled: true } });
  expect(read({ summary: 3 }).memory.summary.enabled).toBe(false);
});

verifies('compaction.run/crash', 'whatever it was at; the next host begins again', async () => {
  for (const died of [isFacts, isSummary]) {
    const reached = Promise.withResolvers<void>();
    const indexedDB = new IDBFactory();
    const name = `crash-${died.name}`;
    const first = await createChat({
      ...{ indexedDB, name },
      model: (call) => {
        if (!died(call)) return createModel()(call, 0);
        reached.resolve();
        return [{ wait: new Promise(() => {}) }];
      },
    });
    // Further messages may fill the context and would wait for the summary.
    while (!first.calls.some(isFacts)) await first.sendMessage();
    await reached.promise;
    const before = await first.history();
    await first[Symbol.asyncDispose]();
    await using second = await createChat({ indexedDB, name, summary: { async_mode: false } });
    expect(await second.history()).toEqual(before);
    await second.sendMessage('Go on');
    const after = await second.history();
    expect(after.filter(({ compaction }) => compaction)).toHaveLength(1);
    expect(after.slice(0, before.length).map(({ compaction: _, ...message }) => message)).toEqual(before);
  }
});

verifies('compaction.run/crash', 'a summary that cannot be stored changes nothing', async () => {
  await using gw = await createChat({ summary: { async_mode: false } });
  let full = true;
  const { compact } = gw.vault.messages;
  gw.vault.messages.compact = (id, made) => (full ? Promise.reject(new StorageFullError('No room')) : compact(id, made));
  while (!gw.calls.some(isSummary)) await gw.sendMessage();
  expect(await wasSummarised(gw)).toBe(false);
  await expect(gw.owner.call('sessions.compact', {})).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  full = false;
  expect(await gw.owner.call('sessions.compact', {})).toMatchObject({ compacted: true });
  // If its session is deleted by then, it leaves nothing.
  expect(await compact('nothing', (await gw.history()).find(({ compaction }) => compaction)!.compaction!)).toBe(false);
});

verifies('compaction.run/threshold', 'what no page of a branch reaches is summarised too, before it would be left out', async () => {
  await using gw = await createChat({ compaction: { max_tokens: 100_000 }, summary: { async_mode: false } });
  const lines = Array.from({ length: 450 }, (_, at) =>
    JSON.stringify({
      id: `m${at}`,
      role: at % 2 ? 'assistant' : 'user',
      content: `word ${at}`,
      timestamp: at,
      parentId: at === 0 ? null : `m${at - 1}`,
    }),
  );
  await gw.owner.call('sessions.import', { content: lines.join('\n'), sessionId: 'long' });
  await gw.sendMessage('And now?', 'long');
  expect(gw.calls.filter(isSummary).some((call) => getRequestText(call).includes('word 0\\n'))).toBe(true);
  expect(getRequestText(gw.turns().at(-1)!)).toContain(SUMMARY_MARKER);
  const { messages } = await gw.owner.call('chat.history', { sessionId: 'long', limit: 1000 });
  expect(messages.find(({ compaction }) => compaction)?.compaction?.messages).toBeGreaterThan(250);
});

const TOO_LONG_ERROR: Say = {
  status: 400,
  body: '{"error":{"message":"This model\'s maximum context length is 1000 tokens.","code":"context_length_exceeded"}}',
};
/** A turn of a server that accepts prompts of up to `most` characters. */
const createLimitedModel =
  (maxChars: number, turn: ModelScript = () => ['Aye.']): ModelScript =>
  (call, count) =>
    getRequestText(call).length > maxChars ? [TOO_LONG_ERROR] : turn(call, count);
const WIDE_CONFIG = { compaction: { max_tokens: 100_000 } };

verifies('compaction.run/too-long', 'summarised once and asked again, with all of it kept and shown', async () => {
  await using gw = await createChat({ ...WIDE_CONFIG, model: createModel(undefined, createLimitedModel(4000)) });
  const { events } = await gw.client();
  while (!(await wasSummarised(gw))) await gw.sendMessage();
  const history = await gw.history();
  const at = history.findIndex(({ compaction }) => compaction);
  expect(history[at]?.compaction).toMatchObject({ trigger: 'overflow', messages: at + 1 });
  expect(events.filter(({ event }) => event === 'sessions.compacted')).toHaveLength(1);
  expect(events.filter(({ event }) => event === 'chat.error')).toEqual([]);
  const [refused, accepted] = gw.turns().slice(-2);
  expect(getRequestText(refused!)).not.toContain(SUMMARY_MARKER);
  expect(getRequestText(accepted!)).toContain('Sail to Oslo');
  expect(refused!.body.messages.at(-1)).toEqual(accepted!.body.messages.at(-1));
  expect(history.at(-1)?.content).toBe('Aye.');
  expect(history.filter(({ role }) => role === 'user').every(({ content }) => content === LONG_TEXT)).toBe(true);
  // From now on a message that fits takes a single call.
  const before = gw.turns().length;
  await gw.sendMessage('Go on');
  expect(gw.turns()).toHaveLength(before + 1);
  expect(gw.faults).toEqual([]);
});

verifies('compaction.run/too-long', 'compacting during a reply keeps tool results', async () => {
  const long = createLimitedModel(6000, (call) => (getRequestText(call).includes('Look') && !getRequestText(call).includes('"tool_call_id"') ? [{ tool: 'docs_search', args: { query: 'kayak' } }] : ['Aye.'])); // prettier-ignore
  let refuse = false;
  const turn: ModelScript = (call, count) => {
    if (refuse && getRequestText(call).includes('"tool_call_id"') && !getRequestText(call).includes(SUMMARY_MARKER))
      return [TOO_LONG_ERROR];
    return long(call, count);
  };
  await using gw = await createChat({ ...WIDE_CONFIG, model: createModel(undefined, turn) });
  await gw.owner.call('config.patch', { patch: { agents: { main: { tools: { allow: ['docs_search'] } } } } });
  for (let turns = 0; turns < 3; turns++) await gw.sendMessage();
  refuse = true;
  await gw.sendMessage('Look it up');
  const { messages } = gw.turns().at(-1)!.body;
  expect(JSON.stringify(messages)).toContain(SUMMARY_MARKER);
  expect(messages.slice(-2).map(({ role }) => role)).toEqual(['assistant', 'tool']);
  expect((await gw.history()).slice(-4).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
});

verifies(
  'compaction.run/too-long',
  'a prompt that is still too long, or cannot be summarised, fails with a reason, and drops nothing',
  async () => {
    let summary: readonly Say[] = [SUMMARY];
    let serverLimit = Infinity;
    await using gw = await createChat({ ...WIDE_CONFIG, model: createModel(() => summary, (call, count) => createLimitedModel(serverLimit)(call, count)) }); // prettier-ignore
    serverLimit = 10;
    const tried = gw.sendMessage('Hello');
    await expect(tried).rejects.toMatchObject({ message: expect.stringMatching(/too long.*maximum context length is 1000 tokens.*no earlier messages.*All messages are kept/) as string }); // prettier-ignore
    serverLimit = Infinity;
    for (let turns = 0; turns < 3; turns++) await gw.sendMessage();
    serverLimit = 10;
    summary = ['nonsense'];
    await expect(gw.sendMessage()).rejects.toMatchObject({
      message: expect.stringMatching(/could not be summarised.*All messages are kept/) as string,
    });
    expect(await wasSummarised(gw)).toBe(false);
    summary = [SUMMARY];
    const before = gw.turns().length;
    await expect(gw.sendMessage()).rejects.toMatchObject({ message: expect.stringContaining('still too long after summarising') });
    expect(gw.turns()).toHaveLength(before + 2);
    expect(await wasSummarised(gw)).toBe(true);
    await gw.owner.call('config.patch', { patch: { memory: { compaction: { enabled: false } } } });
    await expect(gw.sendMessage()).rejects.toMatchObject({ message: expect.stringContaining('turned off in the settings') });
    serverLimit = Infinity;
    await gw.sendMessage('Go on');
    expect((await gw.history()).at(-1)?.content).toBe('Aye.');
    expect(gw.faults).toEqual([]);
  },
);
