import type { GatewayClient } from '#shared/client/client.ts';
import type { RecallState } from '#shared/rpc/methods/sessions.ts';
import { callOf, connect, type ConnectionOptions } from './connect.ts';
import { say, sayJson, shownLine } from './output.ts';
import { keyOf, pathOf } from './sessions.ts';

export interface ActiveMemoryOptions extends ConnectionOptions {
  timeout: number;
  session: string;
  json?: boolean;
}

/** `perch active-memory on|off`: switches active recall in a session, and prints its state. */
export const switchActiveMemory = (enabled: boolean, options: ActiveMemoryOptions): Promise<void> =>
  printed(options, (client) => callOf(client, 'sessions.setRecall', { path: pathOf(options.session), enabled }, options.timeout));

/** `perch active-memory status`: prints whether memory is searched before each reply in a session, and if not, why. */
export const printActiveMemory = (options: ActiveMemoryOptions): Promise<void> =>
  printed(options, (client) => callOf(client, 'sessions.recall', { path: pathOf(options.session) }, options.timeout));

async function printed(
  { json = false, session: _, ...options }: ActiveMemoryOptions,
  ask: (client: GatewayClient) => Promise<RecallState>,
): Promise<void> {
  const client = await connect({ ...options, name: 'perch active-memory', timeoutMs: options.timeout });
  try {
    const { path, enabled, active, reason } = await ask(client);
    const session = keyOf(path);
    if (json) return sayJson({ session, enabled, active, reason });
    say(`Active memory is ${enabled ? 'on' : 'off'} for ${session}`);
    // The session's own switch is already printed.
    if (enabled && reason !== null) say(`Memory isn’t searched: ${shownLine(reason)}`);
  } finally {
    client.close();
  }
}
