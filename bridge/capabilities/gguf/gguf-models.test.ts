import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from '#shared/rpc/zod.ts';
import { verifies } from '../../../tests/requirements.ts';
import { installSharedExtra } from '../../../tests/support/gguf-extra.ts';
import { createGgufHome, listRunners, TINY_MODEL } from '../../../tests/support/gguf-home.ts';
import type { OptionalPackage } from '../../extras/extra.ts';

const { extra, missing } = await installSharedExtra();
const OTHER = 'perch/tiny/other.gguf';

describe.skipIf(missing !== undefined)(`GGUF models${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  verifies('gguf/answer', 'streamed, with true figures; the second time it has read the beginning before', async () => {
    await using at = createGgufHome(extra);
    at.add();
    expect(at.gguf.pid).toBeUndefined();
    const first = await at.generate();
    expect(first).toMatchObject({ finish: 'length', calls: [], outputTokens: 12, cachedTokens: 0 });
    expect(first.texts.length).toBeGreaterThan(2);
    expect(first.inputTokens).toBeGreaterThan(0);
    const again = await at.generate();
    expect(again.text).toBe(first.text);
    expect(again.cachedTokens).toBeGreaterThan(0);
    expect(again.inputTokens).toBe(first.inputTokens);
  });

  verifies('gguf/answer', 'by the template of the file', async () => {
    await using at = createGgufHome(extra);
    const template = `{% for m in messages %}<<<<<{{ m.role }}>>>>>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<<<<<assistant>>>>>{% endif %}`;
    at.add(TINY_MODEL, { chatTemplate: template });
    at.add(OTHER);
    const [long, short] = [await at.generate(), await at.generate({}, { model: OTHER })];
    // Almost every letter is a token, and this template is longer than llama's usual one.
    expect(long.inputTokens).toBeGreaterThan(short.inputTokens + 10);
  });

  verifies('gguf/abort', 'in the middle of an answer', async () => {
    await using at = createGgufHome(extra);
    at.add();
    const aborter = new AbortController();
    const reason = new Error('not wanted');
    const ended = at.generate({ maxTokens: 2000 }, { signal: aborter.signal, told: () => aborter.abort(reason) });
    await expect(ended).rejects.toBe(reason);
    const { pid } = at.gguf;
    expect(pid).toBeDefined();
    expect((await at.generate()).outputTokens).toBe(12);
    expect(at.gguf.pid).toBe(pid);
  });

  verifies('gguf/turns', 'two callers, two models, one process', async () => {
    await using at = createGgufHome(extra);
    at.add();
    at.add(OTHER, { seed: 2 });
    const order: string[] = [];
    const [one, two] = await Promise.all([
      at.generate({}, { told: () => order.push('one') }),
      at.generate({}, { model: OTHER, told: () => order.push('two') }),
    ]);
    expect(one.text).not.toBe(two.text);
    expect(order).toEqual([...one.texts.map(() => 'one'), ...two.texts.map(() => 'two')]);
    expect(order.length).toBe(one.texts.length + two.texts.length);
    expect(await listRunners()).toEqual([at.gguf.pid]);
    // A waiting caller that cancels does not delay the others.
    const aborter = new AbortController();
    const held = at.generate({ maxTokens: 200 });
    const left = at.generate({}, { signal: aborter.signal });
    aborter.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await held;
  });

  verifies('gguf/turns', 'an idle model goes', async () => {
    await using at = createGgufHome(extra, { idleMs: 50 });
    at.add();
    await at.generate();
    await expect.poll(() => at.gguf.pid).toBeUndefined();
    await expect.poll(listRunners).toEqual([]);
  });

  verifies('gguf/json', 'any, and as a schema wants it', async () => {
    await using at = createGgufHome(extra);
    at.add();
    const schema = {
      type: 'object',
      properties: { done: { type: 'boolean' }, mood: { enum: ['good', 'bad'] } },
      required: ['done', 'mood'],
      additionalProperties: false,
    };
    for (const seed of [1, 2, 3]) {
      const { text, finish } = await at.generate({ json: schema, seed, maxTokens: 400 });
      expect(finish).toBe('stop');
      expect(z.strictObject({ done: z.boolean(), mood: z.enum(['good', 'bad']) }).safeParse(JSON.parse(text)).success).toBe(true);
    }
    const nullable = {
      anyOf: [{ type: 'array', items: { $ref: '#/definitions/word' }, maxItems: 2 }],
      definitions: { word: { const: 'hm' } },
    };
    expect(
      z
        .array(z.literal('hm'))
        .max(2)
        .safeParse(JSON.parse((await at.generate({ json: nullable, maxTokens: 400 })).text)).success,
    ).toBe(true);
    expect((await at.generate({ json: true, maxTokens: 20 })).text).toMatch(/^\s*[{["\d\-tfn]/);
  });

  verifies('gguf/tools', 'calls and results before, tools to choose from', async () => {
    await using at = createGgufHome(extra);
    at.add();
    const tools = [{ name: 'look', description: 'Looks', schema: { type: 'object', properties: { at: { enum: ['a', 'b'] } } } }];
    const plain = await at.generate();
    const offered = await at.generate({ tools });
    expect(offered.inputTokens).toBeGreaterThan(plain.inputTokens);
    const called = await at.generate({
      tools,
      messages: [
        { role: 'user', text: 'Hi' },
        { role: 'assistant', text: '', toolCalls: [{ id: '1', tool: 'look', args: { at: 'a' } }] },
        { role: 'tool', text: 'a tree', toolCallId: '1' },
      ],
    });
    expect(called.inputTokens).toBeGreaterThan(offered.inputTokens);
    const stray = at.generate({ messages: [{ role: 'tool', text: 'x', toolCallId: 'none' }] });
    await expect(stray).rejects.toMatchObject({ code: 'INVALID_PARAMS', extra: { details: { field: 'messages' } } });
  });

  verifies('gguf/embed', 'the same text has the same vector', async () => {
    await using at = createGgufHome(extra);
    at.add();
    const signal = new AbortController().signal;
    const texts = ['a cat', 'a cat', 'a stone'];
    const { vectors, tokens } = await at.gguf.handlers['gguf.embed']({ model: TINY_MODEL, texts }, { signal, send: () => {} });
    expect(vectors.map(({ length }) => length)).toEqual([64, 64, 64]);
    expect(vectors[0]).toEqual(vectors[1]);
    expect(vectors[0]).not.toEqual(vectors[2]);
    expect(tokens).toBeGreaterThan(10);
  });

  verifies('gguf/refusals', 'each with its code', async () => {
    await using at = createGgufHome(extra, { freeBytes: () => 100_000 });
    at.add();
    await expect(at.generate({}, { model: 'perch/tiny/none.gguf' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(at.generate({}, { model: '../../etc/passwd' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(at.generate()).rejects.toMatchObject({
      message: /of memory, but only 0\.0 GB is free/,
      extra: { details: { reason: 'memory' } },
    });
    expect(at.gguf.pid).toBeUndefined();
    await using roomy = createGgufHome(extra);
    roomy.add();
    const long = roomy.generate({ messages: [{ role: 'user', text: 'x'.repeat(5000) }] });
    await expect(long).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: /5\d\d\d tokens\. The model’s limit is 2048/ });
    const odd = roomy.generate({ json: { type: 'object', properties: { a: { type: 'integer', minimum: 3 } } } });
    await expect(odd).rejects.toMatchObject({ code: 'INVALID_PARAMS', extra: { details: { field: 'responseFormat' } } });
    expect(roomy.logged).toEqual([]);
  });

  verifies('gguf/killed', 'in the middle of an answer', async () => {
    await using at = createGgufHome(extra);
    at.add();
    let killed = false;
    const ended = at.generate(
      { maxTokens: 2000 },
      {
        told: () => {
          if (!killed && at.gguf.pid !== undefined) process.kill(at.gguf.pid, 'SIGKILL');
          killed = true;
        },
      },
    );
    await expect(ended).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: /stopped unexpectedly \(SIGKILL\)\. It restarts on the next call/,
    });
    expect((await at.generate()).outputTokens).toBe(12);
  });

  verifies('gguf/killed', 'with the bridge', async () => {
    const bridge = spawn(process.execPath, [join(import.meta.dirname, '../../../tests/support/gguf-holder.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(bridge.stdout, 'data')) as [Buffer];
    const { home, pid } = z.object({ home: z.string(), pid: z.number() }).parse(JSON.parse(line.toString()));
    expect(isRunning(pid)).toBe(true);
    bridge.kill('SIGKILL');
    await expect.poll(() => isRunning(pid)).toBe(false);
    rmSync(home, { recursive: true, maxRetries: 20, retryDelay: 50 });
  });

  verifies('gguf/killed', 'a model that is silent for too long', async () => {
    await using at = createGgufHome(extra, { silenceMs: 5000 });
    at.add();
    let stopped = false;
    const ended = at.generate(
      { maxTokens: 2000 },
      {
        told: () => {
          if (!stopped && at.gguf.pid !== undefined) process.kill(at.gguf.pid, 'SIGSTOP');
          stopped = true;
        },
      },
    );
    await expect(ended).rejects.toMatchObject({ message: /didn’t respond for 5 s and was stopped/ });
    await expect.poll(listRunners).toEqual([]);
  });
});

verifies('gguf/refusals', 'without the extra', async () => {
  const none: Pick<OptionalPackage, 'state' | 'entry' | 'spec'> = {
    state: () => Promise.resolve({ state: 'missing' }),
    entry: '',
    spec: extra.spec,
  };
  await using at = createGgufHome(none);
  at.add();
  await expect(at.generate()).rejects.toMatchObject({ message: /is not installed\. Install it with `.*models runtime install`/ });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
