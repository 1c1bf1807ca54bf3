import { describe, expect, it } from 'vitest';
import { z } from '#shared/rpc/zod.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { matchesText, parseQuery } from '../../knowledge/search/search-query.ts';
import { toPlainText } from '../../storage/session-views.ts';
import { waitFor } from '../../../../tests/support/test-gateway.ts';
import { MemoryManager } from '../../knowledge/memory/memory-manager.ts';
import { memoryWorkspace } from '../../knowledge/memory/workspace.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';
import { coreTools } from './core-tools.ts';
import { getToolPolicy } from './tool-policy.ts';
import { inlineDocumentReader } from '../../documents/inline-document-reader.ts';
import { ContentLabels } from '../trust/content-labels.ts';
import { webTools } from './web-tools.ts';
import { defineTool } from './define-tool.ts';
import { toCallSummary, type ToolQuestion, ToolRegistry } from './tool-registry.ts';

const agent = { id: 'main', name: 'Main', model: undefined, fallbacks: [], systemPrompt: undefined, parameters: {}, config: {} };

/** All properties of a tool except its arguments and `run`. */
const plain = (name: string) => ({ name, title: `Title of ${name}`, summary: '', description: '', source: 'core', scope: null });

function setUp(messages: MessageRecord[] = []) {
  const clock = new FakeClock();
  const memory = new MemoryManager({ workspace: memoryWorkspace(() => clock.now()), clock });
  const registry = new ToolRegistry(() => agent);
  const vault = {
    messages: { get: () => Promise.resolve(undefined), branch: () => Promise.reject(new Error('no chats here')) },
    search: {
      sessions: () => Promise.resolve({ results: [], total: 0, next: null, complete: true }),
      messages: async (text: string, { limit }: { limit: number }) => {
        const query = parseQuery(text);
        const found = messages.filter(({ content }) => matchesText(query, toPlainText(content)));
        return found.slice(0, limit).map((message) => ({ message, score: 1 }));
      },
    },
  };
  const memories = { load: async () => ({ openWorkspace: () => memory.open() }) };
  const longTermMemories = { load: async () => ({ listIn: async () => [] }) };
  const labels = new ContentLabels({ vault: { collection: () => Promise.reject(new Error('no labels here')) as never }, clock });
  const provenance = { load: () => Promise.reject(new Error('no origins here')) };
  const deps = {
    vault,
    memories,
    longTermMemories,
    labels,
    provenance,
    agent: () => agent,
    keepVersion: async () => {},
    clock,
    timeZone: () => 'UTC',
  };
  for (const tool of coreTools(deps)) registry.register(tool);
  const context = { agentId: 'main', sessionKey: 'main/main', runId: null, principal: 'owner', signal: new AbortController().signal };
  const run = (tool: string, args: Record<string, unknown> = {}): Promise<unknown> => registry.run({ tool, args }, context);
  return { registry, memory, run, clock, context };
}

