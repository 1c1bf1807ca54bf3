import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConfigFileState } from '#shared/rpc/methods/config-contracts.ts';
import { mergeThreeWay } from './merge-config.ts';
import type { Json } from '#shared/merge-patch.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { FakeSync } from '../../../../tests/support/fake-sync.ts';
import { createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { createRealBridge } from '../../../../tests/support/real-bridge.ts';

/** A gateway with a bridge whose home has a configuration file. */
async function createGatewayWithFile(text?: string, options: Partial<Parameters<typeof createTestGateway>[0]> = {}) {
  const there = await createRealBridge();
  const path = join(there.home, 'config.json');
  if (text !== undefined) writeFileSync(path, text);
  const clock = new FakeClock();
  const gw = await createTestGateway({ useGuide: true, clock, bridge: there.bridge, ...options });
  const { client, events } = await gw.client();
  const state = (): Promise<ConfigFileState> => client.call('config.file', {});
  const read = (): unknown => JSON.parse(readFileSync(path, 'utf8'));
  const get = async (): Promise<unknown> => (await client.call('config.get', {})).value;
  return {
    ...{ there, gw, client, events, clock, path, state, read, get },
    /** Saves the file as a person would; the next poll sees it. */
    save(next: unknown) {
      writeFileSync(path, typeof next === 'string' ? next : JSON.stringify(next));
      clock.advance(3_000);
    },
    lost: () => readdirSync(there.home).filter((name) => name.startsWith('config.lost')),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      expect(there.bridge.faults).toEqual([]);
      await there[Symbol.asyncDispose]();
    },
  };
}

const PROVIDER = { baseUrl: 'http://models.test/v1' };

verifies(
  'config-file/both-ways',
  'the file’s settings apply, the app’s settings are written to it, and only the owner can read it',
  async () => {
    await using at = await createGatewayWithFile('{"chat": {"systemPrompt": "Be brief."}}');
    await waitFor(async () => (await at.state()).state === 'synced');
    expect(await at.get()).toEqual({ chat: { systemPrompt: 'Be brief.' } });
    await at.client.call('config.patch', { patch: { providers: { mine: PROVIDER } } });
    await waitFor(() => readFileSync(at.path, 'utf8').includes('mine'), 'the file has it');
    expect(at.read()).toEqual({ chat: { systemPrompt: 'Be brief.' }, providers: { mine: PROVIDER } });
    expect(statSync(at.path).mode & 0o777).toBe(0o600);
    at.save({ chat: { systemPrompt: 'Be long.' } });
    await waitFor(async () => JSON.stringify(await at.get()) === '{"chat":{"systemPrompt":"Be long."}}');
    expect(at.events.map(({ event }) => event)).toContain('config.file');
  },
);

verifies('config-file/both-ways', 'without a file one is made, and again where it was deleted', async () => {
  await using at = await createGatewayWithFile();
  await waitFor(() => existsSync(at.path));
  expect(at.read()).toEqual({});
  await at.client.call('config.set', { key: 'chat.systemPrompt', value: 'x' });
  await waitFor(() => readFileSync(at.path, 'utf8').includes('x'));
  renameSync(at.path, `${at.path}.old`);
  at.clock.advance(3_000);
  await waitFor(() => existsSync(at.path));
  expect(at.read()).toEqual({ chat: { systemPrompt: 'x' } });
});

verifies('config-file/keeps-text', 'comments, order and what this build does not know stay; a link stays a link', async () => {
  const text = `{
  // mine
  "zebra": { "stripes": 5 }, /* unknown */
  "chat": {
    "systemPrompt": "old", // here
  },
}
`;
  await using at = await createGatewayWithFile();
  await waitFor(() => existsSync(at.path));
  mkdirSync(join(at.there.home, 'dotfiles'));
  writeFileSync(join(at.there.home, 'dotfiles', 'perch.json'), text);
  renameSync(at.path, `${at.path}.old`);
  symlinkSync(join('dotfiles', 'perch.json'), at.path);
  at.clock.advance(3_000);
  await waitFor(async () => JSON.stringify(await at.get()).includes('stripes'));
  await at.client.call('config.set', { key: 'chat.systemPrompt', value: 'new' });
  await waitFor(() => readFileSync(at.path, 'utf8').includes('new'));
  expect(readFileSync(at.path, 'utf8')).toBe(text.replace('"old"', '"new"'));
  expect(lstatSync(at.path).isSymbolicLink()).toBe(true);
});

