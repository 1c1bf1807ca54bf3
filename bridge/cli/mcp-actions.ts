import type { GatewayClient } from '#shared/client/client.ts';
import type { McpServerState } from '#shared/rpc/methods/mcp-contracts.ts';
import { toCommandLine } from '../command-line.ts';
import { printLine, printJson, escapeToOneLine } from './terminal-output.ts';
import { type WithGatewayOptions, withGateway } from './with-gateway.ts';

type McpOptions = WithGatewayOptions;

/** `perch mcp status`: prints the state of each MCP server. */
export const showServers = (options: McpOptions): Promise<void> =>
  listServers(options, async (client) => {
    const { servers, count } = await client.call('mcp.list', {});
    if (options.json) return printJson({ servers, count });
    if (count === 0) return printLine('No MCP servers. Add them to the setting `tools.mcpServers`.');
    for (const server of servers) for (const line of formatServer(server)) printLine(line);
  });

/** `perch mcp list-tools`: prints the tools of all MCP servers. */
export const listTools = (options: McpOptions): Promise<void> =>
  listServers(options, async (client) => {
    const tools = (await client.call('tools.catalog', {})).tools.filter(({ source }) => source.startsWith('mcp:'));
    if (options.json) return printJson({ tools, count: tools.length });
    if (tools.length === 0) return printLine(`No tools. Check the servers with \`${toCommandLine('mcp status')}\`.`);
    const width = Math.max(...tools.map(({ name }) => name.length));
    for (const { name, summary, description } of tools)
      printLine(`${escapeToOneLine(name).padEnd(width)}  ${toOneLine(summary ?? description)}`);
  });

/** `perch mcp authorize <name>`: prints the link at which the user authorizes an MCP server. */
export const authorizeServer = (name: string, options: McpOptions): Promise<void> =>
  listServers(options, async (client) => {
    const { url } = await client.call('mcp.authorize', { name });
    if (options.json) return printJson({ url });
    printLine(escapeToOneLine(url));
    process.stderr.write('Open this link within 10 minutes, in a browser on the computer that runs Perch.\n');
  });

const listServers = (options: McpOptions, work: (client: GatewayClient) => Promise<void>): Promise<void> =>
  withGateway('perch mcp', options, work);

function formatServer({ name, state, transport, tools, error, changed, problems }: McpServerState): string[] {
  const several = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
  const details = [
    ...(error === undefined ? [] : [error]),
    ...(state === 'unauthorized' ? [`Authorise it with \`${toCommandLine(`mcp authorize ${name}`)}\``] : []),
    ...changed.map(({ tool }) => `${tool} is off until you approve it again: its description changed`),
    ...problems,
  ];
  return [
    `${escapeToOneLine(name)}  ${state}  ${transport}  ${several(tools, 'tool')}`,
    ...details.map((line) => `    ${toOneLine(line)}`),
  ];
}

const MAX_LINE_CHARS = 200;

/** Removes terminal escapes and line breaks from untrusted text. */
function toOneLine(text: string): string {
  const line = escapeToOneLine(text);
  return line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS - 1)}…`;
}
