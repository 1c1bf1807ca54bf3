import type { GatewayClient } from '#shared/client/client.ts';
import type { McpServerState } from '#shared/rpc/methods/mcp.ts';
import { commandLine } from '../command-line.ts';
import { say, sayJson, shownLine } from './output.ts';
import { type GatewayOptions, withGateway } from './with-gateway.ts';

export type McpOptions = GatewayOptions;

/** `perch mcp status`: prints the state of each MCP server. */
export const showServers = (options: McpOptions): Promise<void> =>
  asking(options, async (client) => {
    const { servers, count } = await client.call('mcp.list', {});
    if (options.json) return sayJson({ servers, count });
    if (count === 0) return say('No MCP servers. Add them to the setting `tools.mcpServers`.');
    for (const server of servers) for (const line of linesOf(server)) say(line);
  });

/** `perch mcp list-tools`: prints the tools of all MCP servers. */
export const listTools = (options: McpOptions): Promise<void> =>
  asking(options, async (client) => {
    const tools = (await client.call('tools.catalog', {})).tools.filter(({ source }) => source.startsWith('mcp:'));
    if (options.json) return sayJson({ tools, count: tools.length });
    if (tools.length === 0) return say(`No tools. Check the servers with \`${commandLine('mcp status')}\`.`);
    const width = Math.max(...tools.map(({ name }) => name.length));
    for (const { name, summary, description } of tools) say(`${shownLine(name).padEnd(width)}  ${oneLine(summary ?? description)}`);
  });

/** `perch mcp authorize <name>`: prints the link at which the user authorizes an MCP server. */
export const authorizeServer = (name: string, options: McpOptions): Promise<void> =>
  asking(options, async (client) => {
    const { url } = await client.call('mcp.authorize', { name });
    if (options.json) return sayJson({ url });
    say(shownLine(url));
    process.stderr.write('Open this link within 10 minutes, in a browser on the computer that runs Perch.\n');
  });

const asking = (options: McpOptions, work: (client: GatewayClient) => Promise<void>): Promise<void> =>
  withGateway('perch mcp', options, work);

function linesOf({ name, state, transport, tools, error, changed, problems }: McpServerState): string[] {
  const several = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
  const told = [
    ...(error === undefined ? [] : [error]),
    ...(state === 'unauthorized' ? [`Authorise it with \`${commandLine(`mcp authorize ${name}`)}\``] : []),
    ...changed.map(({ tool }) => `${tool} is off until you approve it again: its description changed`),
    ...problems,
  ];
  return [`${shownLine(name)}  ${state}  ${transport}  ${several(tools, 'tool')}`, ...told.map((line) => `    ${oneLine(line)}`)];
}

const MAX_LINE = 200;

/** Removes terminal escapes and line breaks from untrusted text. */
function oneLine(text: string): string {
  const line = shownLine(text);
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE - 1)}…`;
}
