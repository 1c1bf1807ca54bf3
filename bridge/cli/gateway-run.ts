import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ClusterMember } from '../cluster/cluster.ts';
import type { Hosted, Running } from '../headless/browsers.ts';
import type { ManagedOptions } from '../headless/managed.ts';
import { Room } from '../headless/room.ts';
import { Home } from '../home.ts';
import { LogRing } from '../log-ring.ts';
import { appDir, packageVersion } from '../package-root.ts';
import type { Bridge, NamedVault, ServedVault } from '../server/server.ts';
import { staySlim } from '../slim.ts';
import { isLoopbackBind } from '../server/listen.ts';
import { hasVault, serving, vaultFolder, vaultNames } from '../vault-folders.ts';
import { banner, linkUrl } from './banner.ts';
import { type ClusterRunOptions, clusterSettings, CONFIRM_MS, serveTogether } from './cluster-run.ts';
import { CommandError, lineOf } from './errors.ts';
import type { OpenVault, Together, VaultLog } from './open-vault.ts';
import { note, shownLine } from './output.ts';
import { tlsFilesOf } from './tls-files.ts';
import { givenToken, keepToken, tokenTaken } from './token.ts';

export interface GatewayOptions extends ClusterRunOptions {
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
const MOST_BROWSERS = 8;
/** Heap limit for hosts of additional vaults, so that none uses up the memory. */
const HEAP_MB = 1024;

const print = (line: string): void => note(shownLine(line));
const logOf = (ring: LogRing, name: string): VaultLog => ({
  ring,
  log(line) {
    ring.write(line);
    print(name === '' ? line : `${name}: ${line}`);
  },
});
const own = logOf(new LogRing(), '');
const { log } = own;

/** `perch gateway run`: serves until a signal. Prints its lines to standard output once it serves, everything else to standard error. */
export async function runGateway(options: GatewayOptions): Promise<void> {
  const stop = new AbortController();
  const stopped = onSignal(stop);
  await using stack = new AsyncDisposableStack();

  if (options.advertise && isLoopbackBind(options.bind))
    throw new CommandError('--advertise has no effect on a loopback address. Add --bind and --expose.', 2);
  const tls = tlsFilesOf(options);
  const given = givenToken({ option: options.authToken, environment: tokenTaken() }, log);
  if (!existsSync(join(appDir, 'index.html')))
    throw new CommandError('The app is not built. Run `npm run build`, or start with `npm start`.');
  const [{ startBridge }, { openVault }, home] = await Promise.all([
    import('../server/server.ts'),
    import('./open-vault.ts'),
    Home.open({ warn: log }),
  ]);
  const names = await namesOf(home, options.vaults);
  const managed = options.host === 'tab' ? null : import('../headless/managed.ts');
  const executable = managed && (await browserOrExplain());

  const isTogether = options.cluster !== undefined;
  const together = (settings: Together['settings']): Together | undefined => (isTogether ? { settings, confirmMs: CONFIRM_MS } : undefined);
  const first = await openVault(
    home,
    own,
    together((kept) => clusterSettings(options, kept, process.env)),
  );
  stack.defer(() => first.journal.close());
  // The cluster options apply to the home's own vault; the others have their own settings and permissions.
  const others = await openOthers(home, names, stack, (other, sink) =>
    openVault(
      other,
      sink,
      together((kept) => kept),
    ),
  );
  const viaOf = isTogether ? (await import('../cluster/cluster.ts')).viaOf : () => undefined;
  const bridge = await startBridge({
    port: options.port,
    bind: options.bind,
    home,
    token: given ?? (await home.token()),
    journal: first.journal,
    vaultKey: first.vaultKey,
    browserWay: first.browserWay,
    via: viaOf(first.vaultKey),
    others: others.map((other) => ({ ...other, via: viaOf(other.vaultKey) })),
    mode: options.host,
    appDir,
    expose: options.expose ?? false,
    tls,
    ...own,
  });
  const opened = (name: string): OpenVault & VaultLog & { home: Home } =>
    others.find((each) => each.name === name) ?? { ...first, ...own, home };
  for (const { name, hosts } of bridge.vaults) opened(name).shared?.tellHosts(() => hosts.list().flatMap(({ origin }) => origin || []));
  let browsers: { close(): Promise<void> } | undefined;
  const members: ClusterMember[] = [];
  // Close the bridge first: requests in progress can finish, and clients learn the reason.
  stack.defer(async () => {
    await bridge.close(members[0]?.farewell);
    await browsers?.close();
    await Promise.all(members.map((member) => member.close()));
  });

  stack.defer(staySlim());
  const kept = await keepToken(home, Number(new URL(bridge.url).port || 80), given);
  stack.defer(() => kept.forget());

  const limit = options.maxBrowsers ?? browsersThatFit();
  const room = new Room(limit);
  const shared = isTogether ? bridge.vaults.filter(({ name }) => opened(name).shared) : [];
  const serveShared = async (): Promise<void> => {
    for (const vault of shared) {
      const { shared: journal, vaultKey, log, home } = opened(vault.name);
      const managed = executable === null ? null : managedBy(executable, vault, { home, log });
      const hasFirstChoice = vault.name === '';
      if (journal) members.push(await serveTogether({ bridge: vault, journal, vaultKey, managed, room, hasFirstChoice, log }));
    }
  };
  if (managed && executable !== null) {
    const [{ ManagedChromium }, { Browsers }] = await Promise.all([managed, import('../headless/browsers.ts')]);
    // For vaults shared in a cluster, the bridges decide which of them runs the browser.
    const hosted = bridge.vaults.flatMap((vault): Hosted[] => {
      if (shared.includes(vault)) return [];
      const { home, log } = opened(vault.name);
      const start = (): Promise<Running> => ManagedChromium.start(managedBy(executable, vault, { home, log }));
      return [{ hosts: vault.hosts, callers: vault.callers, stays: vault.name === '', log, start }];
    });
    const pool = new Browsers(hosted, { limit });
    browsers = pool;
    stop.signal.addEventListener('abort', () => pool.rest());
    bridge.hosts.expectHost(ATTACH_MS);
    const attached = new Promise<void>((done) => bridge.hosts.once('attach', () => done()));
    await serveShared();
    if (!isTogether && hosted[0]) await pool.start(hosted[0]);
    const late = new Promise<'late'>((done) => void setTimeout(done, ATTACH_MS, 'late').unref());
    const isLate = (await Promise.race([attached, stopped, late])) === 'late';
    // In a cluster another bridge may have the host, and the other vaults are served.
    if (isLate && isTogether) log(`Warning: No host has served the vault for ${ATTACH_MS / 1000} s, here or in the cluster`);
    else if (isLate)
      throw new CommandError(
        `No host started within ${ATTACH_MS / 1000} s. The managed Chromium is running, but its page doesn’t respond.`,
      );
  } else await serveShared();
  if (options.advertise) {
    const { advertise } = await import('../discovery/advertise.ts');
    const port = Number(new URL(bridge.url).port || 80);
    // If advertising fails, the gateway still serves.
    const advertised = await advertise({ port, version: packageVersion(), bind: options.bind, tls: tls !== undefined, log }).catch(
      (error: unknown) => {
        log(`Warning: Couldn’t advertise the gateway with multicast DNS: ${lineOf(error)}`);
      },
    );
    if (advertised) stack.use(advertised);
  }
  if (!stop.signal.aborted) process.stdout.write(`${linesOf(bridge, resolve(kept.file), others).join('\n')}\n`);
  await stopped;
  await Promise.all(members.map((member) => member.leave()));
  // Exit after a timeout: the browser ends as well, since its pipe closes.
  setTimeout(() => process.exit(0), CLOSE_MS).unref();
}

const managedBy = (
  executable: string,
  { name, origin, hostCredential }: ServedVault,
  { home, log }: Pick<VaultLog, 'log'> & { home: Home },
): ManagedOptions => ({
  ...{ executable, profile: resolve(home.profilesDir, 'gateway'), origin, credential: hostCredential, log },
  ...(name !== '' && { heapMb: HEAP_MB }),
});

type OtherVault = NamedVault & OpenVault;

async function namesOf({ dir }: Home, wanted: string[] | undefined): Promise<string[]> {
  if (wanted === undefined) return vaultNames(dir);
  for (const name of wanted) if (!(await hasVault(dir, name))) throw new CommandError(`No vault named ${JSON.stringify(name)}`, 2);
  return [...new Set(wanted)].sort();
}

/** Opens the additional vaults. One that can't be read is reported, and the others are served. */
async function openOthers(
  { dir }: Home,
  names: readonly string[],
  stack: AsyncDisposableStack,
  open: (home: Home, log: VaultLog) => Promise<OpenVault>,
): Promise<OtherVault[]> {
  const opened: OtherVault[] = [];
  for (const name of names) {
    const sink = logOf(new LogRing(), name);
    try {
      const home = await Home.open({ dir: vaultFolder(dir, name), warn: sink.log });
      const vault = await open(home, sink);
      stack.use(await serving(home.dir));
      stack.defer(() => vault.journal.close());
      opened.push({ ...vault, ...sink, name, home, token: await home.token() });
    } catch (error) {
      log(`Warning: Couldn’t open the vault ${name}: ${lineOf(error)}`);
    }
  }
  return opened;
}

const browsersThatFit = (): number => Math.max(1, Math.min(MOST_BROWSERS, Math.floor(process.availableMemory() / BROWSER_BYTES)));

/** The banner of the home's own vault, then link and token file of each other one. */
function linesOf(bridge: Bridge, tokenFile: string, others: readonly OtherVault[]): string[] {
  const lines = banner({ origin: bridge.url, elsewhere: bridge.elsewhere, issueCode: () => bridge.issueCode(LINK_MS), tokenFile });
  for (const { name, origin, issueCode } of bridge.vaults) {
    const vault = others.find((each) => each.name === name);
    if (vault) lines.push(`Vault      ${name}   ${linkUrl(origin, issueCode(LINK_MS))}   token in ${vault.home.tokenFile}`);
  }
  return lines;
}

async function browserOrExplain(): Promise<string> {
  const { ensureBrowser } = await import('../headless/install.ts');
  return ensureBrowser({ interactive: Boolean(process.stdin.isTTY && process.stderr.isTTY && !process.env.CI), say: log }).catch(
    (error: unknown) => {
      throw new CommandError(lineOf(error), 1, { cause: error });
    },
  );
}

/** Resolves at the first termination signal. A second one ends the process immediately. */
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
