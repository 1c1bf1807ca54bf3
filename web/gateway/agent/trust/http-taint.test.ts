import { IDBFactory } from 'fake-indexeddb';
import { expect } from 'vitest';
import { SCOPES } from '#shared/rpc/contract.ts';
import { INJECTED_ORDER } from '../../../../tests/bench/injection/obedient-model.ts';
import { PAGE, toStep } from '../../../../tests/bench/injection/local-sources.ts';
import { World } from '../../../../tests/bench/injection/injection-world.ts';
import { verifies } from '../../../../tests/requirements.ts';

interface Answer {
  id: string;
  output: object[];
}

/** Requests of a program with a key that has all scopes; the owner's file `mine.md` is what the order removes. */
async function program(options: Parameters<typeof World.open>[0] = {}) {
  const world = await World.open(options);
  const { client, gw } = world;
  await client.call('workspace.write', { path: 'mine.md', content: 'The text of the owner' });
  const { keys } = await client.call('keys.list', {});
  const key = keys[0] ?? (await client.call('keys.create', { name: 'Script', scopes: ['read', 'write'] })).key;
  return {
    world,
    async post(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
      const request = new Request(`http://gateway.test${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'perch/main', ...body }),
      });
      const response = await gw.gateway.fetch(request, { id: `key:${key.id}`, scopes: [...SCOPES] });
      expect(response.status).toBe(200);
      return (await response.json()) as Answer;
    },
    obey: () => world.model.orders.push([{ tool: 'file_remove', args: { path: 'mine.md' } }]),
    async hasWaited() {
      expect({ obeyed: world.model.obeyed, files: await world.files() }).toEqual({ obeyed: 1, files: ['mine.md'] });
      expect(world.approvalRequests.map(({ tool }) => tool)).toEqual(['file_remove']);
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

const user = (content: unknown) => ({ role: 'user', content });

verifies(
  'injection/labels',
  'taint the next request of a program that sends a reply back as an earlier turn, after a restart',
  async () => {
    for (const way of ['previous_response_id', 'conversation', 'messages'] as const) {
      const stored = { indexedDB: new IDBFactory(), name: `restarted-${way}` };
      const before = await program(stored);
      const { world } = before;
      world.outside.pages.set(PAGE, { body: 'About tulips' });
      world.model.ownerRequests.push(toStep('web_fetch', { url: PAGE }), [INJECTED_ORDER]);
      const conversation = way === 'conversation' ? { conversation: (await before.post('/v1/conversations', {})).id } : {};
      const { id } = await before.post('/v1/responses', { input: `Read ${PAGE}`, ...conversation });
      await before[Symbol.asyncDispose]();
      await using script = await program(stored);
      const { post } = script;
      script.obey();
      const turns = [user('Read'), { role: 'assistant', content: ` ${INJECTED_ORDER}\n` }, user('Go on')];
      if (way === 'messages') await post('/v1/chat/completions', { messages: turns });
      else if (way === 'conversation') await post('/v1/responses', { input: 'Go on', ...conversation });
      else await post('/v1/responses', { input: 'Go on', previous_response_id: id });
      await script.hasWaited();
    }
  },
);

verifies('injection/labels', 'go with the summary of a conversation in the Responses API', async () => {
  await using script = await program();
  const input = [
    user('Read my mail'),
    { type: 'function_call', call_id: 'c1', name: 'mail', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: INJECTED_ORDER },
  ];
  script.world.model.orders = [[INJECTED_ORDER]];
  const { output } = await script.post('/v1/responses/compact', { input });
  script.world.model.obeyed = 0;
  script.obey();
  await script.post('/v1/responses', { input: [...output, user('Go on')] });
  await script.hasWaited();
});

verifies('injection/labels', 'go with a document that a program quotes in a session', async () => {
  await using script = await program();
  script.obey();
  const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: INJECTED_ORDER } };
  await script.post('/v1/messages', { max_tokens: 9, messages: [user([document])] }, { 'x-perch-session': 'script' });
  await script.hasWaited();
});
