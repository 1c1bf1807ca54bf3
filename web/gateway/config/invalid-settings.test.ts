import { IDBFactory } from 'fake-indexeddb';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { systemClock } from '#shared/async/clock.ts';
import { isObject, type Json } from '#shared/merge-patch.ts';
import { separateUnknown, mergeUnknown, extractUnknown } from './unknown-settings.ts';
import { settingsSchema } from './settings-schema.ts';
import type { Vault } from '../storage/vault-interface.ts';
import { openVault } from '../storage/open-vault.ts';
import { verifies } from '../../../tests/requirements.ts';
import { type ModelScript, type TestGateway, createTestGateway, waitFor } from '../../../tests/support/test-gateway.ts';

const PROVIDERS = { test: { baseUrl: 'http://model.test/v1' } };

/** A gateway that finds this configuration, as an earlier or a later version stored it. */
async function createGatewayWithConfig(
  config: Json,
  change: (vault: Vault) => Promise<unknown> = async () => {},
  model?: ModelScript,
): Promise<TestGateway> {
  globalThis.indexedDB = new IDBFactory();
  const vault = await openVault({ name: 'misfits', clock: systemClock, onclosed: () => {} });
  await vault.config.write({ providers: PROVIDERS, chat: { model: 'test/scripted' }, ...config });
  await change(vault);
  return createTestGateway({ vault, useGuide: true, ...(model && { model }) });
}

const getOfferedTools = (gw: TestGateway): string[] =>
  (gw.calls.at(-1)?.body.tools ?? []).map((tool) => (tool as { function: { name: string } }).function.name);

