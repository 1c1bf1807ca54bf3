import type { Command } from 'commander';
import { portOption } from '../options.ts';

/** Tool servers of the gateway that runs. */
export function mcpCommands(program: Command): void {
  const group = program.command('mcp').description('tool servers (MCP)');
  const add = (name: string, description: string): Command =>
    group
      .command(name)
      .description(description)
      .addOption(portOption({ free: false }))
      .option('--auth-token <token>', 'the owner’s token, where the gateway was given one')
      .option('--password <password>', 'the owner’s password, where one is set (shows in the process list: PERCH_PASSWORD is better)')
      .option('--json', 'print JSON');

  add('status', 'how it stands with each tool server').action(async (options) => (await import('../mcp.ts')).showServers(options));
  add('authorize', 'print the link where you permit what a tool server wants (OAuth)')
    .argument('<name>', 'the server, as `tools.mcpServers` names it')
    .action(async (name, options) => (await import('../mcp.ts')).authorizeServer(name, options));
  add('list-tools', 'the tools of all tool servers').action(async (options) => (await import('../mcp.ts')).listTools(options));
}
