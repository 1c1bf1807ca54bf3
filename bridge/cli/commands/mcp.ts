import type { Command } from 'commander';
import { portOption } from '../options.ts';

/** Tool servers of the gateway that runs. */
export function mcpCommands(program: Command): void {
  const group = program.command('mcp').description('Manage MCP servers');
  const add = (name: string, description: string): Command =>
    group
      .command(name)
      .description(description)
      .addOption(portOption({ free: false }))
      .option('--auth-token <token>', 'Gateway token, if you started the gateway with one')
      .option('--password <password>', 'Gateway password, if set. Visible in the process list: prefer PERCH_PASSWORD')
      .option('--json', 'Print JSON');

  add('status', 'Show MCP server status').action(async (options) => (await import('../mcp.ts')).showServers(options));
  add('authorize', 'Print a link to authorise an MCP server (OAuth)')
    .argument('<name>', 'Server name in `tools.mcpServers`')
    .action(async (name, options) => (await import('../mcp.ts')).authorizeServer(name, options));
  add('list-tools', 'List the tools of all MCP servers').action(async (options) => (await import('../mcp.ts')).listTools(options));
}
