import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ClusterMember } from '../cluster/join-cluster.ts';
import type { HostedVault, RunningBrowser } from '../headless/browser-pool.ts';
import type { ManagedChromiumOptions } from '../headless/managed-chromium.ts';
import { BrowserSemaphore } from '../headless/browser-semaphore.ts';
import { Home } from '../home-directory.ts';
import { LogRing } from '../log-ring.ts';
import { getAppDir, getPackageVersion } from '../package-root.ts';
import type { Bridge, NamedVault, ServedVault } from '../server/start-bridge.ts';
import { startIdleGc } from '../idle-gc.ts';
import { isLoopbackBind } from '../server/listen.ts';
import { hasVault, markServed, getVaultFolder, listVaultNames } from '../vault-folders.ts';
import { createBanner, toLinkUrl } from './banner.ts';
import { type ClusterRunOptions, getClusterSettings, CONFIRM_MS, joinServingCluster } from './run-cluster.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import type { OpenVault, SharedVaultOptions, VaultLog } from './open-vault.ts';
import { printNote, escapeToOneLine } from './terminal-output.ts';
import { getTlsFiles } from './tls-files.ts';
import { getGivenToken, storeToken, takeTokenFromEnv } from './owner-token.ts';

interface RunGatewayOptions extends ClusterRunOptions {
  port: number;
  bind: string;
  host: 'auto' | 'tab' | 'headless';
  authToken?: string;
  expose?: boolean;
  tlsCert?: string;
  tlsKey?: string;
  advertise?: boolean;
  /** Names of additional vaults to serve. Default: all. */
  vaults?: string[];
  maxBrowsers?: number;
}

const LINK_MS = 10 * 60_000;
const ATTACH_MS = 60_000;
const CLOSE_MS = 2_800;
/** Free memory required per browser, and the maximum number of browsers. */
const BROWSER_BYTES = 512 * 1024 * 1024;
const MAX_BROWSERS = 8;
/** Heap limit for hosts of additional vaults, so that none uses up the memory. */
const HEAP_MB = 1024;

const printLine = (line: string): void => printNote(escapeToOneLine(line));
const createLog = (ring: LogRing, name: string): VaultLog => ({
  ring,
  log(line) {
    ring.write(line);
    printLine(name === '' ? line : `${name}: ${line}`);
  },
});
const ownVault = createLog(new LogRing(), '');
const { log } = ownVault;

