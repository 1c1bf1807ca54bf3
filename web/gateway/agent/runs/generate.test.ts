import { expect } from 'vitest';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { toPlainText } from '../../providers/content-parts.ts';
import { type ModelEvent, type ModelRequest, type Provider, ProviderError } from '../../providers/provider.ts';
import { type Generation, type GenerationEvent, generate } from './generate.ts';

/** A provider that yields these events, one list per call; `asked` contains the requests. */
const says = (...answers: ModelEvent[][]): Provider & { asked: ModelRequest[] } => ({
  id: 'test',
  name: 'Test',
  asked: [],
  async *stream(request) {
    this.asked.push(request);
    yield* answers.shift() ?? [{ type: 'text', text: 'ok' }, end];
  },
  models: async () => [],
});
const end: ModelEvent = { type: 'finish', reason: 'stop' };
const call = (id: string, args: Record<string, unknown> = {}): ModelEvent => ({ type: 'tool_call', call: { id, tool: 'look', args } });

function started(
  provider: Provider,
  runTool: Generation['runTool'],
  change: Partial<Generation> = {},
  heard = (_: GenerationEvent): void => {},
) {
  const clock = new FakeClock();
  const abort = new AbortController();
  const chosen = { key: 'test/m', provider, model: 'm' };
  const events: GenerationEvent[] = [];
  const run: Generation = {
    chosen,
    fallbacks: [],
    models: {
      resolve: async () => chosen,
      addCost: async (_key, usage) => usage,
      supportsImages: async () => true,
      supportsReasoning: async () => false,
      lacksReasoning: async () => false,
      getContextTokens: async () => null,
    },
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ name: 'look', description: '', schema: {} }],
    signal: abort.signal,
    clock,
    runTool,
    ...change,
  };
  const ended = (async () => {
    for await (const event of generate(run)) {
      events.push(event);
      heard(event);
    }
  })();
  return { clock, abort, events, ended };
}

verifies('chat.abort/reaches-provider', 'a tool that does not hear of it does not hold up the end of the run', async () => {
  const begun = Promise.withResolvers<void>();
  const { clock, abort, ended, events } = started(says([call('1'), end]), () => {
    begun.resolve();
    return new Promise(() => {});
  });
  await begun.promise;
  const waits = clock.waitForTimer(2_000);
  abort.abort(new RpcError('ABORTED', 'The run was aborted'));
  await waits;
  clock.advance(2_000);
  await expect(ended).rejects.toMatchObject({ code: 'ABORTED' });
  expect(events.some(({ type }) => type === 'tool_result')).toBe(false);
  expect(clock.pending()).toBe(0);
});

verifies('providers/tool-calls', 'calls that come with one id, or none, are told apart', async () => {
  const { ended, events } = started(
    says([call('same', { n: 1 }), call('same', { n: 2 }), call('', { n: 3 }), end]),
    async ({ args }) => args,
  );
  await ended;
  const asked = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
  expect(asked[0]?.id).toBe('same');
  expect(new Set(asked.map(({ id }) => id)).size).toBe(3);
  expect(asked.map(({ id }) => id)).not.toContain('');
  const told = events.flatMap((event) => (event.type === 'tool_result' ? [[event.call.id, event.result]] : []));
  expect(told).toEqual(asked.map(({ id, args }) => [id, args]));
  const step = events.find((event) => event.type === 'step');
  expect(step?.calls).toEqual(asked);
});

verifies(
  'chat/results-as-they-come',
  'a quick result is told while a slow tool runs; the model has them in the order of its calls',
  async () => {
    const provider = says([call('slow'), call('quick'), end]);
    const slow = Promise.withResolvers<string>();
    const quick = Promise.withResolvers<void>();
    const { ended } = started(
      provider,
      ({ id }) => (id === 'slow' ? slow.promise : Promise.resolve('Q')),
      {},
      (event) => {
        if (event.type === 'tool_result' && event.call.id === 'quick') quick.resolve();
      },
    );
    await quick.promise;
    expect(provider.asked).toHaveLength(1);
    slow.resolve('S');
    await ended;
    const results = provider.asked[1]?.messages.filter(({ role }) => role === 'tool');
    expect(results?.map(({ toolCallId, content }) => [toolCallId, content])).toEqual([
      ['slow', 'S'],
      ['quick', 'Q'],
    ]);
  },
);