verifies(
  'config-file/broken',
  'a syntax error is told with line and column, the last good configuration stays, and the file is left alone',
  async () => {
    await using at = await createGatewayWithFile('{"chat": {"systemPrompt": "good"}}');
    await waitFor(async () => (await at.state()).state === 'synced');
    const broken = '{\n  "chat": {\n    "systemPrompt": "bad" "x": 1\n  }\n}\n';
    at.save(broken);
    // A poll during the save may have read half of the file.
    await waitFor(async () => (await at.state()).problem?.column === 27);
    expect(await at.state()).toEqual({
      state: 'broken',
      path: at.path,
      problem: { message: expect.any(String) as string, line: 3, column: 27 },
    });
    const doctor = async () => (await at.client.call('doctor.run', {})).checks.find(({ id }) => id === 'config-file');
    expect(await doctor()).toMatchObject({
      severity: 'error',
      message: expect.stringContaining('(line 3, column 27)') as string,
      fixHint: expect.any(String) as string,
    });
    expect(await at.get()).toEqual({ chat: { systemPrompt: 'good' } });
    await at.client.call('config.set', { key: 'chat.timeZone', value: 'Europe/Berlin' });
    at.clock.advance(3_000);
    await at.state();
    expect(readFileSync(at.path, 'utf8')).toBe(broken);
    at.save({ chat: { systemPrompt: 'mended' } });
    await waitFor(async () => (await at.state()).state === 'synced');
    expect(await at.get()).toEqual({ chat: { systemPrompt: 'mended', timeZone: 'Europe/Berlin' } });
    expect(await doctor()).toMatchObject({ severity: 'ok' });
  },
);

verifies('config-file/broken', 'an invalid file reports the position of the setting', async () => {
  await using at = await createGatewayWithFile('{}');
  await waitFor(async () => (await at.state()).state === 'synced');
  const doctor = async () => (await at.client.call('doctor.run', {})).checks.find(({ id }) => id === 'config-file');
  const wrong: [text: string, says: string, line: number, column: number][] = [
    ['\uFEFF{\r\n  // mine\r\n  "chat": { "timeZone": "Mars/Olympus" }\r\n}', 'chat.timeZone', 3, 13],
    ['{"providers": {"a": {\n  "baseUrl": "http://models.test/v1",\n  "apiKey": "***"\n}}}', 'providers.a.apiKey', 3, 3],
    ['{"tools": {"policies": {"mcp:a:b": "ask",\n "mcp:a:b.c": "maybe"}}}', 'tools.policies.mcp:a:b.c', 2, 2],
    ['{"tools": {"webFetch": {"allow": [\n  "a.test",\n    7\n]}}}', 'tools.webFetch.allow.1', 3, 5],
    ['{"providers": {\n "a": {"baseUrl": "http://models.test/v1", "extra": 1, "more": 2}}}', 'providers.a.extra', 2, 44],
  ];
  for (const [text, expectedError, line, column] of wrong) {
    at.save(text);
    await waitFor(async () => (await at.state()).problem?.message.includes(expectedError) ?? false, expectedError);
    expect(await at.state()).toMatchObject({ state: 'invalid', problem: { line, column } });
    expect(await doctor()).toMatchObject({ message: expect.stringContaining(`(line ${line}, column ${column})`) as string });
  }
});