/** `perch gateway run`: serves until a signal. Prints its lines to standard output once it serves, everything else to standard error. */
export async function runGateway(options: RunGatewayOptions): Promise<void> {
  const stop = new AbortController();
  const stopped = awaitSignal(stop);
  await using stack = new AsyncDisposableStack();

  if (options.advertise && isLoopbackBind(options.bind))
    throw new CommandError('--advertise has no effect on a loopback address. Add --bind and --expose.', 2);
  const tls = getTlsFiles(options);
  const givenToken = getGivenToken({ option: options.authToken, environment: takeTokenFromEnv() }, log);
  if (!existsSync(join(getAppDir, 'index.html')))
    throw new CommandError('The app is not built. Run `npm run build`, or start with `npm start`.');
  const [{ startBridge }, { openVault }, home] = await Promise.all([
    import('../server/start-bridge.ts'),
    import('./open-vault.ts'),
    Home.open({ warn: log }),
  ]);
  const names = await resolveVaultNames(home, options.vaults);
  const managed = options.host === 'tab' ? null : import('../headless/managed-chromium.ts');
  const executable = managed && (await findBrowserOrExplain());

  const isTogether = options.cluster !== undefined;
  const together = (settings: SharedVaultOptions['settings']): SharedVaultOptions | undefined =>
    isTogether ? { settings, confirmMs: CONFIRM_MS } : undefined;
  const first = await openVault(
    home,
    ownVault,
    together((storedSettings) => getClusterSettings(options, storedSettings, process.env)),
  );
  stack.defer(() => first.journal.close());
  // The cluster options apply to the home's own vault; the others have their own settings and permissions.
  const otherVaults = await openOtherVaults(home, names, stack, (other, sink) =>
    openVault(
      other,
      sink,
      together((storedSettings) => storedSettings),
    ),
  );
  const viaOf = isTogether ? (await import('../cluster/join-cluster.ts')).toViaId : () => undefined;
  const bridge = await startBridge({
    port: options.port,
    bind: options.bind,
    home,
    token: givenToken ?? (await home.token()),
    journal: first.journal,
    vaultKey: first.vaultKey,
    browserWay: first.browserWay,
    via: viaOf(first.vaultKey),
    others: otherVaults.map((other) => ({ ...other, via: viaOf(other.vaultKey) })),
    mode: options.host,
    appDir: getAppDir,
    expose: options.expose ?? false,
    tls,
    ...ownVault,
  });
  const opened = (name: string): OpenVault & VaultLog & { home: Home } =>
    otherVaults.find((each) => each.name === name) ?? { ...first, ...ownVault, home };
  for (const { name, hosts } of bridge.vaults) opened(name).shared?.tellHosts(() => hosts.list().flatMap(({ origin }) => origin || []));
  let browsers: { close(): Promise<void> } | undefined;
  const members: ClusterMember[] = [];
  // Close the bridge first: requests in progress can finish, and clients learn the reason.
  stack.defer(async () => {
    await bridge.close(members[0]?.shutdownReason);
    await browsers?.close();
    await Promise.all(members.map((member) => member.close()));
  });

  stack.defer(startIdleGc());
  const storedToken = await storeToken(home, Number(new URL(bridge.url).port || 80), givenToken);
  stack.defer(() => storedToken.forget());

  const limit = options.maxBrowsers ?? computeMaxBrowsers();
  const browserSemaphore = new BrowserSemaphore(limit);
  const shared = isTogether ? bridge.vaults.filter(({ name }) => opened(name).shared) : [];
  const serveShared = async (): Promise<void> => {
    for (const vault of shared) {
      const { shared: journal, vaultKey, log, home } = opened(vault.name);
      const managed = executable === null ? null : toManagedOptions(executable, vault, { home, log });
      const reservesPlace = vault.name === '';
      if (journal)
        members.push(await joinServingCluster({ bridge: vault, journal, vaultKey, managed, room: browserSemaphore, reservesPlace, log }));
    }
  };
  if (managed && executable !== null) {
    const [{ ManagedChromium }, { BrowserPool }] = await Promise.all([managed, import('../headless/browser-pool.ts')]);
    // For vaults shared in a cluster, the bridges decide which of them runs the browser.
    const hosted = bridge.vaults.flatMap((vault): HostedVault[] => {
      if (shared.includes(vault)) return [];
      const { home, log } = opened(vault.name);
      const start = (): Promise<RunningBrowser> => ManagedChromium.start(toManagedOptions(executable, vault, { home, log }));
      return [{ hosts: vault.hosts, callers: vault.callers, stays: vault.name === '', log, start }];
    });
    const pool = new BrowserPool(hosted, { limit });
    browsers = pool;
    stop.signal.addEventListener('abort', () => pool.stopSupervision());
    bridge.hosts.expectHost(ATTACH_MS);
    const attached = new Promise<void>((done) => bridge.hosts.once('attach', () => done()));
    await serveShared();
    if (!isTogether && hosted[0]) await pool.start(hosted[0]);
    const deadline = new Promise<'late'>((done) => void setTimeout(done, ATTACH_MS, 'late').unref());
    const isLate = (await Promise.race([attached, stopped, deadline])) === 'late';
    // In a cluster another bridge may have the host, and the other vaults are served.
    if (isLate && isTogether) log(`Warning: No gateway has been active for ${ATTACH_MS / 1000} s, here or in the cluster`);
    else if (isLate)
      throw new CommandError(
        `The gateway didn’t start within ${ATTACH_MS / 1000} s. The background browser is running, but its page doesn’t respond.`,
      );
  } else await serveShared();
  if (options.advertise) {
    const { advertiseGateway } = await import('../discovery/advertise.ts');
    const port = Number(new URL(bridge.url).port || 80);
    // If advertising fails, the gateway still serves.
    const advertised = await advertiseGateway({
      port,
      version: getPackageVersion(),
      bind: options.bind,
      tls: tls !== undefined,
      log,
    }).catch((error: unknown) => {
      log(`Warning: Couldn’t advertise the gateway with multicast DNS: ${toErrorLine(error)}`);
    });
    if (advertised) stack.use(advertised);
  }
  if (!stop.signal.aborted) process.stdout.write(`${toBannerLines(bridge, resolve(storedToken.file), otherVaults).join('\n')}\n`);
  await stopped;
  await Promise.all(members.map((member) => member.leave()));
  // Exit after a timeout: the browser ends as well, since its pipe closes.
  setTimeout(() => process.exit(0), CLOSE_MS).unref();
}

