import type { Command } from 'commander';
import { addConnectionOptions } from '../cli-options.ts';

/** `perch active-memory …`: memory search before each reply in a session. */
export function addActiveMemoryCommands(program: Command): void {
  const group = program.command('active-memory').description('Turn memory search on or off for a chat');
  const add = (name: string, description: string): Command =>
    addConnectionOptions(group.command(name), { timeout: 10_000 })
      .description(description)
      .option('--session <key>', 'Chat key, as shown by `sessions`', 'main/main')
      .option('--json', 'Print JSON');

  add('on', 'Search memory before each reply').action(async (options) =>
    (await import('../active-memory-actions.ts')).setActiveMemory(true, options),
  );
  add('off', 'Stop searching memory before replies').action(async (options) =>
    (await import('../active-memory-actions.ts')).setActiveMemory(false, options),
  );
  add('status', 'Show whether memory is searched, and why not').action(async (options) =>
    (await import('../active-memory-actions.ts')).printActiveMemory(options),
  );
}
