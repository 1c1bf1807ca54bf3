import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { MemoryConfig, type MemoryConfigInput } from './memory-config.ts';
import { MemoryManager, type MemoryManagerDeps } from './memory-manager.ts';
import type { MemoryMessage } from './memory-message.ts';
import type { OpenAiMessage } from './openai-message.ts';
import { memoryWorkspace, type Workspace } from './workspace.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const DAY = 86_400_000;

async function opened(given: Partial<MemoryManagerDeps> & { settings?: MemoryConfigInput } = {}) {
  const clock = new FakeClock(NOON);
  const workspace = given.workspace ?? memoryWorkspace(() => clock.now());
  const config = new MemoryConfig(given.settings);
  const memory = await new MemoryManager({ clock, ...given, workspace, config }).open();
  return { memory, workspace, clock };
}

/** A workspace whose nth change fails, before or after it takes effect. */
function failing(workspace: Workspace, nth: number, behind: boolean): Workspace {
  let count = 0;
  const changed = async (work: () => Promise<unknown>): Promise<void> => {
    const fails = ++count === nth;
    if (fails && !behind) throw new Error('The disk is full');
    await work();
    if (fails) throw new Error('The disk went away');
  };
  return {
    ...workspace,
    write: (path, text) => changed(() => workspace.write(path, text)),
    append: (path, text) => changed(() => workspace.append(path, text)),
  };
}

const said = (content: string, more: Partial<MemoryMessage> = {}): MemoryMessage => ({ role: 'user', content, ...more });

