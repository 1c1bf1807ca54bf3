import { describe, expect, it } from 'vitest';
import { dumpDatabase } from '../storage/fixture.ts';
import { verifies } from '../../../tests/requirements.ts';
import { createTestGateway, waitFor } from '../../../tests/support/test-gateway.ts';
import { sendRawRequest } from '../../../tests/support/raw-connection.ts';

const SECRET = 'sk-very-plain-secret';

describe('config', () => {
  verifies('config/get-set-patch', 'entries by dotted path, the whole, and changes that are told', async () => {
    await using gw = await createTestGateway();
    const { client, events } = await gw.client();
    const get = async (key?: string) => client.call('config.get', key === undefined ? {} : { key });
    const { value: before, hash } = await get();
    expect(before).toEqual({ providers: { test: { baseUrl: 'http://model.test/v1' } }, chat: { model: 'test/scripted', titles: false } });
    const set = await client.call('config.set', { key: 'chat.systemPrompt', value: 'Be brief' });
    expect(set).toEqual({ ok: true, hash: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(set.hash).not.toBe(hash);
    expect(await get('chat')).toEqual({ value: { model: 'test/scripted', titles: false, systemPrompt: 'Be brief' }, hash: set.hash });
    expect((await get('chat.systemPrompt')).value).toBe('Be brief');
    await waitFor(() => events.some(({ event, payload }) => event === 'config.changed' && payload.hash === set.hash));
    // `set` replaces the value; `patch` merges, and null deletes.
    await client.call('config.set', { key: 'chat', value: { model: 'test/other' } });
    expect((await get('chat')).value).toEqual({ model: 'test/other' });
    await client.call('config.patch', {
      patch: { chat: { systemPrompt: 'Be kind', model: null }, channels: { teams: { 'kept as': ['it', { is: 1 }] } } },
    });
    expect((await get()).value).toEqual({
      providers: { test: { baseUrl: 'http://model.test/v1' } },
      chat: { systemPrompt: 'Be kind' },
      channels: { teams: { 'kept as': ['it', { is: 1 }] } },
    });
    await client.call('config.set', { key: 'channels.teams', value: null });
    for (const key of ['future', 'channels.teams', 'chat.systemPrompt.length', 'chat.toString', 'providers.none', 'chat.model.x']) {
      await expect(get(key), key).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    for (const key of ['', '.', 'chat.', '.chat', 'a..b']) await expect(get(key), key).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(client.request('config.set', { key: 'chat.model' })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('value'),
    });
    await using next = await createTestGateway({ vault: gw.vault, useGuide: true });
    const { client: later } = await next.client();
    expect((await later.call('config.get', { key: 'chat' })).value).toEqual({ systemPrompt: 'Be kind' });
  });

  verifies('config/patch', 'one wrong entry and nothing is changed; a stale hash is refused with the new one', async () => {
    await using gw = await createTestGateway();
    const { client, events } = await gw.client();
    const before = await client.call('config.get', {});
    const eventCount = events.length;
    const wrong: [patch: Record<string, unknown>, message: string][] = [
      [{ chat: { model: 'a/b' }, providers: { 'no id': { baseUrl: 'http://x.test' } } }, 'providers'],
      [{ chat: { model: 'a/b' }, providers: { x: { baseUrl: 'ftp://x.test' } } }, 'providers.x.baseUrl'],
      [{ chat: { model: 'a/b' }, providers: { x: {} } }, 'providers.x.baseUrl'],
      [{ chat: { model: 'a/b' }, providers: { x: { baseUrl: 'http://x.test', apiKey: SECRET, more: 1 } } }, 'more'],
      // Such a value cannot be sent, which looked like an unreachable server.
      [
        { chat: { model: 'a/b' }, providers: { x: { baseUrl: 'http://x.test', apiKey: 'sk-\u200bcopied' } } },
        '`providers.x.apiKey` contains an invalid character',
      ],
      [
        { chat: { model: 'a/b' }, providers: { x: { baseUrl: 'http://x.test', apiKey: '\nsk-after-a-line' } } },
        '`providers.x.apiKey` contains an invalid character',
      ],
      [{ chat: { model: 'a/b' }, agents: { main: { temperature: 3 } } }, 'agents.main.temperature'],
      [{ chat: { model: 'a/b' }, providers: [] }, 'providers'],
      [{ chat: 'x' }, 'chat'],
      [{ chat: { model: 5 } }, 'chat.model'],
    ];
    for (const [patch, message] of wrong) {
      await expect(client.call('config.patch', { patch }), JSON.stringify(patch)).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining(message),
      });
    }
    for (const patch of [null, [], 'x', 5])
      await expect(client.request('config.patch', { patch })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect(await client.call('config.get', {})).toEqual(before);
    expect(events.slice(eventCount)).toEqual([]);
    const first = await client.call('config.patch', { patch: { chat: { model: 'a/b' } }, baseHash: before.hash });
    await expect(client.call('config.patch', { patch: { chat: { model: 'c/d' } }, baseHash: before.hash })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('baseHash'),
      extra: { details: { hash: first.hash } },
    });
    // Of two writers with the same base, one wins and the other gets an error.
    const both = await Promise.allSettled(
      ['e/f', 'g/h'].map((model) => client.call('config.patch', { patch: { chat: { model } }, baseHash: first.hash })),
    );
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect((await client.call('config.get', { key: 'chat.model' })).value).toBe('e/f');
  });

  verifies('config/secrets', 'never readable, kept by `***`, gone when emptied or with their provider', async () => {
    await using gw = await createTestGateway({ name: 'secrets-kept' });
    const { client, events } = await gw.client();
    const provider = { name: 'P', baseUrl: 'http://p.test/v1', apiKey: SECRET };
    const answers: unknown[] = [await client.call('config.patch', { patch: { providers: { p: provider } } })];
    const reads = async () => {
      for (const key of [undefined, 'providers', 'providers.p', 'providers.p.apiKey'])
        answers.push(await client.call('config.get', key === undefined ? {} : { key }));
      answers.push(await client.call('models.providers', { refresh: true }), await client.call('models.list', {}));
      return (await client.call('config.get', { key: 'providers.p.apiKey' })).value;
    };
    const key = () => gw.vault.secrets.get('providers.p.apiKey');
    expect(await reads()).toBe('***');
    expect(await key()).toBe(SECRET);

    const { value: whole } = await client.call('config.get', {});
    await client.request('config.patch', { patch: whole });
    await client.call('config.patch', { patch: { providers: { p: { name: 'Renamed', apiKey: '***' } } } });
    await client.call('config.set', { key: 'providers.p.apiKey', value: '***' });
    await client.call('config.set', { key: 'providers.p', value: { ...provider, apiKey: '***' } });
    expect(await key()).toBe(SECRET);
    // The bytes of the database have it nowhere in the clear, nor do answers, events and faults.
    expect(collectText(await dumpDatabase('secrets-kept'))).not.toContain(SECRET);
    expect(collectText([answers, events, gw.faults])).not.toContain(SECRET);

    await client.call('config.set', { key: 'providers.p.apiKey', value: `${SECRET}-2` });
    expect(await key()).toBe(`${SECRET}-2`);
    expect(await reads()).toBe('***');
    expect(collectText(await dumpDatabase('secrets-kept'))).not.toContain(SECRET);
    await client.call('config.patch', { patch: { providers: { p: { apiKey: '' } } } });
    expect(await key()).toBeUndefined();
    expect(await client.call('config.get', { key: 'providers.p.apiKey' })).toMatchObject({ value: null, isDefault: true });

    for (const removal of [{ providers: { p: { apiKey: null } } }, { providers: { p: null } }, { providers: null }]) {
      await client.call('config.patch', { patch: { providers: { p: provider } } });
      await client.call('config.patch', { patch: removal });
      expect(await key()).toBeUndefined();
    }
    expect(collectText(await dumpDatabase('secrets-kept'))).not.toContain(SECRET);
  });

  verifies('config/defaults', 'a setting that is not set has its default, whether the schema has it or code takes its place', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const defaults: Record<string, unknown> = {
      'chat.maxSteps': 50,
      'chat.maxMinutes': 120,
      'chat.smallModel': 'auto',
      'chat.fallbacks': [],
      'chat.timeZone': null,
      'memory.recall.max_summary_chars': 220,
      'dreaming.scoringWeights.frequency': 0.25,
      'heartbeat.everyMs': 1_800_000,
      'browser.allow': [],
      'gateway.rateLimit': { perMinute: 600, burst: 100 },
      'gateway.upstream.idleMs': 60_000,
      'gateway.logLevel': 'info',
      'tools.execTimeoutMs': 600_000,
      'tools.policies': {},
      'workspaces.mirror': true,
      'providers.test.apiKey': null,
    };
    for (const [key, value] of Object.entries(defaults)) {
      expect(await client.call('config.get', { key }), key).toEqual({ value, isDefault: true, hash: expect.any(String) });
    }
    expect((await client.call('config.get', { key: 'chat.systemPrompt' })).value).toEqual(expect.stringMatching(/./));
    await client.call('config.patch', { patch: { gateway: { upstream: { failures: 2 } }, memory: { recall: { enabled: false } } } });
    expect(await client.call('config.get', { key: 'gateway.upstream' })).toEqual({ value: { failures: 2 }, hash: expect.any(String) });
    expect((await client.call('config.get', { key: 'gateway.upstream.pauseMs' })).value).toBe(30_000);
    expect((await client.call('config.get', { key: 'memory.recall.query_mode' })).value).toBe('RECENT');
    await client.call('config.set', { key: 'gateway.logLevel', value: 'debug' });
    expect(await client.call('config.get', { key: 'gateway.logLevel' })).not.toHaveProperty('isDefault');
  });

  verifies('config/unknown', 'refused, with the nearest setting; those of the file stay, and can be deleted', async () => {
    const stored = { chat: { model: 'a/b', colour: 'red' }, later: { x: 1, apiKey: SECRET } };
    await using gw = await createTestGateway();
    await gw.vault.config.write(stored);
    await using next = await createTestGateway({ vault: gw.vault, useGuide: true });
    const { client } = await next.client();
    const before = await client.call('config.get', {});
    const refused = async (patch: Record<string, unknown>, message: string): Promise<void> => {
      await expect(client.call('config.patch', { patch }), message).rejects.toMatchObject({ code: 'INVALID_PARAMS', message });
    };
    await refused({ chat: { modle: 'a/c' } }, 'Unknown setting "chat.modle". The nearest is "chat.model".');
    await refused({ ChatModel: 1 }, 'Unknown setting "ChatModel". The nearest is "chat.model".');
    await refused(
      { gateway: { rateLimit: { permin: 1 } } },
      'Unknown setting "gateway.rateLimit.permin". The nearest is "gateway.rateLimit.perMinute".',
    );
    await refused(
      { agents: { helper: { modell: 'a/b' } } },
      'Unknown setting "agents.helper.modell". The nearest is "agents.helper.model".',
    );
    await refused(
      { channels: { telegram: { bottoken: 'x' } } },
      'Unknown setting "channels.telegram.bottoken". The nearest is "channels.telegram.botToken".',
    );
    await refused(
      { tools: { mcpServers: { one: { comand: 'x' } } } },
      'Unknown setting "tools.mcpServers.one.comand". The nearest is "tools.mcpServers.one.command".',
    );
    await refused({ later: { x: 2 } }, expect.stringContaining('Unknown setting "later"') as unknown as string);
    await expect(client.call('config.set', { key: 'chat.modle', value: 'a/c' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(client.call('config.set', { key: 'chat', value: { model: 'a/c', mood: 'good' } })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
    });
    await expect(client.call('config.get', { key: 'chat.modle' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'Unknown setting "chat.modle". The nearest is "chat.model".',
    });
    expect(await client.call('config.get', {})).toEqual(before);
    // A value that was read can be written back, hidden parts included.
    await client.call('config.patch', { patch: before.value as Record<string, unknown> });
    await client.call('config.set', { key: 'chat', value: { colour: 'red', model: 'a/c' } });
    expect(await gw.vault.config.read()).toEqual({ ...stored, chat: { model: 'a/c', colour: 'red' } });
    await client.call('config.set', { key: 'later', value: null });
    await client.call('config.patch', { patch: { chat: { colour: null } } });
    expect(await gw.vault.config.read()).toEqual({ chat: { model: 'a/c' } });
  });

  verifies(
    'config/unknown-secrets',
    'hidden from everyone by name and by form; in known settings from those who may not change them',
    async () => {
      const form = `sk-${'a'.repeat(20)}`;
      const stored = {
        plugin: { signingKey: SECRET, auth: { refresh_token: SECRET, more: [{ password: SECRET }] }, note: `Use ${form}`, tokens: 5 },
        clientSecret: { one: SECRET },
        channels: { teams: { enabled: false, recoveryKey: SECRET, room: 'hall' } },
        agents: { secretary: { name: 'Secretary', systemPrompt: `Use ${form}` } },
        tools: { policies: { read_secret: 'ask' } },
      };
      const hidden = {
        plugin: { signingKey: '***', auth: { refresh_token: '***', more: [{ password: '***' }] }, note: 'Use ***', tokens: 5 },
        clientSecret: '***',
        channels: { teams: { enabled: false, recoveryKey: '***', room: 'hall' } },
        agents: { secretary: { name: 'Secretary', systemPrompt: 'Use ***' } },
        tools: { policies: { read_secret: 'ask' } },
      };
      await using gw = await createTestGateway();
      await gw.vault.config.write(stored);
      await using next = await createTestGateway({ vault: gw.vault, useGuide: true });
      const { client } = await next.client();
      const { client: reader } = await next.client({ scopes: ['read'] });
      const { client: writer } = await next.client({ scopes: ['write'] });
      for (const each of [reader, writer, client]) {
        const agents = each === client ? stored.agents : hidden.agents;
        expect((await each.call('config.get', {})).value).toMatchObject({ ...hidden, agents });
        expect((await each.call('config.get', { key: 'plugin.auth.refresh_token' })).value).toBe('***');
        expect((await each.call('config.get', { key: 'channels.teams' })).value).toEqual(hidden.channels.teams);
        await expect(each.call('config.get', { key: 'clientSecret.one' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      }
      // A hidden value that is written back stays.
      await client.call('config.set', { key: 'channels.teams', value: { enabled: false, recoveryKey: '***', room: 'yard' } });
      expect(await gw.vault.config.read()).toEqual({
        ...stored,
        channels: { teams: { enabled: false, recoveryKey: SECRET, room: 'yard' } },
      });
    },
  );

  verifies('config/secrets', '`***` without a stored key is refused, since it would be taken for a key', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const patch = { providers: { p: { baseUrl: 'http://p.test/v1', apiKey: '***' } } };
    await expect(client.call('config.patch', { patch })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('providers.p.apiKey'),
    });
    await expect(client.call('config.set', { key: 'providers.test.apiKey', value: '***' })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
    });
    await expect(client.call('config.get', { key: 'providers.p' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies(
    'config/secrets',
    'a key that can no longer be decrypted is told as none, and does not keep the gateway from starting',
    async () => {
      await using gw = await createTestGateway();
      const { client } = await gw.client();
      await client.call('config.patch', { patch: { providers: { p: { baseUrl: 'http://p.test/v1', apiKey: SECRET } } } });
      const vault = { ...gw.vault, secrets: { ...gw.vault.secrets, get: () => Promise.reject(new Error('unreadable')) } };
      await using next = await createTestGateway({ vault, useGuide: true });
      const { client: later } = await next.client();
      expect((await later.call('config.get', { key: 'providers.p' })).value).toEqual({ baseUrl: 'http://p.test/v1' });
      expect(next.faults).toHaveLength(1);
      await later.call('config.set', { key: 'providers.p.apiKey', value: SECRET });
      expect((await later.call('config.get', { key: 'providers.p.apiKey' })).value).toBe('***');
    },
  );

  verifies(
    'config/get-set-patch',
    'of a stored document that another build wrote, the parts that fit are used, and the others stay',
    async () => {
      await using gw = await createTestGateway();
      await gw.vault.config.write({ chat: { model: 'a/b' }, providers: 'something else', later: { x: 1 } });
      await using next = await createTestGateway({ vault: gw.vault, useGuide: true });
      const { client } = await next.client();
      expect((await client.call('config.get', {})).value).toEqual({ chat: { model: 'a/b' }, later: { x: 1 } });
      await client.call('config.set', { key: 'chat.timeZone', value: 'UTC' });
      const providers = 'something else';
      expect(await gw.vault.config.read()).toEqual({ chat: { model: 'a/b', timeZone: 'UTC' }, providers, later: { x: 1 } });
    },
  );

  verifies('config/secrets', 'a write that fails leaves the key as it was', async () => {
    await using gw = await createTestGateway();
    let full = false;
    const config = {
      ...gw.vault.config,
      write: (...change: Parameters<typeof gw.vault.config.write>) =>
        full ? Promise.reject(new Error('no room')) : gw.vault.config.write(...change),
    };
    await using next = await createTestGateway({ vault: { ...gw.vault, config } });
    const { client } = await next.client();
    await client.call('config.patch', { patch: { providers: { p: { baseUrl: 'http://p.test/v1', apiKey: SECRET } } } });
    full = true;
    for (const patch of [{ providers: { p: { apiKey: 'other' } } }, { providers: { p: null } }, { providers: { p: { apiKey: '' } } }]) {
      await expect(client.call('config.patch', { patch })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
      expect(await gw.vault.secrets.get('providers.p.apiKey')).toBe(SECRET);
      expect((await client.call('config.get', { key: 'providers.p.apiKey' })).value).toBe('***');
    }
  });

  verifies('config/prototype', 'refused on every way in, at any depth, and nothing is changed', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const before = await client.call('config.get', {});
    const writeMethods: [method: string, params: (name: string) => string][] = [
      ['config.get', (name) => `{"key":"${name}"}`],
      ['config.get', (name) => `{"key":"chat.${name}.polluted"}`],
      ['config.get', (name) => `{"key":"chat","${name}":{"polluted":1}}`],
      ['config.set', (name) => `{"key":"${name}","value":{"polluted":1}}`],
      ['config.set', (name) => `{"key":"${name}.polluted","value":1}`],
      ['config.set', (name) => `{"key":"chat.${name}.polluted","value":1}`],
      ['config.set', (name) => `{"key":"chat.${name}","value":null}`],
      ['config.set', (name) => `{"key":"chat","value":{"${name}":{"polluted":1}}}`],
      ['config.set', (name) => `{"key":"future","value":[[{"a":{"${name}":{"polluted":1}}}]]}`],
      ['config.set', (name) => `{"key":"chat.model","value":"a/b","${name}":{"polluted":1}}`],
      ['config.patch', (name) => `{"patch":{"${name}":{"polluted":1}}}`],
      ['config.patch', (name) => `{"patch":{"${name}":null}}`],
      ['config.patch', (name) => `{"patch":{"chat":{"model":"a/b","${name}":{"polluted":1}}}}`],
      ['config.patch', (name) => `{"patch":{"providers":{"${name}":{"baseUrl":"http://x.test"}}}}`],
      ['config.patch', (name) => `{"patch":{"agents":{"${name}":{"name":"x"}}}}`],
      ['config.patch', (name) => `{"patch":{"future":{"deep":[{"er":{"${name}":{"polluted":1}}}]}}}`],
      ['config.patch', (name) => `{"patch":{"chat":{"model":"a/b"}},"${name}":{"polluted":1}}`],
    ];
    for (const name of ['__proto__', 'constructor', 'prototype', '\\u005f_proto__']) {
      for (const [method, params] of writeMethods) {
        const answer = await sendRawRequest(gw, method, params(name));
        expect(answer, `${method} ${params(name)}`).toMatchObject({ ok: false, error: { code: 'INVALID_PARAMS' } });
        // The error names the name.
        if (!answer.ok) expect(answer.error.message).toContain(JSON.parse(`"${name}"`));
      }
    }
    expect(await client.call('config.get', {})).toEqual(before);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(gw.faults).toEqual([]);
  });

  verifies(['config/prototype', 'config/patch'], 'a value nested without end is refused, not a fault', async () => {
    await using gw = await createTestGateway();
    const deep = `${'['.repeat(90_000)}${']'.repeat(90_000)}`;
    for (const [method, params] of [
      ['config.set', `{"key":"future","value":${deep}}`],
      ['config.patch', `{"patch":{"future":${deep}}}`],
      ['config.patch', `{"patch":${'{"a":'.repeat(90_000)}1${'}'.repeat(90_000)}}`],
      ['config.set', `{"key":"a${'.a'.repeat(140)}","value":1}`],
    ] as const) {
      expect(await sendRawRequest(gw, method, params)).toMatchObject({
        ok: false,
        error: { code: 'INVALID_PARAMS', message: expect.stringContaining('deep') },
      });
    }
    expect(gw.faults).toEqual([]);
  });

  verifies('secrets.reload/reads', 'what was put into the store from elsewhere', async () => {
    await using gw = await createTestGateway();
    const { client, events } = await gw.client();
    expect(await client.call('secrets.reload', {})).toEqual({ reloaded: true, count: 0 });
    await client.call('config.patch', { patch: { providers: { test: { apiKey: 'first' } } } });
    await client.call('chat.send', { message: 'hi' });
    await gw.vault.secrets.set('providers.test.apiKey', SECRET);
    const eventCount = events.length;
    expect(await client.call('secrets.reload', {})).toEqual({ reloaded: true, count: 1 });
    expect(events.slice(eventCount).some(({ event }) => event === 'config.changed')).toBe(true);
    await client.call('chat.send', { message: 'hi' });
    expect(gw.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', `Bearer ${SECRET}`]);
    expect(JSON.stringify(await client.call('config.get', {}))).not.toContain(SECRET);
    await expect(client.request('secrets.reload', { x: 1 })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    const { client: writer } = await gw.client({ scopes: ['write'] });
    await expect(writer.call('secrets.reload', {})).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  });

  verifies('config/key-and-address', 'another server gets the key only when it is given again', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('config.patch', { patch: { providers: { mine: { baseUrl: 'https://one.test/v1', apiKey: SECRET } } } });
    const before = await client.call('config.get', {});
    const refused = async (patch: object): Promise<void> => {
      await expect(client.call('config.patch', { patch: { providers: { mine: patch } } }), JSON.stringify(patch)).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringMatching(/^`providers\.mine\.apiKey` must be entered again/) as string,
      });
      expect(await client.call('config.get', {})).toEqual(before);
    };
    for (const baseUrl of ['https://two.test/v1', 'http://one.test/v1', 'https://one.test:8443/v1', 'https://one.test.evil.test/v1']) {
      await refused({ baseUrl });
      await refused({ baseUrl, apiKey: '***' });
    }
    // The kind brings an address with it.
    await refused({ kind: 'openai', baseUrl: null });
    const expectedValue = { key: 'providers.mine', value: { baseUrl: 'https://two.test/v1', apiKey: '***' } };
    await expect(client.call('config.set', expectedValue)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    // The same server under another path, a new key, or none: all well.
    await client.call('config.patch', { patch: { providers: { mine: { baseUrl: 'https://one.test/other/v2' } } } });
    await client.call('config.patch', { patch: { providers: { mine: { baseUrl: 'https://two.test/v1', apiKey: 'sk-new' } } } });
    await client.call('config.patch', { patch: { providers: { mine: { baseUrl: 'https://three.test/v1', apiKey: null } } } });
    expect((await client.call('config.get', { key: 'providers.mine' })).value).toEqual({ baseUrl: 'https://three.test/v1' });
  });

  it('a provider of a known kind needs no address; an unknown kind is refused', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('config.patch', { patch: { providers: { claude: { kind: 'anthropic', apiKey: SECRET } } } });
    expect(gw.gateway.origins()).toContain('https://api.anthropic.com');
    for (const [provider, path] of [
      [{ kind: 'openai-compatible' }, 'providers.x.baseUrl'],
      [{ kind: 'cohere', baseUrl: 'https://x.test' }, 'providers.x.kind'],
      [{ kind: 'guide' }, 'providers.x.kind'],
    ] as const) {
      await expect(client.call('config.patch', { patch: { providers: { x: provider } } })).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining(path),
      });
    }
  });
});

/** Every text in a value, including decoded bytes. */
function collectText(value: unknown): string {
  if (typeof value === 'string') return `${value}\n`;
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('latin1');
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1');
  if (value instanceof Error) return `${value.message}${value.stack}${collectText(value.cause)}`;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([name, child]) => `${name}\n${collectText(child)}`)
    .join('');
}
