// A separate program that controls browsers, so that a malicious page can only affect this process.
import { type PortServer, serveCalls } from '#shared/link/port-calls.ts';
import { browserPort } from '#shared/ports/browser-port.ts';
import { createBrowserHandlers } from './browser-handlers.ts';
import { createProcessLink } from './process-link.ts';
import { BrowserProfiles } from './browser-profiles.ts';

/** Time for browsers to close when the bridge asks for it or is gone. */
const CLOSE_MS = 1500;

const sendMessage = (line: string): void => void process.stderr.write(`${line.replaceAll('\n', ' ')}\n`);
const [dir = ''] = process.argv.slice(2);
const profiles = new BrowserProfiles({ dir, log: sendMessage });
const handlers = createBrowserHandlers(profiles);

process.on('disconnect', () => {
  setTimeout(() => process.exit(), CLOSE_MS);
  void profiles.close().finally(() => process.exit());
});
const bridge: PortServer<typeof browserPort.events> = serveCalls<typeof browserPort.calls, typeof browserPort.events>(
  createProcessLink(process),
  browserPort.calls,
  Object.fromEntries(
    Object.entries(handlers).map(([name, handle]) => [
      name,
      (params: never, signal: AbortSignal) => handle(params, { signal, send: (event, payload) => bridge.send(event, payload) }),
    ]),
  ) as never,
  { fault: (error) => sendMessage(`browser: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`) },
);
