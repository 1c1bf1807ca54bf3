import { IDBFactory } from 'fake-indexeddb';
import { expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { HistoryMessage } from '#shared/rpc/records.ts';
import { fit, guarded } from '../../web/gateway/core/misfits.ts';
import { settings } from '../../web/gateway/core/settings.ts';
import { StorageFull } from '../../web/gateway/core/vault.ts';
import { verifies } from '../requirements.ts';
import { FakeClock } from '../support/clock.ts';
import { type ModelCall, type Say, type Script, testGateway, type TestGateway, until } from '../support/gateway.ts';
import { remembered } from '../support/remembered.ts';

const PATH = 'main/main.jsonl';
const SUMMARY = '## Goals\n\n- Sail to Oslo\n\n## Decisions\n\n- The boat is red';
const FACTS = '- [preference] Ana drinks tea\n- [fact] The boat is red';
/** Some 110 tokens. */
const LONG = 'The harbour lies in fog and nobody has seen the ferry. '.repeat(9);

const textOf = ({ body }: ModelCall): string => JSON.stringify(body.messages);
const isFacts = (call: ModelCall): boolean => textOf(call).includes('remembered permanently?');
const isSummary = (call: ModelCall): boolean => textOf(call).includes('Summarise a conversation');
const isTurn = (call: ModelCall): boolean => !isFacts(call) && !isSummary(call);

/** Answers as asked; `summary` may be held up, or fail. */
const model =
  (summary: (call: ModelCall) => readonly Say[] = () => [SUMMARY], turn: Script = () => ['Aye.']): Script =>
  (call, count) =>
    isFacts(call) ? [FACTS] : isSummary(call) ? summary(call) : turn(call, count);

interface Talk extends TestGateway {
  owner: GatewayClient;
  say(message?: string, sessionId?: string): Promise<unknown>;
  turns(): ModelCall[];
  history(): Promise<HistoryMessage[]>;
}

async function talk(options: Parameters<typeof testGateway>[0] & { compaction?: object; summary?: object } = {}): Promise<Talk> {
  const { compaction, summary, ...rest } = options;
  const gw = await testGateway({ model: model(), ...rest });
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
    say: (message = LONG, sessionId = 'main') => owner.call('chat.send', { message, sessionId }),
    turns: () => gw.calls.filter(isTurn),
    history: async () => (await owner.call('chat.history', { sessionId: 'main' })).messages,
  };
}

const summarised = async (gw: Talk): Promise<boolean> =>
  gw.calls.length > 0 && (await gw.history()).some(({ compaction }) => compaction !== undefined);
const MARK = '<summary>';

verifies(
  'compaction.run/threshold',
  'compacts at the threshold during the reply; later prompts have the summary and newer messages',
  async () => {
    const held = Promise.withResolvers<void>();
    await using gw = await talk({ model: model(() => [{ wait: held.promise }, SUMMARY]) });
    const { events } = await gw.client();
    while (!gw.calls.some(isFacts)) await gw.say();
    const before = await gw.history();
    // The turn that triggered it did not wait, and had the whole conversation.
    expect(textOf(gw.turns().at(-1)!)).not.toContain(MARK);
    await gw.say('And while it is made?');
    expect(textOf(gw.turns().at(-1)!)).not.toContain(MARK);
    held.resolve();
    await until(() => summarised(gw), 'the summary');
    const told = events.filter(({ event }) => event === 'sessions.compacted');
    expect(told).toHaveLength(1);
    const history = await gw.history();
    const at = history.findIndex(({ compaction }) => compaction);
    expect(told[0]?.payload).toMatchObject({ path: PATH, messageId: history[at]?.id, compaction: history[at]?.compaction });
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
    await gw.say('And now?');
    const prompt = gw.turns().at(-1)!.body.messages;
    expect(prompt.map(({ role }) => role).slice(0, 2)).toEqual(['user', 'assistant']);
    expect(JSON.stringify(prompt[0])).toContain('Sail to Oslo');
    expect(prompt.length).toBeLessThan(history.length);
    expect(prompt.at(-1)?.content).toBe('And now?');
    // Its usage is recorded, and facts are remembered.
    const used = (await gw.vault.usage.since(0)).filter(({ sessionKey }) => sessionKey === 'main/main');
    expect(used.length).toBeGreaterThan((await gw.history()).filter((each) => 'model' in each).length);
    expect((await remembered(gw.vault).memories()).map(({ text }) => text).sort()).toEqual(['Ana drinks tea', 'The boat is red']);
    expect(gw.faults).toEqual([]);
  },
);

