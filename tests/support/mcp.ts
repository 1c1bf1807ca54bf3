import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayClient } from '#shared/client/client.ts';
import { configFilePort } from '#shared/ports/config-file.ts';
import { mcpPort } from '#shared/ports/mcp.ts';
import type { McpServerState } from '#shared/rpc/methods/mcp.ts';
import { configFileHandlers } from '../../bridge/capabilities/config-file.ts';
import { mcpHandlers } from '../../bridge/capabilities/mcp/mcp.ts';
import { Keeper } from '../../bridge/processes/keep.ts';
import { FakeBridge, lend } from './fake-bridge.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import type { FakeClock } from './clock.ts';
import type { FakeSync } from './fake-sync.ts';
import { type Say, type TestGateway, testGateway, until } from './gateway.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGES = join(ROOT, 'node_modules/@modelcontextprotocol');

type Command = { command: string; args: string[] };

/** The server of this folder, in one of its ways. */
export const byHand = (...args: string[]): Command => ({
  command: process.execPath,
  args: [join(import.meta.dirname, 'hostile-mcp/server.ts'), ...args],
});

/** The command of a real server. */
export const real = (name: 'everything' | 'filesystem' | 'memory', ...args: string[]): Command => ({
  command: process.execPath,
  args: [join(PACKAGES, `server-${name}/dist/index.js`), ...args],
});

/** The real handlers for tool servers behind a fake bridge, with a home of their own. */
export async function lendMcp({ file = false } = {}) {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'mcp-')));
  const log = (line: string): void => void bridge.faults.push(line);
  const bridge: FakeBridge = new FakeBridge(
    lend(mcpPort, mcpHandlers({ home, keeper: new Keeper(log) })),
    ...(file ? [lend(configFilePort, configFileHandlers(home))] : []),
  );
  return {
    bridge,
    home,
    async [Symbol.asyncDispose]() {
      bridge.detach();
      await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

export const stateOf = async (client: GatewayClient, name: string): Promise<McpServerState | undefined> =>
  (await client.call('mcp.list', {})).servers.find((each) => each.name === name);

/** Waits for a server to reach a state, and resolves with its status. */
export async function standing(client: GatewayClient, name: string, state: McpServerState['state'], ms = 20_000): Promise<McpServerState> {
  let found: McpServerState | undefined;
  const is = async (): Promise<boolean> => (found = await stateOf(client, name))?.state === state;
  await until(is, `"${state}" of ${name}`, ms).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(found)}`);
  });
  if (!found) throw new Error('it is not there');
  return found;
}

/** Sets a server and approves its command, as a person does; resolves when it is ready. */
export async function start(client: GatewayClient, name: string, settings: Record<string, unknown>): Promise<McpServerState> {
  await client.call('config.set', { key: `tools.mcpServers.${name}`, value: settings });
  const { hash } = await standing(client, name, 'waiting');
  await client.call('mcp.approve', { name, hash: hash ?? 'none' });
  return standing(client, name, 'ready');
}

const POLICY = { tools: { policies: { 'mcp:*': 'auto' }, afterReading: { 'mcp:*': ['*'] } } };

/** A client with a program's key, and all scopes. */
export const asProgram = (gw: Pick<TestGateway, 'link'>): Promise<GatewayClient> =>
  GatewayClient.connect(gw.link({ principal: 'key:abc' }), { params: { clientName: 'a program' } });

/** A gateway with a bridge, whose model uses the requested tool: the message is `<tool> <args as JSON>`. */
export async function serving({ clock, sync }: { clock?: FakeClock; sync?: FakeSync } = {}) {
  const lent = await lendMcp();
  const gw = await testGateway({
    bridge: lent.bridge,
    ...(clock ? { clock } : {}),
    ...(sync ? { sync } : {}),
    model({ body: { messages } }): Say[] {
      const { role, content } = messages.at(-1) ?? { role: 'user', content: '' };
      const [, tool = '', args = '{}'] = /^(mcp__\S+) (.*)$/s.exec(String(content)) ?? [];
      return role === 'user' && tool !== '' ? [{ tool, args: JSON.parse(args) as unknown }] : ['done'];
    },
  });
  const { client, events } = await gw.client();
  await client.call('config.patch', { patch: POLICY });
  return {
    ...{ lent, gw, client, events },
    /** Has the model use a tool; its result. */
    async use(tool: string, args: unknown = {}): Promise<Record<string, unknown>> {
      const before = resultsOf(events).length;
      await client.call('chat.send', { message: `${tool} ${JSON.stringify(args)}` });
      return resultsOf(events)[before] ?? {};
    },
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await lent[Symbol.asyncDispose]();
    },
  };
}

export const resultsOf = (events: EventFrame[]): Record<string, unknown>[] =>
  events.flatMap(({ event, payload }) => (event === 'chat.tool_result' ? [(payload as { result: Record<string, unknown> }).result] : []));
