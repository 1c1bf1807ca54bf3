// A separate program that controls browsers, so that a malicious page can only affect this process.
import { type Answerer, answer } from '#shared/link/calls.ts';
import { browserPort } from '#shared/ports/browser.ts';
import { browserHandlers } from './browser.ts';
import { processLink } from './process-link.ts';
import { BrowserProfiles } from './profiles.ts';

/** Time for browsers to close when the bridge asks for it or is gone. */
const CLOSE_MS = 1500;

const say = (line: string): void => void process.stderr.write(`${line.replaceAll('\n', ' ')}\n`);
const [dir = ''] = process.argv.slice(2);
const profiles = new BrowserProfiles({ dir, log: say });
const handlers = browserHandlers(profiles);

process.on('disconnect', () => {
  setTimeout(() => process.exit(), CLOSE_MS);
  void profiles.close().finally(() => process.exit());
});
const bridge: Answerer<typeof browserPort.events> = answer<typeof browserPort.calls, typeof browserPort.events>(
  processLink(process),
  browserPort.calls,
  Object.fromEntries(
    Object.entries(handlers).map(([name, handle]) => [
      name,
      (params: never, signal: AbortSignal) => handle(params, { signal, send: (event, payload) => bridge.send(event, payload) }),
    ]),
  ) as never,
  { fault: (error) => say(`browser: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`) },
);