verifies('config-file/broken', 'an invalid file reports the setting', async () => {
  await using at = await createGatewayWithFile('{}');
  await waitFor(async () => (await at.state()).state === 'synced');
  for (const [wrong, expectedError] of [
    [{ chat: { timeZone: 'Mars/Olympus' } }, 'chat.timeZone'],
    [{ providers: { a: { ...PROVIDER, apiKey: '***' } } }, 'providers.a.apiKey'],
    [{ providers: { a: { ...PROVIDER, extra: 1 } } }, 'providers.a.extra'],
    [{ chat: { prototype: 1 } }, 'prototype'],
  ] as const) {
    at.save(wrong);
    await waitFor(async () => (await at.state()).problem?.message.includes(expectedError) ?? false, expectedError);
    expect((await at.state()).state).toBe('invalid');
    expect(at.read()).toEqual(wrong);
    expect(await at.get()).toEqual({});
  }
  at.save('[]');
  await waitFor(async () => (await at.state()).state === 'broken');
});

verifies(
  'config-file/conflict',
  'both changed a setting: the file wins, the other value is kept as a copy, and separate changes are merged',
  async () => {
    await using at = await createGatewayWithFile('{"chat": {"systemPrompt": "first"}}');
    await waitFor(async () => (await at.state()).state === 'synced');
    at.there.bridge.detach();
    await at.client.call('config.patch', { patch: { chat: { systemPrompt: 'from the app', timeZone: 'UTC' } } });
    writeFileSync(at.path, '{"chat": {"systemPrompt": "from the file"}, "gateway": {"discover": false}}');
    at.there.bridge.attach();
    await waitFor(async () => JSON.stringify(await at.get()).includes('discover'));
    const agreed = { chat: { systemPrompt: 'from the file', timeZone: 'UTC' }, gateway: { discover: false } };
    expect(await at.get()).toEqual(agreed);
    await waitFor(() => at.lost().length > 0);
    await waitFor(async () => (await at.state()).state === 'synced' && JSON.stringify(at.read()).includes('UTC'));
    expect(at.read()).toEqual(agreed);
    const [lost = ''] = at.lost();
    expect(JSON.parse(readFileSync(join(at.there.home, lost), 'utf8'))).toMatchObject({ chat: { systemPrompt: 'from the app' } });
  },
);

verifies('config-file/secrets', 'a key typed into the file is taken out of it; one from the app never gets into it', async () => {
  await using at = await createGatewayWithFile(JSON.stringify({ providers: { mine: { ...PROVIDER, apiKey: 'sk-typed-into-the-file' } } }));
  await waitFor(() => !readFileSync(at.path, 'utf8').includes('sk-typed'));
  expect(at.read()).toEqual({ providers: { mine: { ...PROVIDER, apiKey: '***' } } });
  expect(await at.gw.vault.secrets.get('providers.mine.apiKey')).toBe('sk-typed-into-the-file');
  await at.client.call('config.patch', { patch: { providers: { other: { ...PROVIDER, apiKey: 'sk-from-the-app' } } } });
  await waitFor(() => readFileSync(at.path, 'utf8').includes('other'));
  for (const name of readdirSync(at.there.home, { recursive: true, encoding: 'utf8' })) {
    const file = join(at.there.home, name);
    if (statSync(file).isFile()) expect(readFileSync(file).includes('sk-'), name).toBe(false);
  }
  expect(at.lost()).toEqual([]);
});

verifies('config-file/one', 'a host that does not serve leaves the file alone', async () => {
  const sync = new FakeSync({ role: 'replica' });
  await using at = await createGatewayWithFile('{"chat": {"systemPrompt": "file"}}', { sync });
  at.clock.advance(3_000);
  await at.client.call('config.set', { key: 'chat.timeZone', value: 'UTC' });
  expect(await at.state()).toEqual({ state: 'off', path: null, problem: null });
  expect(at.read()).toEqual({ chat: { systemPrompt: 'file' } });
  sync.setState({ role: 'holder' });
  at.clock.advance(3_000);
  await waitFor(async () => (await at.state()).state === 'synced');
  expect(await at.get()).toEqual({ chat: { systemPrompt: 'file', timeZone: 'UTC' } });
});