describe('MemoryManager', () => {
  verifies('memory.manager/remembers', 'memories are added once, found, and forgotten by their ids', async () => {
    const { memory, workspace } = await opened();
    const first = await memory.addMemory('Ana has a cat called Miso', 'fact');
    expect(first).toMatchObject({ added: true, category: 'fact', createdAt: NOON });
    expect(await memory.addMemory('  Ana has a  cat\ncalled Miso ', 'other')).toMatchObject({ id: first.id, added: false });
    const [one, two] = await Promise.all([memory.addMemory('The boat is blue'), memory.addMemory('The boat is blue')]);
    expect([one.added, two.added]).toEqual([true, false]);
    expect(await memory.searchMemory('Which cats does Ana have?', 1)).toMatchObject([
      { id: first.id, kind: 'memory', category: 'fact', path: 'MEMORY.md', lines: '1', at: NOON, before: null, after: null },
    ]);
    expect([await memory.forget(first.id), await memory.forget(first.id)]).toEqual([true, false]);
    expect(await memory.searchMemory('cat')).toEqual([]);
    expect(await workspace.read('MEMORY.md')).toBe('- 2026-11-22 12:00 [fact] The boat is blue\n');
    for (const text of ['', ' \n', 'x'.repeat(10_001)])
      await expect(memory.addMemory(text)).rejects.toThrow(/must not be empty|The maximum for a memory/);
    await expect(memory.searchMemory('cat', 0)).rejects.toThrow('The limit must be');
  });

  verifies('memory.manager/remembers', 'files that begin with a byte order mark are read from their first line on', async () => {
    const workspace = memoryWorkspace();
    const mark = '\uFEFF';
    await workspace.write('MEMORY.md', `${mark}- 2026-11-20 09:30 [preference] tone: dry\r\nThe crew is small.\r\n`);
    await workspace.write('memory/2026-11-19.md', `${mark}# A day at the harbour\r\n`);
    await workspace.write('dialog/2026-11-19.jsonl', `${mark}{"role":"user","content":"Where is the kayak?"}\r\n`);
    const { memory } = await opened({ workspace });
    expect(await memory.getAllPreferences()).toEqual({ tone: 'dry' });
    expect(await memory.addMemory('tone: dry', 'preference')).toMatchObject({ added: false });
    expect((await memory.searchMemory('harbour'))[0]?.text).toBe('# A day at the harbour');
    expect((await memory.searchMemory('kayak'))[0]?.text).toBe('Where is the kayak?');
    expect((await memory.getStats()).dialogs).toMatchObject({ messages: 1, broken: 0 });
    await memory.setPreference('tone', 'warm');
    expect(await workspace.read('MEMORY.md')).toContain('tone: warm\nThe crew is small.\r\n');
  });

  verifies('memory.manager/remembers', 'what could not be read again is refused, and nothing is written', async () => {
    const { memory, workspace } = await opened();
    for (const time of [NaN, Infinity, Date.UTC(10_000, 0), -1e15])
      await expect(memory.addMemory('Long ago', 'event', time)).rejects.toThrow('Invalid time');
    expect(await memory.addMemory('The moon landing', 'event', Date.UTC(1969, 6, 20))).toMatchObject({ added: true });
    expect((await memory.getMemories()).map(({ text }) => text)).toEqual(['The moon landing']);
    const wrong: unknown[] = [
      { role: 'user', content: null },
      { role: 'user', content: [{ type: 'text' }] },
      { role: 'nobody', content: 'x' },
      { role: 'user', content: 'x', id: 5 },
    ];
    for (const each of wrong) {
      const messages = [said('kept whole', { id: '1' }), each] as MemoryMessage[];
      await expect(memory.persistDialog(messages)).rejects.toThrow(/^Invalid messages\[1\]: `\w+/);
      await expect(memory.putAsideResults(messages)).rejects.toThrow('messages[1]');
      expect(() => memory.checkContext(messages)).toThrow('messages[1]');
    }
    expect(await workspace.list('dialog')).toEqual([]);
    expect(await memory.persistDialog([said('at no time', { timestamp: NaN })])).toBe(1);
  });

  verifies('memory.manager/openai', 'messages in the shape of OpenAI are kept, measured and given back as they are', async () => {
    const settings = {
      compaction: { max_tokens: 100, min_messages_to_compact: 2, reserve_ratio: 0.3 },
      tool_result: { max_length: 100 },
    } as MemoryConfigInput;
    const complete = () => Promise.resolve('## Goals\n- Find the kayak\n\n## Progress\nLooked in the barn');
    const { memory, workspace } = await opened({ settings, complete });
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"place":"barn"}' } } as const;
    const talk: OpenAiMessage[] = [
      { role: 'developer', content: 'Answer briefly.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: `Where is the kayak? ${'word '.repeat(60)}` },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'image_url', image_url: { url: 'https://example.org/kayak.png' } },
        ],
        id: 'u1',
      },
      { role: 'assistant', content: null, refusal: null, tool_calls: [call], id: 'a1' },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: `In the barn. ${'straw '.repeat(30)}` }], id: 't1' },
      { role: 'assistant', content: 'In the barn.', id: 'a2' },
    ];
    const copy = structuredClone(talk);
    expect(await memory.persistDialog(talk, 'main')).toBe(5);
    expect(await memory.persistDialog(structuredClone(talk).slice(1), 'main')).toBe(0);
    const lines = ((await workspace.read('dialog/2026-11-22.jsonl')) ?? '').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { role: 'system', content: 'Answer briefly.' },
      {
        role: 'user',
        content: [
          { type: 'text' },
          { type: 'image', mimeType: 'image/png', data: 'AAAA' },
          { type: 'text', text: '[image https://example.org/kayak.png]' },
        ],
      },
      { role: 'assistant', content: '', tool_calls: [{ id: 'call_1', tool: 'look', args: { place: 'barn' } }] },
      { role: 'tool', tool_call_id: 'call_1' },
      { role: 'assistant', content: 'In the barn.' },
    ]);
    expect((await memory.searchMemory('kayak barn', 5)).length).toBeGreaterThan(0);

    const short = await memory.putAsideResults(talk);
    expect(short.map((each, at) => each === talk[at])).toEqual([true, true, true, false, true]);
    expect(short[3]).toMatchObject({
      role: 'tool',
      tool_call_id: 'call_1',
      content: [{ type: 'text', text: expect.stringContaining('lies in tool_result/') as string }],
    });
    // The stub represents the whole result, which is already saved.
    expect(await memory.persistDialog(short, 'main')).toBe(0);

    const result = memory.checkContext(talk);
    expect(result.needsCompaction).toBe(true);
    expect(result.systemMessages).toEqual([talk[0]]);
    // The call and its result stay together.
    expect(result.messagesToCompact).toEqual(talk.slice(1, 4));
    expect(result.messagesToKeep).toEqual([talk[4]]);
    const summary = await memory.generateSummary(result.messagesToCompact, { sessionKey: 'main' });
    const compacted = memory.applyCompaction(structuredClone(talk), summary, result);
    expect(compacted).toEqual([talk[0], expect.objectContaining({ role: summary.toMessage().role }) as unknown, talk[4]]);
    expect(talk).toEqual(copy);
  });

  verifies('memory.manager/preferences', 'a preference replaces an earlier one, and a person’s own text stays', async () => {
    const { memory, workspace } = await opened();
    await workspace.write('MEMORY.md', '# Mine\r\nkept\r\n\n- 2026-01-01 [preference] Tone: formal\n- 2026-01-02 [preference] likes rain');
    await memory.setPreference('tone', 'friendly: always');
    await memory.setPreference('__proto__', 'x');
    expect(Object.entries(await memory.getAllPreferences())).toEqual([
      ['tone', 'friendly: always'],
      ['__proto__', 'x'],
    ]);
    expect([await memory.getPreference('TONE'), await memory.getPreference('constructor')]).toEqual(['friendly: always', undefined]);
    expect(await workspace.read('MEMORY.md')).toBe(
      '# Mine\r\nkept\r\n\n- 2026-11-22 12:00 [preference] tone: friendly: always\n- 2026-01-02 [preference] likes rain\n- 2026-11-22 12:00 [preference] __proto__: x\n',
    );
    for (const key of ['', 'a:b', 'a\nb', 'x'.repeat(201)])
      await expect(memory.setPreference(key, 'v')).rejects.toThrow(/key of a preference/);
  });

  verifies('memory.manager/dialog', 'messages are written once, and found with their speaker and neighbours', async () => {
    const { memory, workspace, clock } = await opened();
    const talk: MemoryMessage[] = [
      said('Where is the kayak?', { id: '1', name: 'Ana' }),
      { role: 'assistant', content: 'In the barn.', id: '2', toolCalls: [{ id: 'c', tool: 'look', args: {} }] },
      said('Fine!', { id: '3' }),
    ];
    expect(await memory.persistDialog(talk, 'main')).toBe(3);
    expect(await memory.persistDialog(structuredClone(talk), 'main')).toBe(0);
    expect(await memory.persistDialog([said('Fine!', { id: '3' })], 'other')).toBe(1);
    const unnamed = said('Nothing tells me apart');
    expect([
      await memory.persistDialog([unnamed, unnamed, said('later', { timestamp: NOON - DAY })]),
      await memory.persistDialog([unnamed]),
    ]).toEqual([3, 0]);
    const file = (await workspace.read('dialog/2026-11-22.jsonl')) ?? '';
    expect(JSON.parse(file.split('\n')[1] ?? '')).toEqual({
      session_key: 'main',
      id: '2',
      role: 'assistant',
      content: 'In the barn.',
      timestamp: NOON,
      tool_calls: [{ id: 'c', tool: 'look', args: {} }],
    });
    expect(await workspace.read('dialog/2026-11-21.jsonl')).toContain('later');
    expect((await memory.searchMemory('Who has the kayak in the barn?', 1))[0]).toMatchObject({
      kind: 'message',
      path: 'dialog/2026-11-22.jsonl',
      at: NOON,
      coverage: expect.any(Number),
    });
    const [answer] = (await memory.searchMemory('barn')).filter(({ text }) => text === 'In the barn.');
    expect(answer).toMatchObject({
      lines: '2',
      speaker: 'assistant',
      before: { text: 'Where is the kayak?', speaker: 'Ana' },
      after: { text: 'Fine!' },
    });
    // Another memory over the same files recognizes them too.
    const again = await new MemoryManager({ workspace, clock }).open();
    expect(await again.persistDialog(talk, 'main')).toBe(0);
  });

  verifies('memory.manager/retention', 'deletes memories older than the setting, and nothing else', async () => {
    const clock = new FakeClock(NOON);
    const workspace = memoryWorkspace(() => clock.now());
    const old = new Date(NOON - 31 * DAY).toISOString().slice(0, 10);
    const kept = new Date(NOON - 30 * DAY).toISOString().slice(0, 10);
    for (const path of [
      `dialog/${old}.jsonl`,
      `dialog/${kept}.jsonl`,
      'dialog/2020-13-45.jsonl',
      'dialog/notes.txt',
      `memory/${old}.md`,
      'tool_result/a.txt',
    ])
      await workspace.write(path, 'x');
    const { memory } = await opened({ workspace });
    expect((await workspace.list()).map(({ path }) => path)).toEqual([
      `dialog/2020-13-45.jsonl`,
      `dialog/${kept}.jsonl`,
      'dialog/notes.txt',
      `memory/${old}.md`,
      'tool_result/a.txt',
    ]);
    expect(await memory.cleanUp()).toEqual([]);
    // In a read-only folder.
    clock.advance(9 * DAY);
    const warnings: string[] = [];
    const fixed: Workspace = { ...workspace, remove: () => Promise.reject(new Error('It is locked')) };
    const other = await opened({ workspace: fixed, clock, warn: (message) => void warnings.push(message) });
    expect([await other.memory.getMemories(), warnings]).toEqual([[], [expect.stringContaining('It is locked')]]);
    clock.advance(-9 * DAY);
    const later = await new MemoryManager({ workspace, clock: { now: () => NOON + 7 * DAY } }).open();
    expect((await workspace.list()).map(({ path }) => path)).toEqual(['dialog/2020-13-45.jsonl', 'dialog/notes.txt', `memory/${old}.md`]);
    expect(await later.cleanUp()).toEqual([]);
  });

  verifies('memory.manager/tool-results', 'a long result is put aside once, with a stub that names its file', async () => {
    const { memory, workspace, clock } = await opened({ settings: { toolResult: { maxLength: 100 } } });
    const long = `${'🙂'.repeat(80)} the end`;
    const messages: MemoryMessage[] = [
      said('x'.repeat(500)),
      { role: 'tool', content: long, toolCallId: 'c' },
      { role: 'tool', content: 'short' },
    ];
    const once = await memory.putAsideResults(messages);
    expect([once[0], once[2]]).toEqual([messages[0], messages[2]]);
    const stub = String(once[1]?.content);
    const path = /tool_result\/[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}\.txt/.exec(stub)?.[0] ?? '';
    expect(stub).toMatch(/^(🙂)+\n\[… The whole result has 168 characters/u);
    expect(await workspace.read(path)).toBe(long);
    expect(await memory.putAsideResults(once)).toEqual(once);
    expect(await memory.putAsideResults(messages)).toEqual(once);
    expect(await workspace.list('tool_result')).toHaveLength(1);
    // A result that is passed again is kept as long as a new one.
    clock.advance(6 * DAY);
    await memory.putAsideResults(messages);
    clock.advance(6 * DAY);
    expect([await memory.cleanUp(), await workspace.read(path)]).toEqual([[], long]);
    // The dialog has the original text, not the stub.
    await memory.persistDialog(once, 'main');
    expect(await memory.persistDialog(messages, 'main')).toBe(0);
    expect(await workspace.read('dialog/2026-12-04.jsonl')).toContain('the end');
  });

  verifies('memory.manager/follows', 'files that others change are followed, broken lines are told of, and none is lost', async () => {
    const { memory, workspace, clock } = await opened();
    await workspace.write('memory/2026-11-20.md', '# Friday\nThe pump was repaired.\n\n## Later\nWe ate pancakes.\n');
    await workspace.write(
      'dialog/2026-11-21.jsonl',
      '{"role":"user","content":"A parrot sings"}\nnonsense\n{"role":"king","content":"x"}\n\n{"role":"user","content":"cut o',
    );
    expect(await memory.searchMemory('pump')).toMatchObject([
      {
        kind: 'day',
        path: 'memory/2026-11-20.md',
        lines: '1-2',
        at: Date.UTC(2026, 10, 20),
        after: { text: '## Later\nWe ate pancakes.' },
      },
      { before: { text: '# Friday\nThe pump was repaired.' } },
    ]);
    expect((await memory.searchMemory('parrot'))[0]).toMatchObject({ lines: '1', at: Date.UTC(2026, 10, 21) });
    expect((await memory.getStats()).dialogs).toEqual({ days: 1, messages: 1, broken: 3 });
    await memory.persistDialog([said('The piano is tuned', { timestamp: NOON - DAY })]);
    expect((await memory.searchMemory('piano'))[0]).toMatchObject({ lines: '6' });
    expect((await workspace.read('dialog/2026-11-21.jsonl'))?.split('\n')).toHaveLength(7);
    clock.advance(1000);
    await workspace.write('memory/2026-11-20.md', 'Only a canoe');
    expect([await memory.searchMemory('pump'), (await memory.searchMemory('canoe')).length]).toEqual([[], 1]);
    await workspace.remove('memory/2026-11-20.md');
    expect(await memory.searchMemory('canoe')).toEqual([]);
    expect(await memory.getStats()).toMatchObject({ memories: 0, days: 0, dialogs: { messages: 2 }, passages: 2 });
  });

  verifies('memory.manager/follows', 'what another program writes in the same moment is read too', async () => {
    const files = memoryWorkspace(() => NOON);
    const crowded: Workspace = {
      ...files,
      async append(path, text) {
        await files.append(path, '{"role":"user","content":"The otter swims"}\n');
        await files.append(path, text);
      },
    };
    const { memory } = await opened({ workspace: crowded });
    await memory.persistDialog([said('The heron nests')]);
    expect((await memory.searchMemory('otter', 1))[0]).toMatchObject({ text: 'The otter swims', lines: '1' });
    expect((await memory.searchMemory('heron', 1))[0]).toMatchObject({ text: 'The heron nests', lines: '2' });
  });

  verifies('memory.manager/crash', 'whichever write fails, there is the old or the new, and the next try makes it whole', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.boolean(), async (nth, behind) => {
        const files = memoryWorkspace(() => NOON);
        const { memory } = await opened({ workspace: failing(files, nth, behind) });
        const steps: (() => Promise<unknown>)[] = [
          () => memory.addMemory('one'),
          () => memory.addMemory('two'),
          () => memory.setPreference('tone', 'dry'),
          () => memory.setPreference('tone', 'kind'),
          () => memory.persistDialog([said('a', { id: 'a' }), said('b', { id: 'b', timestamp: NOON - DAY })]),
          () => memory.putAsideResults([{ role: 'tool', content: 'z'.repeat(3000) }]),
          () => memory.summariseDay('2026-11-22'),
        ];
        for (const step of steps) {
          const before = (await files.read('MEMORY.md')) ?? '';
          await step().catch(async () => {
            const after = (await files.read('MEMORY.md')) ?? '';
            expect(after === before || behind).toBe(true);
            await step();
          });
        }
        expect((await memory.getMemories()).map(({ text }) => text)).toEqual(['one', 'two', 'tone: kind']);
        const lines = (date: string) => files.read(`dialog/${date}.jsonl`).then((text) => text?.trim().split('\n').length);
        expect([await lines('2026-11-22'), await lines('2026-11-21')]).toEqual([1, 1]);
        expect(await files.list('tool_result')).toHaveLength(1);
        expect((await files.read('memory/2026-11-22.md'))?.match(/Summary of the day/g)).toHaveLength(1);
      }),
      { numRuns: 32 },
    );
  });

  verifies(
    'memory.manager/large',
    'ten megabytes are read while others have their turn',
    async () => {
      const workspace = memoryWorkspace(() => NOON);
      const words = ['boat', 'river', 'lamp', 'garden', 'winter', 'letter', 'bridge', 'piano'];
      const line = (at: number): string =>
        `- 2026-01-01 10:00 [fact] Note ${at}: ${Array.from({ length: 150 }, (_, i) => words[(at * 7 + i * 3) % words.length]).join(' ')}\n`;
      const lines = Array.from({ length: 11_000 }, (_, at) => line(at)).join('');
      await workspace.write('MEMORY.md', `${lines}- 2026-01-01 10:00 [fact] The heron nests at Loch Awe\n`);
      expect((await workspace.list())[0]?.size).toBeGreaterThan(10_000_000);
      const { memory } = await opened({ workspace });
      let turns = 0;
      const timer = setInterval(() => turns++, 0);
      expect((await memory.searchMemory('heron', 1))[0]).toMatchObject({ text: 'The heron nests at Loch Awe', lines: '11001' });
      clearInterval(timer);
      expect(turns).toBeGreaterThan(50);
      expect(await memory.addMemory('The otter too')).toMatchObject({ added: true });
      expect((await memory.searchMemory('otter', 1))[0]).toMatchObject({ lines: '11002' });
    },
    60_000,
  );

  it('reports closed, disabled and missing memories', async () => {
    const memory = new MemoryManager({ workspace: memoryWorkspace(), clock: { now: () => NOON } });
    await expect(memory.searchMemory('x')).rejects.toThrow('Call open() first');
    await memory.open();
    await expect(memory.summariseDay('2026-02-30')).rejects.toThrow('Invalid date');
    expect(await memory.summariseDay('2026-02-28')).toBeUndefined();
    await memory.close();
    await expect(memory.addMemory('x')).rejects.toThrow('was closed');
    await expect(memory.open()).rejects.toThrow('was closed');
    const off = await opened({ settings: { longTerm: { enabled: false }, dialog: { enabled: false } } });
    await expect(off.memory.addMemory('x')).rejects.toThrow('Long-term memory is off');
    expect(await off.memory.persistDialog([said('x')])).toBe(0);
    expect(await off.workspace.list()).toEqual([]);
  });
});
