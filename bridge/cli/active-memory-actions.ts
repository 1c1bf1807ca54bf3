import type { GatewayClient } from '#shared/client/client.ts';
import type { RecallState } from '#shared/rpc/methods/session-contracts.ts';
import { callGateway, connectGateway, type ConnectionOptions } from './connect-gateway.ts';
import { printLine, printJson, escapeToOneLine } from './terminal-output.ts';
import { toSessionKey, toSessionPath } from './sessions-actions.ts';

interface ActiveMemoryOptions extends ConnectionOptions {
  timeout: number;
  session: string;
  json?: boolean;
}

/** `perch active-memory on|off`: switches active recall in a session, and prints its state. */
export const setActiveMemory = (enabled: boolean, options: ActiveMemoryOptions): Promise<void> =>
  printState(options, (client) =>
    callGateway(client, 'sessions.setRecall', { path: toSessionPath(options.session), enabled }, options.timeout),
  );

/** `perch active-memory status`: prints whether memory is searched before each reply in a session, and if not, why. */
export const printActiveMemory = (options: ActiveMemoryOptions): Promise<void> =>
  printState(options, (client) => callGateway(client, 'sessions.recall', { path: toSessionPath(options.session) }, options.timeout));

async function printState(
  { json = false, session: _, ...options }: ActiveMemoryOptions,
  request: (client: GatewayClient) => Promise<RecallState>,
): Promise<void> {
  const client = await connectGateway({ ...options, name: 'perch active-memory', timeoutMs: options.timeout });
  try {
    const { path, enabled, active, reason } = await request(client);
    const session = toSessionKey(path);
    if (json) return printJson({ session, enabled, active, reason });
    printLine(`Active memory is ${enabled ? 'on' : 'off'} for ${session}`);
    // The session's own switch is already printed.
    if (enabled && reason !== null) printLine(`Memory isn’t searched: ${escapeToOneLine(reason)}`);
  } finally {
    client.close();
  }
}
