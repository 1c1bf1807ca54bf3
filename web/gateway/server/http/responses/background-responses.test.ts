import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { waitFor } from '../../../../../tests/support/test-gateway.ts';
import { toEvents, HTTP_BASE, readData, readError, createUpstreamHttp } from '../../../../../tests/support/test-http.ts';
import { createMemoryCollection } from '../../../../../tests/support/memory-collection.ts';
import type { ModelEvent } from '../../../providers/provider.ts';
import { ResponseBuilder } from './response-builder.ts';
import { BackgroundResponses, BackgroundRun, isUnfinished } from './background-responses.ts';
import { ResponseStore } from './response-store.ts';
import type { ResponseRecord } from '../../../storage/records/response-record.ts';

const v1 = createUpstreamHttp();
const createRequest = (path: string, method = 'GET'): Request => new Request(`${HTTP_BASE}/v1/responses/${path}`, { method });
const poll = async (id: string) => (await (await v1.http.ask(createRequest(id))).json()) as { status: string; output: unknown[] };
const cancel = async (id: string) => (await (await v1.http.ask(createRequest(`${id}/cancel`, 'POST'))).json()) as { status: string };
const body = { model: 'main', input: 'Hi', background: true };

/** Rejects when the signal fires. */
const waitForAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

/** An agent that says one word, and continues after `goOn`. */
function createPausingAgent(): { goOn(): void; signal(): AbortSignal | undefined } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let signal: AbortSignal | undefined;
  v1.http.agent = async function* (run): AsyncGenerator<ModelEvent> {
    signal = run.signal;
    yield { type: 'text', text: 'Hel' };
    await Promise.race([promise, waitForAbort(run.signal)]);
    yield* toEvents({ type: 'text', text: 'lo' }, { type: 'finish', reason: 'stop' });
  };
  return { goOn: resolve, signal: () => signal };
}

