import type { Command } from 'commander';
import { connectionOptions } from '../options.ts';

/** Whether memory is searched before each reply in a session (interface document 2, section 4.1). */
export function activeMemoryCommands(program: Command): void {
  const group = program.command('active-memory').description('search memory before each reply in a session, or do not');
  const add = (name: string, description: string): Command =>
    connectionOptions(group.command(name), { timeout: 10_000 })
      .description(description)
      .option('--session <key>', 'the session, as `sessions` lists it', 'main/main')
      .option('--json', 'print JSON');

  add('on', 'search memory from the next message on').action(async (options) =>
    (await import('../active-memory.ts')).switchActiveMemory(true, options),
  );
  add('off', 'search it no more').action(async (options) => (await import('../active-memory.ts')).switchActiveMemory(false, options));
  add('status', 'say whether it is searched, and if not, why').action(async (options) =>
    (await import('../active-memory.ts')).printActiveMemory(options),
  );
}
