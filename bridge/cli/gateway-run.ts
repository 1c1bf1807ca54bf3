import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { backupsDir, Home } from '../home.ts';
import { sweepLeftovers } from '../leftovers.ts';
import { LogRing } from '../log-ring.ts';
import { appDir, packageVersion } from '../package-root.ts';
import type { BrowserWay } from '#shared/sync/nats/way.ts';
import type { NatsSettings } from '../sync/settings.ts';
import type { SharedJournal, SharedJournalOptions } from '../sync/shared-journal.ts';
import { staySlim } from '../slim.ts';
import { isLoopbackBind } from '../server/listen.ts';
import { banner } from './banner.ts';
import { CommandError, lineOf } from './errors.ts';
import { givenToken, keepToken, tokenTaken } from './token.ts';

export interface GatewayOptions {
  port: number;
  bind: string;
  host: 'auto' | 'tab' | 'headless';
  authToken?: string;
  expose?: boolean;
  advertise?: boolean;
}

const LINK_MS = 10 * 60_000;
const ATTACH_MS = 60_000;
const CLOSE_MS = 2_800;

const ring = new LogRing();
const log = (line: string): void => {
  ring.write(line);
  process.stderr.write(`${line.replaceAll('\n', ' ')}\n`);
};

/** `perch gateway run`: serves until a signal. Prints the three lines on standard output once it serves, all else on standard error. */
export async function runGateway(options: GatewayOptions): Promise<void> {
  const stop = new AbortController();
  const stopped = onSignal(stop);
  await using stack = new AsyncDisposableStack();

  if (options.advertise && isLoopbackBind(options.bind))
    throw new CommandError('--advertise is of use to nobody: the gateway listens on this machine alone; give --bind and --expose too', 2);
  const given = givenToken({ option: options.authToken, environment: tokenTaken() }, log);
  if (!existsSync(join(appDir, 'index.html')))
    throw new CommandError('the app is not built: run `npm run build`, or start with `npm start`');
  const [{ startBridge }, { openJournal }, { vaultKey }, { readSyncSettings }, home] = await Promise.all([
    import('../server/server.ts'),
    import('../journal/open.ts'),
    import('../journal/vault-key.ts'),
    import('../sync/settings.ts'),
    Home.open({ warn: log }),
  ]);
  const managed = options.host === 'tab' ? null : import('../headless/managed.ts');
  const executable = managed && (await browserOrExplain());

  const key = await vaultKey(home.dir, log);
  const nats = await readSyncSettings(home.dir, log).catch((error: unknown) => {
    throw new CommandError(lineOf(error), 1, { cause: error });
  });
  const embedded = await openJournal({ dir: home.dir, vaultKey: key, log });
  const shared = nats && (await shareJournal({ journal: embedded, dir: home.dir, vaultKey: key, nats }));
  const journal = shared ?? embedded;
  // Behind the bridge, whose hosts may push until they are told.
  stack.defer(() => journal.close());
  for (const dir of [home.dir, backupsDir(home.dir)]) await sweepLeftovers(dir, { now: Date.now(), warn: log });
  const bridge = await startBridge({
    port: options.port,
    bind: options.bind,
    home,
    token: given ?? (await home.token()),
    journal,
    vaultKey: key,
    browserWay: nats && (() => browserWay(home.dir, nats)),
    mode: options.host,
    appDir,
    expose: options.expose ?? false,
    log,
    ring,
  });
  shared?.tellHosts(() => bridge.hosts.list().flatMap(({ origin }) => origin || []));
  let chromium: { close(): Promise<void> } | undefined;
  // The bridge first: what is under way may end well, and clients hear why.
  stack.defer(async () => {
    await bridge.close();
    await chromium?.close();
  });

  stack.defer(staySlim());
  const kept = await keepToken(home, Number(new URL(bridge.url).port || 80), given);
  stack.defer(() => kept.forget());
  const tokenFile = resolve(kept.file);

  if (managed && executable) {
    const [{ ManagedChromium }, { keepHosted }] = await Promise.all([managed, import('../headless/keep-hosted.ts')]);
    bridge.hosts.expectHost(ATTACH_MS);
    const attached = new Promise<void>((done) => bridge.hosts.once('attach', () => done()));
    const started = await ManagedChromium.start({
      executable,
      profile: resolve(home.profilesDir, 'gateway'),
      origin: bridge.url,
      credential: () => bridge.hostCredential(),
      log,
    });
    chromium = started;
    keepHosted(bridge.hosts, started, stop.signal);
    const late = AbortSignal.timeout(ATTACH_MS);
    await Promise.race([
      attached,
      stopped,
      rejectOn(late, `no host began to serve within ${ATTACH_MS / 1000} s: the managed Chromium runs, but its page does not answer`),
    ]);
  }
  if (options.advertise) {
    const { advertise } = await import('../discovery/advertise.ts');
    const port = Number(new URL(bridge.url).port || 80);
    // What cannot be told to the network still serves.
    const advertised = await advertise({ port, version: packageVersion(), bind: options.bind, log }).catch((error: unknown) => {
      log(`warning: the gateway is not advertised, for multicast DNS cannot be used here: ${lineOf(error)}`);
    });
    if (advertised) stack.use(advertised);
  }
  if (!stop.signal.aborted) {
    process.stdout.write(`${banner({ origin: bridge.url, code: bridge.issueCode(LINK_MS), tokenFile }).join('\n')}\n`);
  }
  await stopped;
  // What does not go in time goes with the process: the browser's pipe closes with it.
  setTimeout(() => process.exit(0), CLOSE_MS).unref();
}

/** What shares the vault is loaded where it is shared. */
async function shareJournal(options: Omit<SharedJournalOptions, 'resolve' | 'log'>): Promise<SharedJournal> {
  const { SharedJournal } = await import('../sync/shared-journal.ts');
  return new SharedJournal({ ...options, resolve: (setting) => hiddenText(options.dir, setting), log });
}

async function browserWay(dir: string, nats: NatsSettings): Promise<BrowserWay | null> {
  const { browserWayOf } = await import('../sync/browser-way.ts');
  return browserWayOf(nats, (setting) => hiddenText(dir, setting));
}

/** A setting's text, or the secret that it refers to, which no log shows from then on. */
async function hiddenText(dir: string, setting: string): Promise<string> {
  const { secretText } = await import('../sync/secret-text.ts');
  const secret = await secretText(dir, setting);
  ring.hide([secret]);
  return secret;
}

async function browserOrExplain(): Promise<string> {
  const { ensureBrowser } = await import('../headless/install.ts');
  return ensureBrowser({ interactive: Boolean(process.stdin.isTTY && process.stderr.isTTY && !process.env.CI), say: log }).catch(
    (error: unknown) => {
      throw new CommandError(lineOf(error), 1, { cause: error });
    },
  );
}

/** Resolves at the first signal to end; a second one ends the process at once. */
function onSignal(stop: AbortController): Promise<void> {
  return new Promise((done) => {
    const end = (): void => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort();
      done();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  });
}

const rejectOn = (signal: AbortSignal, message: string): Promise<never> =>
  new Promise((_, fail) => signal.addEventListener('abort', () => fail(new CommandError(message)), { once: true }));
