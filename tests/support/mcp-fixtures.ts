import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayClient } from '#shared/client/client.ts';
import { configFilePort } from '#shared/ports/config-file-port.ts';
import { mcpPort } from '#shared/ports/mcp-port.ts';
import type { McpServerState } from '#shared/rpc/methods/mcp-contracts.ts';
import { createConfigFileHandlers } from '../../bridge/capabilities/config-file-handlers.ts';
import { createMcpHandlers } from '../../bridge/capabilities/mcp/mcp-handlers.ts';
import { ProcessKeeper } from '../../bridge/processes/process-keeper.ts';
import { FakeBridge, createCapability } from './fake-bridge.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import type { FakeClock } from './fake-clock.ts';
import type { FakeSync } from './fake-sync.ts';
import { type Say, type TestGateway, createTestGateway, waitFor } from './test-gateway.ts';

const ROOT = join(import.meta.dirname, '../..');
const SERVER_PACKAGES = join(ROOT, 'node_modules/@modelcontextprotocol');

type ServerCommand = { command: string; args: string[] };

/** Returns the command of this folder's test server with one of its behaviours. */
export const toTestServerCommand = (...args: string[]): ServerCommand => ({
  command: process.execPath,
  args: [join(import.meta.dirname, 'hostile-mcp/mcp-test-server.ts'), ...args],
});

/** Returns the command of a real server. */
export const toRealServerCommand = (name: 'everything' | 'filesystem' | 'memory', ...args: string[]): ServerCommand => ({
  command: process.execPath,
  args: [join(SERVER_PACKAGES, `server-${name}/dist/index.js`), ...args],
});

/** The real handlers for MCP servers behind a fake bridge, with a temporary home. */
export async function createMcpBridge({ file = false } = {}) {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'mcp-')));
  const log = (line: string): void => void bridge.faults.push(line);
  const bridge: FakeBridge = new FakeBridge(
    createCapability(mcpPort, createMcpHandlers({ home, keeper: new ProcessKeeper(log) })),
    ...(file ? [createCapability(configFilePort, createConfigFileHandlers(home))] : []),
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

export const getServerState = async (client: GatewayClient, name: string): Promise<McpServerState | undefined> =>
  (await client.call('mcp.list', {})).servers.find((each) => each.name === name);

/** Waits for a server to reach a state, and resolves with its status. */
export async function waitForServerState(
  client: GatewayClient,
  name: string,
  state: McpServerState['state'],
  ms = 20_000,
): Promise<McpServerState> {
  let found: McpServerState | undefined;
  const hasState = async (): Promise<boolean> => (found = await getServerState(client, name))?.state === state;
  await waitFor(hasState, `"${state}" of ${name}`, ms).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(found)}`);
  });
  if (!found) throw new Error('it is not there');
  return found;
}

/** Adds a server and approves its command like a person. Resolves when it is ready. */
export async function startMcpServer(client: GatewayClient, name: string, settings: Record<string, unknown>): Promise<McpServerState> {
  await client.call('config.set', { key: `tools.mcpServers.${name}`, value: settings });
  const { hash } = await waitForServerState(client, name, 'waiting');
  await client.call('mcp.approve', { name, hash: hash ?? 'none' });
  return waitForServerState(client, name, 'ready');
}

const PROGRAM_POLICY = { tools: { policies: { 'mcp:*': 'auto' }, afterReading: { 'mcp:*': ['*'] } } };

/** Connects a client with a program's key and all scopes. */
export const connectAsProgram = (gw: Pick<TestGateway, 'link'>): Promise<GatewayClient> =>
  GatewayClient.connect(gw.link({ principal: 'key:abc' }), { params: { clientName: 'a program' } });

/** A gateway with a bridge, whose model uses the requested tool: the message is `<tool> <args as JSON>`. */
export async function createMcpGateway({ clock, sync }: { clock?: FakeClock; sync?: FakeSync } = {}) {
  const mcpBridge = await createMcpBridge();
  const gw = await createTestGateway({
    bridge: mcpBridge.bridge,
    ...(clock ? { clock } : {}),
    ...(sync ? { sync } : {}),
    model({ body: { messages } }): Say[] {
      const { role, content } = messages.at(-1) ?? { role: 'user', content: '' };
      const [, tool = '', args = '{}'] = /^(mcp__\S+) (.*)$/s.exec(String(content)) ?? [];
      return role === 'user' && tool !== '' ? [{ tool, args: JSON.parse(args) as unknown }] : ['done'];
    },
  });
  const { client, events } = await gw.client();
  await client.call('config.patch', { patch: PROGRAM_POLICY });
  return {
    ...{ lent: mcpBridge, gw, client, events },
    /** Has the model call a tool. Returns its result. */
    async callTool(tool: string, args: unknown = {}): Promise<Record<string, unknown>> {
      const before = getToolResults(events).length;
      await client.call('chat.send', { message: `${tool} ${JSON.stringify(args)}` });
      return getToolResults(events)[before] ?? {};
    },
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await mcpBridge[Symbol.asyncDispose]();
    },
  };
}

export const getToolResults = (events: EventFrame[]): Record<string, unknown>[] =>
  events.flatMap(({ event, payload }) => (event === 'chat.tool_result' ? [(payload as { result: Record<string, unknown> }).result] : []));
