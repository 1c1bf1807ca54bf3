// The gateway as an MCP client for the official conformance suite: started with the URL of a scenario's server, it does what the scenario expects.
import type { GatewayClient } from '#shared/client/client.ts';
import { navigate } from '../../bridge/server/tests/navigate.ts';
import { waitFor } from './test-gateway.ts';
import { createEgressGateway } from './egress-gateway.ts';
import { getToolResults, waitForServerState, getServerState } from './mcp-fixtures.ts';

const url = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const scenarioContext = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as { client_id?: string; client_secret?: string };
/** Maximum number of redirects that a person follows. */
const MAX_REDIRECTS = 3;

/** The tool call that each scenario expects. */
const SCENARIO_CALLS: Readonly<Record<string, [tool: string, args: object]>> = {
  tools_call: ['add_numbers', { a: 5, b: 3 }],
  'elicitation-sep1034-client-defaults': ['test_client_elicitation_defaults', {}],
  'sse-retry': ['test_reconnection', {}],
};
const [tool, args] = scenario.startsWith('auth/') ? (['test-tool', {}] as const) : (SCENARIO_CALLS[scenario] ?? []);

/** Accepts every form with its defaults. */
async function acceptForms(client: GatewayClient): Promise<void> {
  for (const { id } of (await client.call('mcp.list', {})).asks) await client.call('mcp.answer', { id, action: 'accept', content: {} });
}

/** Opens the link like a person and follows the redirect back. */
async function followConsentLink(client: GatewayClient): Promise<void> {
  const redirect = await navigate((await client.call('mcp.authorize', { name: 'suite' })).url);
  const page = await navigate(redirect.headers.get('location') ?? '');
  process.stdout.write(`${page.status} ${(await page.text()).replace(/<[^>]*>/g, ' ')}\n`);
}

/** Calls the tool. Resolves to whether it requires more permission. */
async function callScenarioTool(): Promise<boolean> {
  let done = false;
  const before = getToolResults(events).length;
  const pendingSend = client
    .call('chat.send', { message: `/tool mcp__suite__${tool} ${JSON.stringify(args)}` })
    .finally(() => (done = true));
  await waitFor(async () => done || (await acceptForms(client), done), 'the result', 30_000);
  await pendingSend;
  process.stdout.write(`${JSON.stringify(getToolResults(events)[before])}\n`);
  return (await getServerState(client, 'suite'))?.wants !== undefined;
}

const { client, events, bridge, gw } = await createEgressGateway();
const oauth =
  scenarioContext.client_id === undefined
    ? {}
    : { oauth: { clientId: scenarioContext.client_id, clientSecret: scenarioContext.client_secret ?? '' } };
await client.call('config.patch', {
  patch: { tools: { policies: { 'mcp:*': 'auto' }, afterReading: { 'mcp:*': ['mcp:*'] }, mcpServers: { suite: { url, ...oauth } } } },
});
const settled = async (): Promise<string> => {
  let state = 'starting';
  await waitFor(async () => (state = (await getServerState(client, 'suite'))?.state ?? '') !== 'starting', 'the server', 20_000);
  return state;
};
for (let links = 0; links < MAX_REDIRECTS; links++) {
  if ((await settled()) === 'unauthorized') await followConsentLink(client);
  else {
    await waitForServerState(client, 'suite', 'ready');
    if (tool === undefined || !(await callScenarioTool())) break;
    await followConsentLink(client);
  }
}
await gw[Symbol.asyncDispose]();
await bridge[Symbol.asyncDispose]();
process.exit(0);
