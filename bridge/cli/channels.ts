import { commandLine } from '../command-line.ts';
import { say, sayJson, shownLine } from './output.ts';
import { type GatewayOptions, withGateway } from './with-gateway.ts';

const nameFor = ({ name, userId }: { name: string; userId: string }): string => (name === '' ? userId : `@${shownLine(name)} (${userId})`);

/** `perch channels senders`: lists people waiting for approval and those approved. */
export const listSenders = (options: GatewayOptions): Promise<void> =>
  withGateway('perch channels', options, async (client) => {
    const { waiting, paired } = await client.call('channels.senders', {});
    if (options.json) return sayJson({ waiting, paired });
    if (waiting.length + paired.length === 0) return say('No senders.');
    for (const sender of waiting) say(`${sender.channelId}  waiting  ${nameFor(sender)}`);
    for (const sender of paired) say(`${sender.channelId}  let in   ${nameFor(sender)}`);
    if (waiting.length > 0) say(`Ask for the code, then run \`${commandLine('channels let-in <channel> <code>')}\`.`);
  });

/** `perch channels let-in <channel> <code>`. */
export const letIn = (channelId: string, code: string, options: GatewayOptions): Promise<void> =>
  withGateway('perch channels', options, async (client) => {
    const { sender } = await client.call('channels.confirmSender', { channelId, code });
    if (options.json) return sayJson({ sender });
    say(`${nameFor(sender)} can write now.`);
  });

/** `perch channels remove <channel> <user>`. */
export const removeSender = (channelId: string, userId: string, options: GatewayOptions): Promise<void> =>
  withGateway('perch channels', options, async (client) => {
    await client.call('channels.removeSender', { channelId, userId });
    if (options.json) return sayJson({ removed: true });
    say(`${shownLine(userId)} is no longer answered.`);
  });
