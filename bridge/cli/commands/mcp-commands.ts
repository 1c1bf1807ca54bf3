import type { Command } from 'commander';
import { addGatewayCommand } from '../cli-options.ts';

/** `perch mcp …`: MCP servers of the running gateway. */
export function addMcpCommands(program: Command): void {
  const group = program.command('mcp').description('Manage MCP servers');
  // Waits for servers that are still starting.
  const add = (name: string, description: string): Command => addGatewayCommand(group, name, description, 60_000);

  add('status', 'Show MCP server status').action(async (options) => (await import('../mcp-actions.ts')).showServers(options));
  add('authorize', 'Print a link to authorise an MCP server (OAuth)')
    .argument('<name>', 'Server name in `tools.mcpServers`')
    .action(async (name, options) => (await import('../mcp-actions.ts')).authorizeServer(name, options));
  add('list-tools', 'List the tools of all MCP servers').action(async (options) => (await import('../mcp-actions.ts')).listTools(options));
}