describe('a response in the background', () => {
  verifies('http.responses/background', 'is queued at once, polled, and done without its caller', async () => {
    const paused = createPausingAgent();
    const made = await v1.respond(body);
    expect(made).toMatchObject({ status: 'queued', background: true, output: [], usage: null });
    await waitFor(async () => (await poll(made.id)).status === 'in_progress');
    const next = await v1.http.post('/v1/responses', { model: 'main', input: 'Hi', previous_response_id: made.id });
    expect([next.status, (await readError(next)).param]).toEqual([400, 'previous_response_id']);
    paused.goOn();
    await waitFor(async () => (await poll(made.id)).status === 'completed');
    expect(await poll(made.id)).toMatchObject({ output: [{ content: [{ text: 'Hello' }] }] });
    expect(await cancel(made.id)).toMatchObject({ status: 'completed' });
  });

  verifies('http.responses/background', 'of a model works alike, and counts its usage', async () => {
    const made = await v1.respond({ ...body, model: 'up/normal' });
    await waitFor(async () => (await poll(made.id)).status === 'completed');
    expect(v1.http.recorded).toMatchObject([{ model: 'up/normal', usage: { totalTokens: 18 } }]);
    const failed = await v1.respond({ ...body, model: 'up/error-400' });
    await waitFor(async () => (await poll(failed.id)).status === 'failed');
    expect(await poll(failed.id)).toMatchObject({ error: { message: expect.stringContaining('upstream says 400') } });
    expect(v1.http.recorded).toHaveLength(1);
    expect((await v1.http.post('/v1/responses', { ...body, model: 'nobody/none' })).status).toBe(404);
  });

  verifies('http.responses/cancel', 'is cancelled, with what has come of it', async () => {
    const paused = createPausingAgent();
    const { id } = await v1.respond(body);
    await waitFor(async () => (await poll(id)).status === 'in_progress');
    expect(await cancel(id)).toMatchObject({ status: 'cancelled', output: [{ status: 'incomplete', content: [{ text: 'Hel' }] }] });
    expect(paused.signal()?.aborted).toBe(true);
    expect(await poll(id)).toMatchObject({ status: 'cancelled' });
    expect(await cancel(id)).toMatchObject({ status: 'cancelled' });
  });

  verifies('http.responses/background', 'that is deleted ends, and does not come back', async () => {
    const paused = createPausingAgent();
    const { id } = await v1.respond(body);
    await waitFor(() => paused.signal() !== undefined);
    await v1.http.ask(createRequest(id, 'DELETE'));
    expect(paused.signal()?.aborted).toBe(true);
    expect((await v1.http.ask(createRequest(id))).status).toBe(404);
    expect(await v1.http.responses.list()).toEqual([]);
  });

  verifies('http.responses/background', 'streams, goes on when its caller leaves, and is read again from any event', async () => {
    const paused = createPausingAgent();
    const stream = await v1.http.post('/v1/responses', { ...body, stream: true });
    const reader = stream.body?.getReader();
    let read = '';
    while (!read.includes('"delta":"Hel"')) read += new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    const { id } = (JSON.parse(/data: (.*)/.exec(read)?.[1] ?? '') as { response: { id: string } }).response;
    const [types] = [[...read.matchAll(/"type":"(response\.[a-z_.]+)","sequence_number"/g)].map(([, type]) => type)];
    expect(types.slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress']);
    const rest = v1.http.ask(createRequest(`${id}?stream=true&starting_after=2&include[]=reasoning.encrypted_content`));
    paused.goOn();
    const seen = (await readData(await rest)).map((data) => JSON.parse(data) as { type: string; sequence_number: number });
    expect(seen.map((event) => event.sequence_number)).toEqual(seen.map((_, index) => index + 3));
    expect(seen.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
    expect(await readData(await v1.http.ask(createRequest(`${id}?stream=true`)))).toHaveLength(seen.length + 3);
  });

  verifies(
    ['http.responses/openai-client', 'http.responses/background'],
    'is polled, streamed and cancelled by the official package',
    async () => {
      const { responses } = v1.http.openai();
      const made = await responses.create({ model: 'up/normal', input: 'Hi', background: true });
      expect(made.status).toBe('queued');
      await waitFor(async () => (await responses.retrieve(made.id)).status === 'completed');
      const numbers: number[] = [];
      for await (const event of await responses.retrieve(made.id, { stream: true, starting_after: 1 })) numbers.push(event.sequence_number);
      expect(numbers).toEqual(numbers.map((_, index) => index + 2));
      const stream = await responses.create({ model: 'up/endless', input: 'Hi', background: true, stream: true });
      let id = '';
      for await (const event of stream) {
        if (event.type === 'response.created') id = event.response.id;
        if (event.type === 'response.output_text.delta') break;
      }
      expect((await responses.retrieve(id)).status).toBe('in_progress');
      expect((await responses.cancel(id)).status).toBe('cancelled');
      await v1.upstream.requests.at(-1)?.closed;
    },
  );

  verifies('http.responses/background', 'whose host has gone has failed', async () => {
    createPausingAgent();
    const { id } = await v1.respond(body);
    const later = createSecondHost();
    expect(await later.ask(id)).toMatchObject({ status: 'queued' });
    later.pass(61_000);
    expect(await later.ask(id)).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('stopped') } });
    await cancel(id);
  });

  it('without a store is refused', async () => {
    const response = await v1.http.post('/v1/responses', { ...body, store: false });
    expect([response.status, (await readError(response)).param]).toEqual([400, 'background']);
    v1.http.responses.put = () => Promise.reject(new Error('full'));
    expect((await v1.http.post('/v1/responses', body)).status).toBe(503);
  });
});

describe('a response in the background, in a conversation', () => {
  const say = (text: string) => ({ type: 'message', role: 'user', content: text });
  const conversation = async (): Promise<string> => {
    const created = await v1.http.post('/v1/conversations', { items: [say('One')] });
    return ((await created.json()) as { id: string }).id;
  };
  const path = (id: string): string => `${HTTP_BASE}/v1/conversations/${id}`;
  const texts = async (id: string): Promise<(string | undefined)[]> => {
    const list = (await (await v1.http.ask(new Request(`${path(id)}/items?order=asc`))).json()) as {
      data: { content: { text: string }[] }[];
    };
    return list.data.map(({ content }) => content[0]?.text);
  };

  verifies(['http.responses/background', 'http.conversations/continued'], 'is added once it is completed', async () => {
    const paused = createPausingAgent();
    const id = await conversation();
    const made = await v1.respond({ ...body, input: 'Two', conversation: id });
    expect(made).toMatchObject({ status: 'queued', conversation: { id } });
    await waitFor(async () => (await poll(made.id)).status === 'in_progress');
    expect(await texts(id)).toEqual(['One']);
    paused.goOn();
    await waitFor(async () => (await poll(made.id)).status === 'completed');
    expect(await texts(id)).toEqual(['One', 'Two', 'Hello']);
    expect(await poll(made.id)).toMatchObject({ conversation: { id } });
    createPausingAgent().goOn();
    await v1.respond({ model: 'main', input: 'Three', conversation: id });
    expect(v1.http.runs.at(-1)?.messages.map(({ content }) => content)).toEqual(['One', 'Two', 'Hello', 'Three']);
  });

  verifies(
    ['http.responses/cancel', 'http.conversations/continued'],
    'leaves nothing there if it is cancelled, deleted or fails',
    async () => {
      const id = await conversation();
      for (const end of [cancel, (made: string) => v1.http.ask(createRequest(made, 'DELETE'))]) {
        const paused = createPausingAgent();
        const made = await v1.respond({ ...body, input: 'Two', conversation: id });
        await waitFor(() => paused.signal() !== undefined);
        await end(made.id);
        expect(paused.signal()?.aborted).toBe(true);
      }
      const failed = await v1.respond({ ...body, model: 'up/error-400', input: 'Two', conversation: id });
      await waitFor(async () => (await poll(failed.id)).status === 'failed');
      expect(await texts(id)).toEqual(['One']);
    },
  );

  verifies(['http.responses/background', 'http.conversations/continued'], 'needs the conversation until the end', async () => {
    const paused = createPausingAgent();
    const unknown = await v1.http.post('/v1/responses', { ...body, conversation: 'conv_1' });
    expect([unknown.status, (await readError(unknown)).param]).toEqual([404, 'conversation']);
    const id = await conversation();
    const made = await v1.respond({ ...body, conversation: id });
    await waitFor(() => paused.signal() !== undefined);
    await v1.http.ask(new Request(path(id), { method: 'DELETE' }));
    paused.goOn();
    await waitFor(async () => (await poll(made.id)).status === 'failed');
    expect(await poll(made.id)).toMatchObject({
      error: { message: expect.stringContaining(id) },
      output: [{ content: [{ text: 'Hello' }] }],
    });
    expect(v1.http.faults).toEqual([]);
  });
});

