import { expect } from 'vitest';
import { createFailingWorkspace } from '../../../../../tests/support/failing-workspace.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { noPace } from '../../../knowledge/dreaming/pace.ts';
import { DAY_MS } from '../../../knowledge/dreaming/signal.ts';
import { SIGNALS_FILE, SignalsStore } from '../../../knowledge/dreaming/signals-store.ts';
import { memoryWorkspace, type Workspace } from '../../../knowledge/memory/workspace.ts';
import { settingsSchema } from '../../../config/settings-schema.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { MessageRecord } from '../../../storage/chat-records.ts';
import { collectRecalls } from './recall-signals.ts';
import { createSessionFilter } from './session-filter.ts';

const NOW = Date.UTC(2026, 10, 22, 3);
const NOTE = 'memory/2026-11-20.md';
const CAT = 'Miso is the cat of Ana, who was found behind the house in the winter.';

/** A vault's messages, by time. */
function messagesOf(all: MessageRecord[]): Pick<Vault['messages'], 'listFrom' | 'get'> {
  const inOrder = (): MessageRecord[] => all.toSorted((a, b) => a.timestamp - b.timestamp);
  return {
    get: (id) => Promise.resolve(all.find((message) => message.id === id)),
    listFrom: (at, limit) =>
      Promise.resolve(
        inOrder()
          .filter(({ timestamp }) => timestamp >= at)
          .slice(0, limit),
      ),
  };
}

let count = 0;
/** A user's question, and the reply with its recalled memories. */
function turn(at: number, { text = CAT, sessionKey = 'main/main', query = `Question ${count}` } = {}): MessageRecord[] {
  const id = `m${++count}`;
  const why = { words: [], beside: [], timely: false };
  return [
    { id: `${id}-q`, sessionKey, parentId: null, depth: 0, role: 'user', content: query, timestamp: at },
    {
      ...{ id, sessionKey, parentId: `${id}-q`, depth: 1, role: 'assistant', content: 'Well.', timestamp: at },
      recalled: [{ id: 'x', text, source: `${NOTE}#L1`, at: null, why, relevance: 0.8 }],
    },
  ];
}

const agents = {
  list: () =>
    ['main', 'other'].map((id) => ({
      id,
      name: id,
      model: undefined,
      fallbacks: [],
      systemPrompt: undefined,
      parameters: {},
      config: id === 'other' ? { memory: false } : {},
    })),
};
const belongs = createSessionFilter('main', agents, settingsSchema.parse({}));
const take = (messages: MessageRecord[], workspace: Workspace, now = NOW): Promise<number> =>
  collectRecalls({
    messages: messagesOf(messages),
    workspace,
    signals: new SignalsStore(workspace, { now: () => now }),
    includesSession: belongs,
    maxAgeDays: 30,
    now: () => now,
    pace: noPace,
  });
const signalsIn = (workspace: Workspace) => new SignalsStore(workspace).getAllSignals();

async function noted(): Promise<Workspace> {
  const workspace = memoryWorkspace(() => NOW);
  await workspace.write(NOTE, `# Friday\n\n- ${CAT}\n- The rent is due.\n`);
  return workspace;
}

verifies('dreaming.recall/once', 'a message counts once, whenever it is looked at again, and by whomever', async () => {
  const workspace = await noted();
  const first = [...turn(NOW - 2 * DAY_MS), ...turn(NOW - DAY_MS, { text: '…cat of Ana, who was found behind the…' })];
  expect(await take(first, workspace)).toBe(2);
  expect(await take(first, workspace)).toBe(0);
  // Written earlier by another host and replicated now; messages that are too late are left out.
  const late = [...first, ...turn(NOW - 5 * DAY_MS), ...turn(NOW - 9 * DAY_MS), ...turn(NOW + 1000)];
  expect(await take(late, workspace, NOW + DAY_MS)).toBe(2);
  expect(await take(late, workspace, NOW + 40 * DAY_MS)).toBe(0);
  const [signal, ...more] = await signalsIn(workspace);
  expect(more).toEqual([]);
  // The complete passage of the source, though only a part was shown.
  expect(signal).toMatchObject({ content: CAT, sourceRef: `${NOTE}#L3`, recallCount: 4 });
  expect(signal?.recalls.every(({ score }) => score === 0.8)).toBe(true);
});

verifies('dreaming.recall/once', 'more messages of one instant than are read at once', async () => {
  const workspace = await noted();
  const many = Array.from({ length: 450 }, () => turn(NOW - DAY_MS)).flat();
  expect(await take(many, workspace)).toBe(450);
  expect((await signalsIn(workspace))[0]?.recallCount).toBe(450);
});

verifies('dreaming.recall/once', 'a crash at any write leaves it as it was, or counted', async () => {
  const messages = [...turn(NOW - 2 * DAY_MS), ...turn(NOW - DAY_MS)];
  for (let at = 1; ; at++) {
    let writes = 0;
    for (const half of [false, true]) {
      const real = await noted();
      const failing = createFailingWorkspace(real, at, half);
      await take(messages, failing).catch(() => {});
      writes = failing.writes;
      const before = (await signalsIn(real))[0]?.recallCount;
      expect([undefined, 2]).toContain(before);
      await take(messages, real);
      expect((await signalsIn(real))[0]?.recallCount).toBe(2);
    }
    if (writes < at) break;
    expect(at).toBeLessThan(10);
  }
});

verifies(
  'dreaming.recall/once',
  'it is known still when the file is written anew, and a broken line of it takes nothing away',
  async () => {
    const workspace = await noted();
    const messages = turn(NOW - DAY_MS);
    await take(messages, workspace);
    const signals = new SignalsStore(workspace, { now: () => NOW });
    await signals.addSignal('Something old', NOTE);
    await workspace.append(SIGNALS_FILE, '{"taken":{"until":"soon"}}\n');
    await signals.note([{ content: 'Very old', sourceRef: NOTE, at: NOW - 300 * DAY_MS }]);
    expect(await signals.cleanupOldSignals(30)).toHaveLength(1);
    expect(await take(messages, workspace)).toBe(0);
    expect(await signals.brokenLines()).toMatchObject([{ path: SIGNALS_FILE }]);
  },
);

verifies('dreaming.recall/once', 'channels, other agents and failed searches do not count', async () => {
  const workspace = await noted();
  const tool = (content: string): MessageRecord => ({
    id: `t${++count}`,
    sessionKey: 'main/main',
    parentId: null,
    depth: 0,
    role: 'tool',
    name: 'memory_search',
    toolCallId: 'c',
    content,
    timestamp: NOW - DAY_MS,
  });
  const messages = [
    ...turn(NOW - DAY_MS, { sessionKey: 'main/telegram-12' }),
    ...turn(NOW - DAY_MS, { sessionKey: 'other/main' }),
    ...turn(NOW - DAY_MS, { text: ' … ' }),
    tool('{"error":"no"}'),
    tool('{"results":[{"text":'),
    tool('{"results":[{"text":"Nobody asked"}]}'),
  ];
  await take(messages, workspace);
  expect(await signalsIn(workspace)).toEqual([]);
});
