import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { runPerch } from '../../tests/e2e/perch-process.ts';
import { createBridgedGateway } from '../../tests/support/bridged-gateway.ts';
import { toTestServerCommand, waitForServerState, startMcpServer } from '../../tests/support/mcp-fixtures.ts';
import { startOauthServer } from '../../tests/support/oauth-server.ts';
import { startTestBridge } from '../server/tests/test-bridge.ts';
import { navigate } from '../server/tests/navigate.ts';
import { startCliGateway } from './tests/cli-gateway.ts';

verifies(['cli.mcp-status/row', 'cli.mcp-list-tools/row'], 'tells of tool servers and their tools, for people and as JSON', async () => {
  await using bridge = await startTestBridge();
  await using gw = await createBridgedGateway();
  await gw.attach(bridge);
  const { client } = await gw.client();
  const run = async (...words: string[]): Promise<string> =>
    (await runPerch(['mcp', ...words, '--port', new URL(bridge.url).port, '--auth-token', bridge.token], { PERCH_HOME: bridge.home.dir }))
      .stdout;
  expect(await run('status')).toMatch(/^No MCP servers/);
  expect(await run('list-tools')).toMatch(/^No tools/);
  await startMcpServer(client, 'hand', toTestServerCommand('names'));
  await client.call('config.set', { key: 'tools.mcpServers.other', value: toTestServerCommand() });
  await waitForServerState(client, 'other', 'waiting');
  const status = await run('status');
  expect(status).toMatch(/^hand {2}ready {2}stdio {2}4 tools$/m);
  expect(status).toMatch(/^ {4}bad name is skipped/m);
  expect(status).toMatch(/^other {2}waiting {2}stdio {2}0 tools\n {4}Its command is waiting/m);
  expect(await run('list-tools')).toMatch(/^mcp:hand:a\.b {2,}Says again what it is told$/m);
  const { servers, count } = JSON.parse(await run('status', '--json')) as { servers: { name: string; state: string }[]; count: number };
  expect([count, servers.map(({ name, state }) => `${name} ${state}`)]).toEqual([2, ['hand ready', 'other waiting']]);
  const { tools } = JSON.parse(await run('list-tools', '--json')) as { tools: { name: string; source: string }[] };
  expect(tools.map(({ source }) => source)).toEqual(Array(4).fill('mcp:hand'));
});

verifies('mcp-oauth/command', 'prints only the link on standard output; a server without one gets a line of its own', async () => {
  await using server = await startOauthServer();
  await using at = await startCliGateway({ egress: true });
  const run = (...words: string[]): ReturnType<typeof at.run> =>
    at.run(['mcp', ...words, '--port', at.port, '--auth-token', at.bridge.token]);
  const { client } = await at.gw.client();
  await client.call('config.set', { key: 'tools.mcpServers.far', value: { url: server.url } });
  await waitForServerState(client, 'far', 'unauthorized');
  expect((await run('status')).stdout).toMatch(/^far {2}unauthorized {2}http {2}0 tools\n.*\n.*perch .*mcp authorize far/m);
  const { code, stdout, stderr } = await run('authorize', 'far');
  expect([code, stderr]).toEqual([0, expect.stringContaining('within 10 minutes')]);
  expect(stdout).toMatch(/^\S+\n$/);
  expect(new URL(stdout).origin).toBe(server.issuer);
  const { url } = JSON.parse((await run('authorize', 'far', '--json')).stdout) as { url: string };
  const redirect = await navigate(url);
  expect((await navigate(redirect.headers.get('location') ?? '')).status).toBe(200);
  await waitForServerState(client, 'far', 'ready');
  const none = await run('authorize', 'none');
  expect([none.code, none.stdout, none.stderr]).toEqual([
    1,
    '',
    expect.stringMatching(/^perch: The gateway rejected the request: No enabled MCP server with name "none"\.$/m),
  ]);
  expect((await run('authorize')).code).toBe(2);
});