const calling = (...tools: string[]): ModelEvent => ({ type: 'calling', tools });

verifies('chat/pending-calls', 'are told when they change; a try that failed leaves none', async () => {
  let tries = 0;
  const provider: Provider = {
    ...says(),
    async *stream() {
      if (++tries === 1) {
        yield calling('look');
        throw new ProviderError('busy', { status: 503, retryable: true });
      }
      if (tries > 2) return yield* [{ type: 'text' as const, text: 'ok' }, end];
      yield* [calling('look'), calling('look'), calling('look', 'look'), call('1'), call('2'), end];
    },
  };
  const { clock, ended, events } = started(provider, async () => 'seen', { random: () => 1 });
  await clock.waitForTimer(600);
  clock.advance(600);
  await ended;
  const told = events.flatMap((event): (string[] | string)[] =>
    event.type === 'calling' ? [event.tools] : event.type === 'tool_call' ? [event.call.id] : [],
  );
  expect(told).toEqual([['look'], [], ['look'], ['look', 'look'], '1', '2']);
});

verifies('chat/pending-calls', 'a model that writes a long call is not silent', async () => {
  const pieces = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  const provider: Provider = {
    ...says(),
    async *stream({ messages }) {
      if (messages.length > 1) return yield* [{ type: 'text' as const, text: 'ok' }, end];
      for (const { promise } of pieces) {
        await promise;
        yield calling('look');
      }
      yield* [call('1'), end];
    },
  };
  const { clock, ended, events } = started(provider, async () => 'seen');
  for (const { resolve } of pieces) {
    await clock.waitForTimer(60_000);
    clock.advance(40_000);
    resolve();
    await clock.waitForTimer(60_000);
  }
  await ended;
  expect(events.at(-1)).toMatchObject({ type: 'end' });
});

verifies(
  'chat/steps',
  'the last step has no tools and is told so; calls that come all the same are left out, with the text kept',
  async () => {
    const loop: ModelEvent[] = [{ type: 'text', text: 'again ' }, call('1'), end];
    const provider = says(loop, loop, loop);
    const messages = [
      { role: 'system' as const, content: 'Be brief' },
      { role: 'user' as const, content: 'Hi' },
    ];
    const { ended, events } = started(provider, async () => 'R', { maxSteps: 3, messages });
    await ended;
    expect(provider.asked.map(({ tools }) => tools?.length ?? 0)).toEqual([1, 1, 0]);
    expect(provider.asked.map(({ spentTools }) => spentTools?.length ?? 0)).toEqual([0, 0, 1]);
    expect(provider.asked.map((request) => request.messages[0]?.content)).toEqual(['Be brief', 'Be brief', 'Be brief']);
    expect(provider.asked.map((request) => String(request.messages.at(-1)?.content).includes('Answer now, without tools'))).toEqual([
      false,
      false,
      true,
    ]);
    expect(events.filter(({ type }) => type === 'tool_call')).toHaveLength(2);
    expect(events.filter((event) => event.type === 'step').map(({ text, calls }) => [text, calls.length])).toEqual([
      ['again ', 1],
      ['again ', 1],
      ['again ', 0],
    ]);
  },
);

verifies('chat/steps', 'a model that says nothing in the last one either is an error that says why', async () => {
  const { ended } = started(says([call('1'), end], [call('2'), end]), async () => 'R', { maxSteps: 2 });
  await expect(ended).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('2 steps') as string });
});

/** Calls the tool with each name in its own step; the model answers when it is out of names, or told to. */
async function callByNames(names: string[], getResult: (name: string, count: number) => unknown) {
  const provider = says(...names.map((name, index) => [call(String(index), { name }), end]));
  const ran: string[] = [];
  const { ended, events } = started(provider, async ({ args }) => getResult(ran.at(ran.push(String(args['name'])) - 1) ?? '', ran.length));
  const error = await ended.then(
    () => undefined,
    (thrown: unknown) => thrown as RpcError,
  );
  const last = provider.asked.at(-1);
  const notice = (last?.tools ?? []).length === 0 ? toPlainText(last?.messages.at(-1)?.content ?? '') : '';
  return { ran: ran.join(''), notice, error, text: events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('') };
}

