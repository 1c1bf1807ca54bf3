import { toCommandLine } from '../command-line.ts';
import { printLine, printJson, escapeToOneLine } from './terminal-output.ts';
import { type WithGatewayOptions, withGateway } from './with-gateway.ts';

const toDisplayName = ({ name, userId }: { name: string; userId: string }): string =>
  name === '' ? userId : `@${escapeToOneLine(name)} (${userId})`;

/** `perch channels senders`: lists people waiting for approval and those approved. */
export const listSenders = (options: WithGatewayOptions): Promise<void> =>
  withGateway('perch channels', options, async (client) => {
    const { waiting, paired } = await client.call('channels.senders', {});
    if (options.json) return printJson({ waiting, paired });
    if (waiting.length + paired.length === 0) return printLine('No senders.');
    for (const sender of waiting) printLine(`${sender.channelId}  waiting  ${toDisplayName(sender)}`);
    for (const sender of paired) printLine(`${sender.channelId}  let in   ${toDisplayName(sender)}`);
    if (waiting.length > 0) printLine(`Ask for the code, then run \`${toCommandLine('channels let-in <channel> <code>')}\`.`);
  });

/** `perch channels let-in <channel> <code>`. */
export const approveSender = (channelId: string, code: string, options: WithGatewayOptions): Promise<void> =>
  withGateway('perch channels', options, async (client) => {
    const { sender } = await client.call('channels.confirmSender', { channelId, code });
    if (options.json) return printJson({ sender });
    printLine(`${toDisplayName(sender)} can write now.`);
  });

/** `perch channels remove <channel> <user>`. */
export const removeSender = (channelId: string, userId: string, options: WithGatewayOptions): Promise<void> =>
  withGateway('perch channels', options, async (client) => {
    await client.call('channels.removeSender', { channelId, userId });
    if (options.json) return printJson({ removed: true });
    printLine(`${escapeToOneLine(userId)} is no longer answered.`);
  });
