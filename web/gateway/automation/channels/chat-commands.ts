import type { IncomingMessage } from '../../storage/records/channel-state.ts';

const COMMANDS: Record<string, NonNullable<IncomingMessage['command']>> = {
  help: 'help',
  start: 'help',
  new: 'new',
  reset: 'new',
  stop: 'stop',
};
/** Most clients keep commands with a slash for themselves. */
const COMMAND = /^[!/](help|start|new|reset|stop)$/i;

/** The command that a message consists of; undefined if it is none. */
export function parseChatCommand(text: string): IncomingMessage['command'] {
  const [, name = ''] = COMMAND.exec(text) ?? [];
  return COMMANDS[name.toLowerCase()];
}

/** Help text for new senders. `prefix`: of commands, which most clients keep for themselves if it is a slash. */
export const getHelpText = (prefix: '!' | '/' = '!', verb = 'Send me'): string =>
  `Hello! ${verb} a message and an agent replies. ${prefix}new starts a new chat, ${prefix}stop stops the current reply.`;
