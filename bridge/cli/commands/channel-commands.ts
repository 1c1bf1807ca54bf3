import type { Command } from 'commander';
import { addGatewayCommand } from '../cli-options.ts';

/** `perch channels …`: people on the running gateway's channels. */
export function addChannelCommands(program: Command): void {
  const group = program.command('channels').description('Decide who may write on channels');
  const add = (name: string, description: string): Command => addGatewayCommand(group, name, description);

  add('senders', 'List people who wait to be let in and people you let in').action(async (options) =>
    (await import('../channels-actions.ts')).listSenders(options),
  );
  add('let-in', 'Let in the person who got a code')
    .argument('<channel>', 'Channel, such as telegram')
    .argument('<code>', 'Code that the person received')
    .action(async (channel, code, options) => (await import('../channels-actions.ts')).approveSender(channel, code, options));
  add('remove', 'Stop answering a person you let in')
    .argument('<channel>', 'Channel, such as telegram')
    .argument('<user>', 'User ID (see `channels senders`)')
    .action(async (channel, user, options) => (await import('../channels-actions.ts')).removeSender(channel, user, options));
}