verifies('config/aside', 'a section that does not fit here survives what is written here', async () => {
  await using at = await createGatewayWithFile('{}');
  await at.gw.vault.config.write({ chat: { timeZone: 'Mars/Olympus' }, gateway: {} });
  await at.client.call('secrets.reload', {});
  await at.client.call('config.set', { key: 'gateway.discover', value: false });
  expect(await at.gw.vault.config.read()).toEqual({ chat: { timeZone: 'Mars/Olympus' }, gateway: { discover: false } });
  await at.client.call('config.set', { key: 'chat.timeZone', value: 'UTC' });
  expect(await at.gw.vault.config.read()).toEqual({ chat: { timeZone: 'UTC' }, gateway: { discover: false } });
});

test('a three-way merge takes changes of either side, of any kind, and drops nothing silently', () => {
  const leaf = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant('x'), fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 2 }));
  const document = fc.dictionary(
    fc.constantFrom('a', 'b', 'c'),
    fc.oneof(leaf, fc.dictionary(fc.constantFrom('d', 'e'), leaf)),
  ) as fc.Arbitrary<Json>;
  fc.assert(
    fc.property(document, document, document, (base, ours, theirs) => {
      expect(mergeThreeWay(base, base, theirs)).toEqual({ document: theirs, lost: false });
      expect(mergeThreeWay(base, ours, base)).toEqual({ document: ours, lost: false });
      expect(mergeThreeWay(base, ours, ours)).toEqual({ document: ours, lost: false });
      const { document: merged } = mergeThreeWay(base, ours, theirs);
      expect(mergeThreeWay(theirs, merged, theirs).document).toEqual(merged);
    }),
  );
});

verifies('config-file/broken', 'duplicate names, unclosed braces, other encodings, and a path that is no file', async () => {
  await using at = await createGatewayWithFile('{}');
  await waitFor(async () => (await at.state()).state === 'synced');
  const problem = async (): Promise<string> => (await at.state()).problem?.message ?? '';
  const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const broken: [string, string | Buffer][] = [
    ['duplicate', '{"chat": {"systemPrompt": "x"},\n "chat": {"systemPrompt": "y"}}'],
    ['levels', deep(101)],
    ['levels', deep(200_000)],
    ['UTF-8', Buffer.from('{"chat": {"systemPrompt": "Gr\xfc\xdfe"}}', 'latin1')],
    ['bytes', `{}${' '.repeat(4 * 1024 * 1024)}`],
  ];
  for (const [expectedError, bytes] of broken) {
    writeFileSync(at.path, bytes);
    at.clock.advance(3_000);
    await waitFor(async () => (await problem()).includes(expectedError), expectedError);
    expect(readFileSync(at.path)).toEqual(Buffer.from(bytes));
    at.save({});
    await waitFor(async () => (await at.state()).state === 'synced');
  }
  rmSync(at.path);
  if (process.platform !== 'win32') {
    execFileSync('mkfifo', [at.path]);
    at.clock.advance(3_000);
    await waitFor(async () => (await problem()).includes('not a regular file'), 'a pipe');
  }
});

verifies('config-file/keeps-text', 'the mark that editors of Windows begin a file with', async () => {
  await using at = await createGatewayWithFile('\uFEFF{"chat": {"systemPrompt": "x"}} // mine\r\n');
  await waitFor(async () => (await at.state()).state === 'synced');
  await at.client.call('config.set', { key: 'chat.systemPrompt', value: 'y' });
  await waitFor(() => readFileSync(at.path, 'utf8') === '\uFEFF{"chat": {"systemPrompt": "y"}} // mine\r\n', 'the file has it');
});

verifies('config-file/both-ways', 'a failed write is repeated once possible', async () => {
  await using at = await createGatewayWithFile('{"chat": {"systemPrompt": "x"}}');
  await waitFor(async () => (await at.state()).state === 'synced');
  // In the place of what the bridge has to write first.
  const blockingFile = join(at.there.home, 'config.writing.json');
  mkdirSync(blockingFile);
  await at.client.call('config.set', { key: 'chat.systemPrompt', value: 'y' });
  await waitFor(async () => (await at.state()).state === 'failed');
  expect(at.read()).toEqual({ chat: { systemPrompt: 'x' } });
  rmdirSync(blockingFile);
  at.clock.advance(3_000);
  await waitFor(async () => (await at.state()).state === 'synced');
  expect(at.read()).toEqual({ chat: { systemPrompt: 'y' } });
});