verifies('chat/run-limits', 'the same calls with the same results, three times in a row, are the last; alone or in a cycle', async () => {
  const echo = (name: string): string => name;
  const alone = await callByNames([...'abbbbb'], echo);
  expect(alone.ran).toBe('abbb');
  expect(alone.notice).toContain('same results 3 times in a row. Answer now, without tools');
  // A model that calls again in its last step has not answered.
  expect(alone.error).toMatchObject({
    code: 'INTERNAL_ERROR',
    message: expect.stringContaining('made the same tool calls 3 times') as string,
  });
  expect((await callByNames([...'xababababab'], echo)).ran).toBe('xababab');
  expect((await callByNames([...'abcabcabcabc'], echo)).ran).toBe('abcabcabc');
  const answered = await callByNames([...'bbb'], echo);
  expect(answered).toMatchObject({ ran: 'bbb', text: 'ok', error: undefined });
  const failing = await callByNames([...'bbbb'], () => {
    throw new Error('No such file');
  });
  expect(failing.ran).toBe('bbb');
});

verifies('chat/run-limits', 'what changes between the calls, or is another call, is no loop', async () => {
  for (const [names, getResult] of [
    ['bbbbbb', (_name: string, count: number) => `line ${count}`],
    ['bbabbabba'.slice(0, 8), (name: string) => name],
    ['bcbdbebfbg', (name: string) => name],
  ] as const)
    expect(await callByNames([...names], getResult)).toMatchObject({ ran: names, text: 'ok', notice: '', error: undefined });
});

verifies('chat/run-limits', 'after its minutes the next step is the last', async () => {
  const provider = says([call('1'), end]);
  const result = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const { clock, ended, events } = started(
    provider,
    () => {
      begun.resolve();
      return result.promise;
    },
    { maxMinutes: 2 },
  );
  await begun.promise;
  clock.advance(120_000);
  result.resolve('late');
  await ended;
  expect(provider.asked.map(({ tools }) => tools?.length ?? 0)).toEqual([1, 0]);
  expect(toPlainText(provider.asked[1]?.messages.at(-1)?.content ?? '')).toContain('late\n\n[This turn has taken all of its 2 minutes.');
  expect(events.at(-1)).toMatchObject({ type: 'end' });
});

verifies('chat/unreadable-arguments', 'they are a result for the model, beside those of the other calls; the tool is not run', async () => {
  const unread: ModelEvent = { type: 'tool_call', call: { id: 'bad', tool: 'look', args: {} }, unread: 'are not JSON: {"a' };
  const provider = says([unread, call('good'), end]);
  const ran: string[] = [];
  const { ended } = started(provider, async ({ id }) => ran.push(id));
  await ended;
  expect(ran).toEqual(['good']);
  expect(provider.asked[0]?.reportsUnread).toBe(true);
  expect(provider.asked[1]?.messages.find(({ toolCallId }) => toolCallId === 'bad')?.content).toContain(
    'The arguments of look are not JSON: {\\"a. It was not run',
  );
});

verifies(
  'providers/thinking',
  'thinking from settings is left out for a model that does not think, what a program asks for is not',
  async () => {
    const models: Generation['models'] = {
      resolve: () => Promise.reject(new Error('no fallback')),
      addCost: async (_key, usage) => usage,
      supportsImages: async () => true,
      supportsReasoning: async () => false,
      lacksReasoning: async (key) => key === 'test/m',
      getContextTokens: async () => null,
    };
    const provider = says();
    const ownOptions = { reasoningEffort: 'high', temperature: 0.3, seed: 1 } as const;
    await started(provider, async () => null, { models, ownOptions, wishes: { temperature: 0.7 } }).ended;
    await started(provider, async () => null, { models, ownOptions, wishes: { reasoningEffort: 'low' } }).ended;
    const [own, requested] = provider.asked;
    expect(own).toMatchObject({ temperature: 0.7, seed: 1, ownOptions: new Set(['seed']) });
    expect(own).not.toHaveProperty('reasoningEffort');
    expect(requested).toMatchObject({ temperature: 0.3, reasoningEffort: 'low', ownOptions: new Set(['temperature', 'seed']) });
  },
);
