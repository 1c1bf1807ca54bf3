import type { GatewayClient } from '#shared/client/client.ts';
import { legible } from '#shared/legible.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { McpServerState } from '#shared/rpc/methods/mcp.ts';
import { commandLine } from '../command-line.ts';
import { connect } from './connect.ts';
import { CommandError, lineOf } from './errors.ts';

export interface McpOptions {
  port: number;
  authToken?: string;
  password?: string;
  vault?: string;
  json?: boolean;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** `perch mcp status`: how it stands with each tool server. */
export const showServers = (options: McpOptions): Promise<void> =>
  asking(options, async (client) => {
    const { servers, count } = await client.call('mcp.list', {});
    if (options.json) return say(JSON.stringify({ servers, count }));
    if (count === 0) return say('no tool servers: `tools.mcpServers` in the configuration names none');
    for (const server of servers) for (const line of linesOf(server)) say(line);
  });

/** `perch mcp list-tools`: the tools of all tool servers. */
export const listTools = (options: McpOptions): Promise<void> =>
  asking(options, async (client) => {
    const tools = (await client.call('tools.catalog', {})).tools.filter(({ source }) => source.startsWith('mcp:'));
    if (options.json) return say(JSON.stringify({ tools, count: tools.length }));
    if (tools.length === 0) return say(`no tools: \`${commandLine('mcp status')}\` tells how it stands with each tool server`);
    const width = Math.max(...tools.map(({ name }) => name.length));
    for (const { name, description } of tools) say(`${name.padEnd(width)}  ${oneLine(description)}`);
  });

/** `perch mcp authorize <name>`: the link where a person permits what a tool server wants. */
export const authorizeServer = (name: string, options: McpOptions): Promise<void> =>
  asking(options, async (client) => {
    const { url } = await client.call('mcp.authorize', { name });
    if (options.json) return say(JSON.stringify({ url }));
    say(url);
    process.stderr.write('open it within 10 minutes, in a browser of the machine that Perch runs on\n');
  });

async function asking({ port, authToken, password, vault }: McpOptions, work: (client: GatewayClient) => Promise<void>): Promise<void> {
  const client = await connect({ port, token: authToken, password, vault, name: 'perch mcp' });
  try {
    await work(client);
  } catch (error) {
    if (error instanceof RpcError) throw new CommandError(`the gateway refuses: ${lineOf(error)}`, 1, { cause: error });
    throw error;
  } finally {
    client.close();
  }
}

function linesOf({ name, state, transport, tools, error, changed, problems }: McpServerState): string[] {
  const several = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
  const told = [
    ...(error === undefined ? [] : [error]),
    ...(state === 'unauthorized' ? [`permit it by the link that \`${commandLine(`mcp authorize ${name}`)}\` prints`] : []),
    ...changed.map(({ tool }) => `${tool} is off until it is approved again: it says something else of itself than before`),
    ...problems,
  ];
  return [`${name}  ${state}  ${transport}  ${several(tools, 'tool')}`, ...told.map((line) => `    ${oneLine(line)}`)];
}

const MAX_LINE = 200;

/** Others’ words: no escapes of a terminal, no lines of their own. */
function oneLine(text: string): string {
  const line = legible(text.replace(/\s+/g, ' ').trim());
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE - 1)}…`;
}