describe('the registry', () => {
  it('lists tools with JSON Schema and source', async () => {
    const { registry } = setUp();
    expect(registry.list().map(({ name, source }) => `${name} ${source}`)).toEqual([
      'current_time core',
      'docs_search core',
      'memory_add memory',
      'memory_forget memory',
      'memory_propose_forgetting memory',
      'memory_search memory',
      'memory_stats memory',
      'memory_update_preference memory',
      'session_search core',
    ]);
    expect(registry.list().find(({ name }) => name === 'docs_search')).toMatchObject({
      description: 'Searches the documentation of Perch, the app you run in.',
      schema: {
        type: 'object',
        properties: {
          query: { type: 'string', minLength: 1, maxLength: 1000, description: 'Search terms' },
          limit: { type: 'integer', minimum: 1, maximum: 10, default: 3, description: 'Maximum results' },
        },
        required: ['query'],
        additionalProperties: false,
      },
    });
  });

  it.each(['nope', 'constructor', '__proto__', 'toString', ''])('has no tool "%s"', async (name) => {
    await expect(setUp().run(name)).rejects.toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('docs_search') });
  });

  it.each([
    ['docs_search', {}, /query/],
    ['docs_search', { query: '' }, /query/],
    ['docs_search', { query: 'x', limit: 'many' }, /limit/],
    ['docs_search', { query: 'x', sort: 'up' }, /sort/],
    ['memory_add', { text: 5 }, /text/],
    ['memory_update_preference', { key: 'a:b', value: 'c' }, /colon/],
    ['current_time', { timeZone: 'Mars/Olympus' }, /Mars/],
  ])('refuses %s %j', async (tool, args, says) => {
    await expect(setUp().run(tool, args)).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: expect.stringMatching(says) });
  });

  it('takes a name once, and runs nothing after an abort', async () => {
    const { registry, context } = setUp();
    let ran = false;
    const tool = defineTool({ ...plain('probe'), params: z.strictObject({}), run: () => (ran = true) });
    registry.register(tool);
    expect(() => registry.register(tool)).toThrow('already');
    await expect(registry.run({ tool: 'probe', args: {} }, { ...context, signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow(
      'stop',
    );
    expect(ran).toBe(false);
    expect(registry.unregister('probe')).toBe(true);
    await expect(registry.run({ tool: 'probe', args: {} }, context)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('core tools', () => {
  it('search the docs', async () => {
    expect(await setUp().run('docs_search', { query: 'ollama', limit: 1 })).toMatchObject({
      results: [{ id: 'models#use-ollama', title: 'Use Ollama' }],
    });
  });

  it('search sessions', async () => {
    const message = (id: string, content: string): MessageRecord => ({
      id,
      role: 'user',
      content,
      timestamp: 0,
      sessionKey: 'main/a',
      parentId: null,
      depth: 0,
    });
    const { run } = setUp([message('1', 'The ferry leaves at noon'), message('2', 'Buy milk')]);
    expect(await run('session_search', { query: 'ferry' })).toEqual({
      results: [{ id: '1', text: 'The ferry leaves at noon', role: 'user', session: 'main/a', at: '1970-01-01T00:00:00.000Z' }],
    });
    expect(await run('session_search', { query: 'zebra' })).toEqual({ results: [] });
  });

  it('tell the time', async () => {
    expect(await setUp().run('current_time', { timeZone: 'Europe/Berlin' })).toMatchObject({
      iso: '2026-11-20T12:00:00.000Z',
      timeZone: 'Europe/Berlin',
      local: expect.stringContaining('13:00'),
    });
  });
});

describe('memory tools', () => {
  it('add, find, count and forget', async () => {
    const { run, memory } = setUp();
    expect(await run('memory_stats')).toMatchObject({ memories: 0, by_category: {}, oldest: null, newest: null });
    const added = z.object({ id: z.string(), added: z.boolean() });
    const first = added.parse(await run('memory_add', { text: ' My dog is Rex ' }));
    expect(added.parse(await run('memory_add', { text: 'My dog is Rex' }))).toMatchObject({ id: first.id, added: false });
    await run('memory_add', { text: 'Meeting on Friday', category: 'event' });
    expect(await run('memory_search', { query: 'dogs' })).toMatchObject({
      results: [{ id: first.id, text: 'My dog is Rex', category: 'fact' }],
    });
    expect(await run('memory_stats')).toMatchObject({ memories: 2, by_category: { fact: 1, event: 1 } });
    expect(await run('memory_forget', { id: first.id })).toEqual({ forgotten: first.id });
    await expect(run('memory_forget', { id: first.id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await memory.getMemories()).map(({ text }) => text)).toEqual(['Meeting on Friday']);
  });

  it('keep one value for a preference, also when two come at once', async () => {
    const { run, memory } = setUp();
    await run('memory_add', { text: 'tone: a fact that only looks like one' });
    await Promise.all([
      run('memory_update_preference', { key: 'Tone', value: 'formal' }),
      run('memory_update_preference', { key: 'tone', value: 'casual' }),
      run('memory_update_preference', { key: 'language', value: 'German' }),
    ]);
    const texts = (await memory.getMemories()).map(({ text }) => text).sort();
    expect(texts).toEqual(['language: German', 'tone: a fact that only looks like one', 'tone: casual']);
  });
});

describe('the gate', () => {
  const effects: string[] = [];
  const send = defineTool({
    ...plain('send'),
    params: z.strictObject({ to: z.string() }),
    effect: ({ to }) => `Send a letter to ${to}`,
    run: ({ to }) => effects.push(to),
  });
  const look = defineTool({ ...plain('look'), params: z.strictObject({}), run: () => 'seen' });
  const context = { agentId: 'main', sessionKey: null, runId: null, principal: 'owner', signal: new AbortController().signal };

  verifies('approvals/every-tool', 'asks with a sentence before a tool that has an effect, and not before others', async () => {
    effects.length = 0;
    const questions: ToolQuestion[] = [];
    const answer = Promise.withResolvers<void>();
    const registry = new ToolRegistry(() => agent, {
      getPolicy: (tool) => getToolPolicy({}, tool),
      isGranted: () => false,
      requestApproval: async (question) => {
        questions.push(question);
        await answer.promise;
      },
    });
    for (const tool of [send, look]) registry.register(tool);
    expect(await registry.run({ tool: 'look', args: {} }, context)).toBe('seen');
    await expect(registry.run({ tool: 'send', args: { to: 5 } }, context)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect(questions).toEqual([]);
    const sent = registry.run({ tool: 'send', args: { to: 'Ada' } }, context);
    await waitFor(() => questions.length > 0);
    expect(questions).toEqual([{ tool: 'send', args: { to: 'Ada' }, summary: 'Send a letter to Ada' }]);
    expect(effects).toEqual([]);
    answer.resolve();
    await sent;
    expect(effects).toEqual(['Ada']);
  });

  verifies('approvals/every-tool', 'asks with what will be done, whatever its arguments would hide of it', async () => {
    const questions: string[] = [];
    const registry = new ToolRegistry(() => agent, {
      getPolicy: (tool) => getToolPolicy({}, tool),
      isGranted: () => false,
      requestApproval: async ({ summary }) => {
        questions.push(summary);
        throw new Error('denied');
      },
    });
    const bridge = { call: () => Promise.reject(new Error('not asked')), provides: () => true };
    for (const tool of [send, ...webTools({ bridge, documents: inlineDocumentReader, clock: new FakeClock(), allow: () => [] })])
      registry.register(tool);
    for (const to of ['Ada \u202eecilA\u202c', `Ada${'\n'.repeat(50)}and Eve`, 'A\u200bd\u{e0041}a\u0007', 'نمی\u200cخواهم'])
      await expect(registry.run({ tool: 'send', args: { to } }, context)).rejects.toThrow('denied');
    for (const url of ['https://gооgle.com/a', 'https://x.test/\u202egpj.a', ' https://x.test/a b '])
      await expect(registry.run({ tool: 'web_fetch', args: { url } }, context)).rejects.toThrow('denied');
    expect(questions).toEqual([
      'Send a letter to Ada \\u{202e}ecilA\\u{202c}',
      'Send a letter to Ada and Eve',
      'Send a letter to A\\u{200b}d\\u{e0041}a\\u{7}',
      'Send a letter to نمی\u200cخواهم',
      'Fetch https://xn--ggle-55da.com/a',
      'Fetch https://x.test/%E2%80%AEgpj.a',
      'Fetch https://x.test/a%20b',
    ]);
  });

  it('asks with the title for a call without an effect, if its policy is to ask', async () => {
    const questions: ToolQuestion[] = [];
    const registry = new ToolRegistry(() => agent, {
      getPolicy: () => 'ask',
      isGranted: () => false,
      requestApproval: async (question) => void questions.push(question),
    });
    registry.register(look);
    await registry.run({ tool: 'look', args: {} }, context);
    expect(questions).toEqual([{ tool: 'look', args: {}, summary: 'Title of look' }]);
  });

  verifies('approvals/every-tool', 'is denied if no one can approve', async () => {
    effects.length = 0;
    const registry = new ToolRegistry(() => agent);
    for (const tool of [send, look]) registry.register(tool);
    expect(await registry.run({ tool: 'look', args: {} }, context)).toBe('seen');
    await expect(registry.run({ tool: 'send', args: { to: 'Ada' } }, context)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    expect(effects).toEqual([]);
  });

  it.each([
    [undefined, 'ask', 'auto'],
    [{}, 'ask', 'auto'],
    [{ '*': 'auto' }, 'auto', 'auto'],
    [{ '*': 'auto', send: 'deny' }, 'deny', 'auto'],
    [{ 's*': 'deny', send: 'auto' }, 'auto', 'auto'],
    [{ '*': 'deny', 's*': 'auto' }, 'auto', 'deny'],
    [{ 's*': 'auto', '*d': 'deny' }, 'deny', 'auto'],
    [{ look: 'ask', sen: 'auto' }, 'ask', 'ask'],
  ] as const)('by the policies %j', (policies, ofSend, ofLook) => {
    const given = policies === undefined ? {} : { policies };
    expect([getToolPolicy(given, send), getToolPolicy(given, look)]).toEqual([ofSend, ofLook]);
  });
});

it('describes a call by labelled fields, in which no text passes for another field', () => {
  const tool = {
    title: 'Send mail',
    schema: { type: 'object' as const, properties: { to: { title: 'Recipient' }, body: { type: 'string' } } },
  };
  const args = {
    to: 'ana@pages.test", Body: "Hi',
    body: 'Hi\nthere',
    replyTo: null,
    attached_files: [{ file_name: 'a.pdf', size: 3 }],
    urgent: true,
  };
  expect(toCallSummary(tool, args)).toBe(
    'Send mail – Recipient: "ana@pages.test\\", Body: \\"Hi", Body: "Hi\\nthere", Reply to: null, Attached files: (File name: "a.pdf", Size: 3), Urgent: true',
  );
  expect(toCallSummary(tool, {})).toBe('Send mail');
  expect(toCallSummary(tool, { body: 'x'.repeat(5000) }).length).toBeLessThan(400);
});
