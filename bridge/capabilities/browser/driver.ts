// A program of its own beside the bridge that drives browsers: what a page can do to the one who drives it, it does to this.
import { answer } from '#shared/link/calls.ts';
import { browserPort } from '#shared/ports/browser.ts';
import { browserHandlers } from './browser.ts';
import { processLink } from './process-link.ts';
import { BrowserProfiles } from './profiles.ts';

/** How long browsers have to close, once the bridge wants no more of them or is gone. */
const CLOSE_MS = 1500;

const say = (line: string): void => void process.stderr.write(`${line.replaceAll('\n', ' ')}\n`);
const [dir = ''] = process.argv.slice(2);
const profiles = new BrowserProfiles({ dir, log: say });
const handlers = browserHandlers(profiles);
// Who does not want an answer any more does not get it; the calls end by themselves.
const call = { signal: new AbortController().signal, send: () => {} };

process.on('disconnect', () => {
  setTimeout(() => process.exit(), CLOSE_MS);
  void profiles.close().finally(() => process.exit());
});
answer(
  processLink(process),
  browserPort.calls,
  Object.fromEntries(Object.entries(handlers).map(([name, handle]) => [name, (params: never) => handle(params, call)])) as never,
  { fault: (error) => say(`browser: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`) },
);