verifies(
  'compaction.run/overflow',
  'the turn waits where the context is full, or where it is told to; a second summary has the first one',
  async () => {
    await using gw = await talk({ compaction: { max_tokens: 1000 }, summary: { async_mode: false } });
    while (!(await summarised(gw))) await gw.say();
    expect(textOf(gw.turns().at(-1)!)).toContain(MARK);
    const first = gw.calls.filter(isSummary).length;
    while (gw.calls.filter(isSummary).length === first) await gw.say();
    expect(textOf(gw.calls.findLast(isSummary)!)).toContain('the summary of what came before');
    // In one stroke over the edge.
    await gw.say('x y '.repeat(900));
    expect((await gw.history()).findLast(({ compaction }) => compaction)?.compaction).toMatchObject({ trigger: 'overflow' });
  },
);

verifies('compaction.run/failure', 'nothing is dropped where it fails or is empty, and the next try waits', async () => {
  const clock = new FakeClock();
  let answer: readonly Say[] = [''];
  await using gw = await talk({ clock, model: model(() => answer), summary: { async_mode: false } });
  const tries = (): number => gw.calls.filter(isSummary).length;
  while (tries() === 0) await gw.say();
  const after = tries();
  const length = (await gw.history()).length;
  expect(await summarised(gw)).toBe(false);
  expect(gw.turns().at(-1)!.body.messages).toHaveLength(length - 1);
  await gw.say('Go on');
  expect(tries()).toBe(after);
  expect(gw.turns().at(-1)!.body.messages).toHaveLength(length + 1);
  clock.advance(61_000);
  answer = [{ status: 400, body: '{}' }];
  await gw.say('Go on');
  expect(tries()).toBe(after + 1);
  clock.advance(61_000);
  await gw.say('Go on');
  expect(tries()).toBe(after + 1);
  clock.advance(61_000);
  answer = [SUMMARY];
  await gw.say('Go on');
  expect(await summarised(gw)).toBe(true);
  clock.advance(100);
  await until(
    async () =>
      (await gw.owner.call('logs.tail', {})).lines.filter((line) => JSON.stringify(line).includes('all messages are kept')).length === 2,
  );
});

verifies('compaction.run/abort', 'a stop while it is waited for drops nothing, and is no failure', async () => {
  const asked = Promise.withResolvers<void>();
  let held = true;
  await using gw = await talk({
    model: model(() => {
      asked.resolve();
      return held ? [{ wait: new Promise(() => {}) }] : [SUMMARY];
    }),
    summary: { async_mode: false },
  });
  const ended = (async () => {
    for (;;) await gw.say();
  })();
  ended.catch(() => {});
  await asked.promise;
  await gw.owner.call('chat.abort', { sessionId: 'main' });
  await expect(ended).rejects.toMatchObject({ code: 'ABORTED' });
  expect(await summarised(gw)).toBe(false);
  held = false;
  await gw.say('Go on');
  expect(await summarised(gw)).toBe(true);
});

verifies('compaction.run/branches', 'a branch from before the summary has none; one from behind it has', async () => {
  await using gw = await talk({ summary: { async_mode: false } });
  while (!(await summarised(gw))) await gw.say();
  const history = await gw.history();
  const at = history.findIndex(({ compaction }) => compaction);
  await gw.owner.call('sessions.fork', { path: PATH, sessionId: 'before', messageId: history[at - 1]!.id });
  await gw.owner.call('sessions.fork', { path: PATH, sessionId: 'behind' });
  await gw.say('Hm', 'before');
  expect(textOf(gw.turns().at(-1)!)).not.toContain(MARK);
  await gw.say('Hm', 'behind');
  expect(textOf(gw.turns().at(-1)!)).toContain(MARK);
  // Exports include it too.
  const { content } = await gw.owner.call('sessions.export', { path: PATH });
  await gw.owner.call('sessions.import', { content, sessionId: 'again' });
  await gw.say('Hm', 'again');
  expect(textOf(gw.turns().at(-1)!)).toContain(MARK);
  const { session } = (await gw.owner.call('sessions.list', { paths: [PATH] })).sessions.map((session) => ({ session }))[0]!;
  expect(session.size).toBe(new TextEncoder().encode(content).length);
});