const toManagedOptions = (
  executable: string,
  { name, origin, hostCredential }: ServedVault,
  { home, log }: Pick<VaultLog, 'log'> & { home: Home },
): ManagedChromiumOptions => ({
  ...{ executable, profile: resolve(home.profilesDir, 'gateway'), origin, credential: hostCredential, log },
  ...(name !== '' && { heapMb: HEAP_MB }),
});

type AdditionalVault = NamedVault & OpenVault;

async function resolveVaultNames({ dir }: Home, names: string[] | undefined): Promise<string[]> {
  if (names === undefined) return listVaultNames(dir);
  for (const name of names) if (!(await hasVault(dir, name))) throw new CommandError(`No vault named ${JSON.stringify(name)}`, 2);
  return [...new Set(names)].sort();
}

/** Opens the additional vaults. One that can't be read is reported, and the others are served. */
async function openOtherVaults(
  { dir }: Home,
  names: readonly string[],
  stack: AsyncDisposableStack,
  open: (home: Home, log: VaultLog) => Promise<OpenVault>,
): Promise<AdditionalVault[]> {
  const opened: AdditionalVault[] = [];
  for (const name of names) {
    const sink = createLog(new LogRing(), name);
    try {
      const home = await Home.open({ dir: getVaultFolder(dir, name), warn: sink.log });
      const vault = await open(home, sink);
      stack.use(await markServed(home.dir));
      stack.defer(() => vault.journal.close());
      opened.push({ ...vault, ...sink, name, home, token: await home.token() });
    } catch (error) {
      log(`Warning: Couldn’t open the vault ${name}: ${toErrorLine(error)}`);
    }
  }
  return opened;
}

const computeMaxBrowsers = (): number => Math.max(1, Math.min(MAX_BROWSERS, Math.floor(process.availableMemory() / BROWSER_BYTES)));

/** The banner of the home's own vault, then link and token file of each other one. */
function toBannerLines(bridge: Bridge, tokenFile: string, others: readonly AdditionalVault[]): string[] {
  const lines = createBanner({ origin: bridge.url, elsewhere: bridge.elsewhere, issueCode: () => bridge.issueCode(LINK_MS), tokenFile });
  for (const { name, origin, issueCode } of bridge.vaults) {
    const vault = others.find((each) => each.name === name);
    if (vault) lines.push(`Vault      ${name}   ${toLinkUrl(origin, issueCode(LINK_MS))}   token in ${vault.home.tokenFile}`);
  }
  return lines;
}

async function findBrowserOrExplain(): Promise<string> {
  const { ensureBrowser } = await import('../headless/install-browser.ts');
  return ensureBrowser({ interactive: Boolean(process.stdin.isTTY && process.stderr.isTTY && !process.env.CI), report: log }).catch(
    (error: unknown) => {
      throw new CommandError(toErrorLine(error), 1, { cause: error });
    },
  );
}

/** Resolves at the first termination signal. A second one ends the process immediately. */
function awaitSignal(stop: AbortController): Promise<void> {
  return new Promise((done) => {
    const end = (): void => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort();
      done();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  });
}