/** Another host with the same records. */
function createSecondHost() {
  let now = Date.now();
  const clock = { now: () => now, monotonic: () => 0, after: () => () => {} };
  const kept = new ResponseStore({ responses: v1.http.responses, clock, fault: (error) => error });
  const host = new BackgroundResponses({ store: kept, clock, fault: (error) => error, isRevoked: () => Promise.resolve(false) });
  return {
    pass: (ms: number) => void (now += ms),
    ask: async (id: string) => (await host.refresh((await kept.get(id, 'owner')) as ResponseRecord)).fields,
  };
}

describe('a run', () => {
  async function started(isRevoked = false) {
    const clock = new FakeClock();
    const kept = new ResponseStore({ responses: createMemoryCollection<ResponseRecord>(), clock, fault: (error) => error });
    const host = new BackgroundResponses({ store: kept, clock, fault: (error) => error, isRevoked: () => Promise.resolve(isRevoked) });
    const run = new BackgroundRun(new AbortController());
    const about = { id: 'resp_1', principal: 'key:a', createdAt: clock.now(), previousId: null, input: [] };
    const answer = new ResponseBuilder({
      ...{
        id: about.id,
        createdAt: about.createdAt,
        echo: { background: true },
        background: true,
        seal: false,
        include: { sources: false, results: false },
        messages: [],
        model: 'm',
      },
      events: (async function* (): AsyncGenerator<ModelEvent> {
        yield { type: 'text', text: 'a' };
        await waitForAbort(run.abort.signal);
      })(),
      tools: { toItem: () => ({ type: 'function_call', call_id: '', name: '', arguments: '' }) },
      now: () => clock.now(),
      record: () => {},
      store: (made) => host.store(run, { ...about, fields: made.fields, output: made.output }),
    });
    const { output, ...fields } = answer.toQueued();
    const record = { ...about, output, fields };
    await kept.put(record);
    host.start(record, run, answer, () => expect.fail('it did not fail'));
    const stored = async () => (await kept.get(about.id, 'owner')) as ResponseRecord;
    return { clock, kept, run, stored };
  }

  verifies('http.responses/background', 'says that it goes on', async () => {
    const { clock, run, stored } = await started();
    await waitFor(() => run.status === 'in_progress');
    clock.advance(20_000);
    await waitFor(async () => (await stored()).aliveAt === clock.now());
    expect(isUnfinished(await stored())).toBe(true);
    run.end('cancelled');
    await run.finished;
    expect((await stored()).fields).toMatchObject({ status: 'cancelled' });
  });

  verifies('http.responses/cancel', 'ends when another host has cancelled it', async () => {
    const { clock, kept, run, stored } = await started();
    const record = await stored();
    await kept.put({ ...record, fields: { ...record.fields, status: 'cancelled' } });
    clock.advance(20_000);
    await run.finished;
    expect(run.ending).toBe('cancelled');
    expect((await stored()).fields).toMatchObject({ status: 'cancelled' });
  });

  verifies('http.responses/background', 'ends when its key is revoked', async () => {
    const { clock, run, stored } = await started(true);
    clock.advance(20_000);
    await run.finished;
    expect((await stored()).fields).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('revoked') } });
  });
});
