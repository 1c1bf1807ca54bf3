import { type HookEvent, HOOK_EVENTS, type HookInput, HOOK_PRESETS } from '#shared/rpc/methods/hook-contracts.ts';
import { CommandError } from './command-error.ts';
import { resolveTarget } from './connect-gateway.ts';
import { escapeToOneLine, formatTable, printJson, printLine, printNote } from './terminal-output.ts';
import { withGateway, type WithGatewayOptions } from './with-gateway.ts';

const CLIENT_NAME = 'perch hooks';

/** `perch hooks list`. */
export const listHooks = (options: WithGatewayOptions): Promise<void> =>
  withGateway(CLIENT_NAME, options, async (client) => {
    const { hooks, count } = await client.call('hooks.list', {});
    if (options.json) return printJson({ hooks, count });
    if (count === 0) return printLine('No hooks.');
    const lines = formatTable(
      [{ title: 'Name', style: () => 'cyan' }, { title: 'State' }, { title: 'Kind' }, { title: 'Address', isFlexible: true }],
      hooks.map((hook) => [
        ...[hook.name, hook.enabled ? 'on' : 'off'],
        ...(hook.direction === 'in' ? [`from ${hook.preset}`, toAddress(hook.path, options)] : ['sends events', escapeToOneLine(hook.url)]),
      ]),
    );
    for (const line of lines) printLine(line);
  });

interface AddOptions extends WithGatewayOptions {
  preset: string;
  agent: string;
  template: string;
  secret?: string;
  sendTo?: string;
  event?: readonly string[];
  withText?: boolean;
  allowPrivate?: boolean;
}

/** `perch hooks add <name>`: prints the address of an incoming hook, and the secret. */
export const addHook = (name: string, options: AddOptions): Promise<void> =>
  withGateway(CLIENT_NAME, options, async (client) => {
    const { hook, secret } = await client.call('hooks.create', { hook: toInput(name, options) });
    if (options.json) return printJson({ hook, secret });
    if (hook.direction === 'in') printLine(toAddress(hook.path, options));
    printLine(secret);
    printNote('Copy the secret now. It won’t be shown again.');
  });

/** `perch hooks remove <name>`. */
export const removeHook = (name: string, options: WithGatewayOptions): Promise<void> =>
  withGateway(CLIENT_NAME, options, async (client) => {
    await client.call('hooks.delete', { name });
    if (options.json) return printJson({ name, deleted: true });
    printLine(`Removed ${name}.`);
  });

/** `perch hooks test <name>`. */
export const testHook = (name: string, options: WithGatewayOptions): Promise<void> =>
  withGateway(CLIENT_NAME, options, async (client) => {
    const { call } = await client.call('hooks.test', { name });
    if (options.json) return printJson({ call });
    if (call.direction === 'out' && call.state !== 'completed')
      throw new CommandError(escapeToOneLine(call.error ?? 'The event was not sent.'));
    printLine(
      call.direction === 'in' ? 'A sample call is being handled.' : `The receiver accepted the event (status ${call.status ?? 0}).`,
    );
  });

const toAddress = (path: string, options: WithGatewayOptions): string => {
  const { vault } = options;
  return `${resolveTarget(options).http}${path}${vault === undefined ? '' : `?vault=${encodeURIComponent(vault)}`}`;
};

/** Throws `CommandError` for options that a hook does not have. */
function toInput(name: string, options: AddOptions): HookInput {
  const { preset, agent, template, secret, sendTo, event: events = [], withText = false, allowPrivate = false } = options;
  if (sendTo === undefined) {
    const known = HOOK_PRESETS.find((each) => each === preset);
    if (!known) throw new CommandError(`Unknown preset "${preset}". Use one of ${HOOK_PRESETS.join(', ')}.`, 2);
    if (withText || allowPrivate) throw new CommandError('--with-text and --allow-private need --send-to', 2);
    const action = { kind: 'agent', agentId: agent, template } as const;
    return { direction: 'in', name, preset: known, events: [...events], action, ...(secret === undefined ? {} : { secret }) };
  }
  const unknown = events.find((event) => !HOOK_EVENTS.some((each) => each === event));
  if (unknown !== undefined || events.length === 0)
    throw new CommandError(`Name the events to send with --event: ${HOOK_EVENTS.join(', ')}`, 2);
  return { direction: 'out', name, url: sendTo, events: events as HookEvent[], withText, allowPrivate };
}