describe('an invalid stored value', () => {
  const agents = {
    helper: { name: 'Helper', systemPrompt: 'Be kind', workspace: 'my notes & things', later: { a: 1 } },
    other: { name: 'Other', workspace: 'shared' },
  };

  verifies('config/narrow', 'is left out alone: its agent and all others go on, and it is kept and told of', async () => {
    await using gw = await createGatewayWithConfig({ agents });
    const { client } = await gw.client();
    const listed = (await client.call('agents.list', {})).agents.map(({ id, config }) => [id, config]);
    expect(listed).toEqual([
      ['main', { name: 'Main' }],
      ['helper', { name: 'Helper', systemPrompt: 'Be kind' }],
      ['other', { name: 'Other', workspace: 'shared' }],
    ]);
    await client.call('chat.send', { message: 'hi', agentId: 'helper' });
    expect(JSON.stringify(gw.calls[0]?.body.messages[0])).toContain('Be kind');
    const check = async () => (await client.call('doctor.run', {})).checks.find(({ id }) => id === 'settings');
    const firstCheck = await check();
    expect(firstCheck).toMatchObject({ severity: 'warning', fixHint: expect.stringContaining('config.set') });
    expect(firstCheck?.message).toMatch(
      /: (agents\.helper\.workspace, agents\.helper\.later|agents\.helper\.later, agents\.helper\.workspace)\.$/,
    );

    // Writes to other settings, also of the same agent, leave it unchanged.
    await client.call('config.patch', { patch: { agents: { helper: { name: 'Renamed' } }, chat: { timeZone: 'UTC' } } });
    await client.call('agents.add', { agent_id: 'third' });
    expect(await gw.vault.config.read()).toMatchObject({ agents: { ...agents, helper: { ...agents.helper, name: 'Renamed' }, third: {} } });
    await expect(client.call('config.set', { key: 'agents.helper.workspace', value: 'no name' })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
    });
    // Setting it again or removing it removes the misfit, and so does removing its agent.
    await client.call('config.set', { key: 'agents.helper.workspace', value: 'notes' });
    await client.call('config.set', { key: 'agents.helper.later', value: null });
    expect((await gw.vault.config.read())?.agents).toMatchObject({
      helper: { name: 'Renamed', systemPrompt: 'Be kind', workspace: 'notes' },
    });
    expect(JSON.stringify(await gw.vault.config.read())).not.toContain('later');
    expect(await check()).toMatchObject({ severity: 'ok' });
  });

  verifies('config/narrow', 'goes with the agent it belongs to', async () => {
    await using gw = await createGatewayWithConfig({ agents });
    const { client } = await gw.client();
    await client.call('agents.remove', { agent_id: 'helper' });
    expect((await gw.vault.config.read())?.agents).toEqual({ other: agents.other });
  });

  verifies('config/narrow', 'makes nothing wider: an unreadable limit is as narrow as can be', async () => {
    await using gw = await createGatewayWithConfig({
      agents: { helper: { tools: { allow: 'all', deny: ['*'] } }, other: {} },
      tools: { policies: { current_time: 'never' } },
      browser: { allow: 'nas.local' },
    });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'hi', agentId: 'helper' });
    expect(getOfferedTools(gw)).toEqual([]);
    await client.call('chat.send', { message: 'hi', agentId: 'other' });
    expect(getOfferedTools(gw)).toContain('file_read');
    expect((await client.call('agents.list', {})).agents[1]?.config.tools).toEqual({ allow: [] });
    expect((await client.call('config.get', { key: 'browser' })).value).toEqual({});
    // The tool does not run without approval, whatever the invalid policy meant.
    const model = () => [{ tool: 'current_time', args: {} }];
    await using asking = await createGatewayWithConfig({ tools: { policies: { current_time: 'never' } } }, undefined, model);
    const { client: person, events } = await asking.client();
    const pendingSend = person.call('chat.send', { message: 'hi' });
    await waitFor(() => events.some(({ event }) => event === 'approval.requested'));
    await person.call('chat.abort', { sessionId: 'main' });
    await expect(pendingSend).rejects.toMatchObject({ code: 'ABORTED' });
  });

  verifies(
    ['config/narrow', 'config/secrets'],
    'disables its whole provider or channel, whose key is not sent, and is removed with it',
    async () => {
      const later = { kind: 'openai', baseUrl: 'http://proxy.test/v1', apiKey: '***', headers: { a: 'b' } };
      await using gw = await createGatewayWithConfig(
        { providers: { ...PROVIDERS, later }, channels: { x: { enabled: true, allowedUsers: 'me' } } },
        (vault) => vault.secrets.set('providers.later.apiKey', 'sk-later'),
      );
      const { client } = await gw.client();
      expect((await client.call('models.providers', {})).providers.map(({ id }) => id)).toEqual(['guide', 'test']);
      expect(gw.gateway.origins()).not.toContain('https://api.openai.com');
      expect((await client.call('channels.list', {})).channels.map(({ id }) => id)).toEqual(['webchat']);
      expect((await client.call('chat.send', { message: 'hi' })).completed).toBe(true);
      await client.call('config.set', { key: 'chat.timeZone', value: 'UTC' });
      expect(await gw.vault.config.read()).toMatchObject({ providers: { ...PROVIDERS, later }, channels: { x: { allowedUsers: 'me' } } });
      expect(await gw.vault.secrets.get('providers.later.apiKey')).toBe('sk-later');
      await client.call('config.patch', { patch: { providers: { later: null } } });
      expect((await gw.vault.config.read())?.providers).toEqual(PROVIDERS);
      expect(await gw.vault.secrets.get('providers.later.apiKey')).toBeUndefined();
    },
  );
});

verifies('config/narrow', 'whatever is stored, what fits is found, and nothing of the rest is lost', () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom('auto', 'http://a.test', 120, true, ['x'], { allow: ['*'] }, 'UTC') as fc.Arbitrary<unknown>,
  );
  const name = fc.constantFrom(
    'main',
    'x',
    'bad name',
    'name',
    'workspace',
    'tools',
    'baseUrl',
    'model',
    'policies',
    'enabled',
    'fallbacks',
  );
  const section = fc.oneof(value, fc.dictionary(name, fc.oneof(value, fc.dictionary(name, fc.oneof(value, fc.dictionary(name, value))))));
  const document = fc.dictionary(fc.constantFrom(...Object.keys(settingsSchema.shape), 'of another build'), section) as fc.Arbitrary<Json>;
  fc.assert(
    fc.property(document, (json) => {
      const { document: fitting, misfits } = separateUnknown(json);
      expect(settingsSchema.safeParse(fitting).success).toBe(true);
      expect(mergeUnknown(fitting, misfits)).toEqual(json);
      expect(extractUnknown(json, misfits)).toEqual({ document: fitting, misfits });
      // A section that is an object stays; `bindings` is a list.
      for (const [key, part] of Object.entries(json)) if (isObject(part) && key !== 'bindings') expect(fitting[key]).toBeDefined();
    }),
    { numRuns: 200 },
  );
});