verifies('sessions.compact/manual', 'by hand, whatever the length; and why not', async () => {
  let answer: readonly Say[] = [SUMMARY];
  await using gw = await talk({ model: model(() => answer), compaction: { enabled: false, max_tokens: 100_000 } });
  const compact = () => gw.owner.call('sessions.compact', {});
  await expect(compact()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await gw.say('Hi');
  expect(await compact()).toEqual({ compacted: false, messageId: null, compaction: null });
  for (let turn = 0; turn < 4; turn++) await gw.say();
  answer = ['nonsense'];
  await expect(compact()).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('All messages are kept') });
  expect(await summarised(gw)).toBe(false);
  answer = [SUMMARY];
  const [done, same] = await Promise.all([compact(), compact()]);
  expect(done).toMatchObject({ compacted: true, compaction: { trigger: 'manual', model: 'test/scripted' } });
  expect(same).toEqual(done);
  expect((await gw.history()).find(({ compaction }) => compaction)?.id).toBe(done.messageId);
  await gw.say('And now?');
  expect(textOf(gw.turns().at(-1)!)).toContain(MARK);
  await expect(gw.owner.call('sessions.compact', { agentId: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await gw.owner.call('config.patch', { patch: { chat: { model: 'guide/guide' } } });
  for (const message of [LONG, LONG, 'Hi']) await gw.say(message, 'guided');
  await expect(gw.owner.call('sessions.compact', { sessionId: 'guided' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: expect.stringContaining('guide'),
  });
});

verifies(
  'compaction.run/memory',
  'an agent without memory remembers nothing; one whose memory fails is summarised all the same',
  async () => {
    await using gw = await talk({ summary: { async_mode: false } });
    await gw.owner.call('config.patch', { patch: { agents: { main: { memory: false } } } });
    while (!(await summarised(gw))) await gw.say();
    expect(gw.calls.filter(isFacts)).toEqual([]);
    expect(await remembered(gw.vault).memories()).toEqual([]);
  },
);

verifies('compaction/settings', 'have the samples of the document as defaults, and what does not fit is left out', () => {
  const read = (memory: unknown) => {
    const { document, misfits } = fit({ memory });
    return { misfits: misfits.map(({ path }) => path.join('.')), memory: guarded(settings.parse(document), misfits).memory };
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
    const first = await talk({
      ...{ indexedDB, name },
      model: (call) => {
        if (!died(call)) return model()(call, 0);
        reached.resolve();
        return [{ wait: new Promise(() => {}) }];
      },
    });
    // Further messages may fill the context and would wait for the summary.
    while (!first.calls.some(isFacts)) await first.say();
    await reached.promise;
    const before = await first.history();
    await first[Symbol.asyncDispose]();
    await using second = await talk({ indexedDB, name, summary: { async_mode: false } });
    expect(await second.history()).toEqual(before);
    await second.say('Go on');
    const after = await second.history();
    expect(after.filter(({ compaction }) => compaction)).toHaveLength(1);
    expect(after.slice(0, before.length).map(({ compaction: _, ...message }) => message)).toEqual(before);
  }
});

verifies('compaction.run/crash', 'a summary that cannot be stored changes nothing', async () => {
  await using gw = await talk({ summary: { async_mode: false } });
  let full = true;
  const { compact } = gw.vault.messages;
  gw.vault.messages.compact = (id, made) => (full ? Promise.reject(new StorageFull('No room')) : compact(id, made));
  while (!gw.calls.some(isSummary)) await gw.say();
  expect(await summarised(gw)).toBe(false);
  await expect(gw.owner.call('sessions.compact', {})).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  full = false;
  expect(await gw.owner.call('sessions.compact', {})).toMatchObject({ compacted: true });
  // If its session is deleted by then, it leaves nothing.
  expect(await compact('nothing', (await gw.history()).find(({ compaction }) => compaction)!.compaction!)).toBe(false);
});

verifies('compaction.run/threshold', 'what no page of a branch reaches is summarised too, before it would be left out', async () => {
  await using gw = await talk({ compaction: { max_tokens: 100_000 }, summary: { async_mode: false } });
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
  await gw.say('And now?', 'long');
  expect(gw.calls.filter(isSummary).some((call) => textOf(call).includes('word 0\\n'))).toBe(true);
  expect(textOf(gw.turns().at(-1)!)).toContain(MARK);
  const { messages } = await gw.owner.call('chat.history', { sessionId: 'long', limit: 1000 });
  expect(messages.find(({ compaction }) => compaction)?.compaction?.messages).toBeGreaterThan(250);
});

const TOO_LONG: Say = {
  status: 400,
  body: '{"error":{"message":"This model\'s maximum context length is 1000 tokens.","code":"context_length_exceeded"}}',
};
/** A turn of a server that accepts prompts of up to `most` characters. */
const taking =
  (most: number, turn: Script = () => ['Aye.']): Script =>
  (call, count) =>
    textOf(call).length > most ? [TOO_LONG] : turn(call, count);
const WIDE = { compaction: { max_tokens: 100_000 } };

verifies('compaction.run/too-long', 'summarised once and asked again, with all of it kept and shown', async () => {
  await using gw = await talk({ ...WIDE, model: model(undefined, taking(4000)) });
  const { events } = await gw.client();
  while (!(await summarised(gw))) await gw.say();
  const history = await gw.history();
  const at = history.findIndex(({ compaction }) => compaction);
  expect(history[at]?.compaction).toMatchObject({ trigger: 'overflow', messages: at + 1 });
  expect(events.filter(({ event }) => event === 'sessions.compacted')).toHaveLength(1);
  expect(events.filter(({ event }) => event === 'chat.error')).toEqual([]);
  const [refused, taken] = gw.turns().slice(-2);
  expect(textOf(refused!)).not.toContain(MARK);
  expect(textOf(taken!)).toContain('Sail to Oslo');
  expect(refused!.body.messages.at(-1)).toEqual(taken!.body.messages.at(-1));
  expect(history.at(-1)?.content).toBe('Aye.');
  expect(history.filter(({ role }) => role === 'user').every(({ content }) => content === LONG)).toBe(true);
  // From now on a message that fits takes a single call.
  const before = gw.turns().length;
  await gw.say('Go on');
  expect(gw.turns()).toHaveLength(before + 1);
  expect(gw.faults).toEqual([]);
});

verifies('compaction.run/too-long', 'compacting during a reply keeps tool results', async () => {
  const long = taking(6000, (call) => (textOf(call).includes('Look') && !textOf(call).includes('"tool_call_id"') ? [{ tool: 'docs_search', args: { query: 'kayak' } }] : ['Aye.'])); // prettier-ignore
  let refuse = false;
  const turn: Script = (call, count) => {
    if (refuse && textOf(call).includes('"tool_call_id"') && !textOf(call).includes(MARK)) return [TOO_LONG];
    return long(call, count);
  };
  await using gw = await talk({ ...WIDE, model: model(undefined, turn) });
  await gw.owner.call('config.patch', { patch: { agents: { main: { tools: { allow: ['docs_search'] } } } } });
  for (let turns = 0; turns < 3; turns++) await gw.say();
  refuse = true;
  await gw.say('Look it up');
  const { messages } = gw.turns().at(-1)!.body;
  expect(JSON.stringify(messages)).toContain(MARK);
  expect(messages.slice(-2).map(({ role }) => role)).toEqual(['assistant', 'tool']);
  expect((await gw.history()).slice(-4).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
});

verifies(
  'compaction.run/too-long',
  'a prompt that is still too long, or cannot be summarised, fails with a reason, and drops nothing',
  async () => {
    let summary: readonly Say[] = [SUMMARY];
    let most = Infinity;
    await using gw = await talk({ ...WIDE, model: model(() => summary, (call, count) => taking(most)(call, count)) }); // prettier-ignore
    most = 10;
    const tried = gw.say('Hello');
    await expect(tried).rejects.toMatchObject({ message: expect.stringMatching(/too long.*maximum context length is 1000 tokens.*no earlier messages.*All messages are kept/) as string }); // prettier-ignore
    most = Infinity;
    for (let turns = 0; turns < 3; turns++) await gw.say();
    most = 10;
    summary = ['nonsense'];
    await expect(gw.say()).rejects.toMatchObject({
      message: expect.stringMatching(/could not be summarised.*All messages are kept/) as string,
    });
    expect(await summarised(gw)).toBe(false);
    summary = [SUMMARY];
    const before = gw.turns().length;
    await expect(gw.say()).rejects.toMatchObject({ message: expect.stringContaining('still too long after summarising') });
    expect(gw.turns()).toHaveLength(before + 2);
    expect(await summarised(gw)).toBe(true);
    await gw.owner.call('config.patch', { patch: { memory: { compaction: { enabled: false } } } });
    await expect(gw.say()).rejects.toMatchObject({ message: expect.stringContaining('turned off in the settings') });
    most = Infinity;
    await gw.say('Go on');
    expect((await gw.history()).at(-1)?.content).toBe('Aye.');
    expect(gw.faults).toEqual([]);
  },
);
