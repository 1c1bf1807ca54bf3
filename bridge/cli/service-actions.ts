import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_PORT } from '#shared/link/default-port.ts';
import { toCommandLine } from '../command-line.ts';
import { getHomeDirectory } from '../home-directory.ts';
import { getAppDir, packageRoot } from '../package-root.ts';
import { fetchHealth } from '../server/fetch-health.ts';
import { isLoopbackBind } from '../server/listen.ts';
import { describePortHolder } from '../server/port-holder.ts';
import type { ServiceMachine, ServiceProgram } from '../service/service-types.ts';
import { installService, runLocally, getServiceManager, uninstallService } from '../service/install-service.ts';
import { CommandError } from './command-error.ts';
import { getTlsFiles } from './tls-files.ts';

interface InstallOptions {
  port: number;
  bind: string;
  host: 'auto' | 'tab' | 'headless';
  expose?: boolean;
  tlsCert?: string;
  tlsKey?: string;
  advertise?: boolean;
  dryRun?: boolean;
}

const START_MS = 60_000;
const POLL_MS = 200;
const isCheckout = import.meta.filename.endsWith('.ts');

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);
const printNote = (line: string): void => void process.stderr.write(`${line}\n`);

const getMachine: ServiceMachine = { platform: process.platform, home: homedir(), uid: process.getuid?.() ?? 0, env: process.env };

/** `perch gateway install`: installs the gateway as a service of this user, and waits until it answers. */
export async function installGateway(options: InstallOptions): Promise<void> {
  const served = toServiceProgram(options);
  const service = getServiceManager(getMachine);
  if (options.dryRun) {
    process.stdout.write(service.text(served));
    printNote(`This would be written to ${service.path}. Then these commands would run:`);
    for (const step of [...service.end, ...service.start]) printNote(`  ${step.join(' ')}`);
    return;
  }
  if (!existsSync(join(getAppDir, 'index.html'))) throw new CommandError('The app is not built. Run `npm run build` or `npm start` first.');
  const { port } = options;
  if (!existsSync(service.path) && (await isAnswering(options)))
    throw new CommandError(`Port ${port} is in use by ${await describePortHolder(port)}. Stop it, or choose another port with --port.`);
  if (process.env.PERCH_TOKEN) printNote('PERCH_TOKEN isn’t passed to the service. The service uses the token file.');
  await installService(served, { machine: getMachine });
  printLine(`Installed the service ${service.name}: ${service.path}`);
  for (const end = performance.now() + START_MS; !(await isAnswering(options)); await sleep(POLL_MS))
    if (performance.now() > end)
      throw new CommandError(`The service was started, but the gateway doesn’t respond on port ${port}. See ${service.log(served)}`);
  printLine(
    `The gateway is running on port ${port}. Get a link to the app with \`${toCommandLine(port === DEFAULT_PORT ? 'open' : `open --port ${port}`)}\`.`,
  );
  for (const hint of await service.hints(runLocally)) printNote(hint);
  if (isCheckout) printNote(`The service runs from ${packageRoot}. If you move that folder, install the service again.`);
}

/** `perch gateway uninstall`: stops and removes the service; Perch's data stays. */
export async function uninstallGateway(): Promise<void> {
  const { name } = getServiceManager(getMachine);
  printLine(
    (await uninstallService({ machine: getMachine }))
      ? `Removed the service ${name}. Your chats and settings are kept.`
      : 'No service is installed',
  );
}

function toServiceProgram(options: InstallOptions): ServiceProgram {
  const { port, bind, host, expose = false, advertise = false } = options;
  if (!isLoopbackBind(bind) && !expose)
    throw new CommandError(`${bind} can be reached from other computers. Use --bind 127.0.0.1, or add --expose to serve the API there.`, 2);
  if (isLoopbackBind(bind) && advertise)
    throw new CommandError('--advertise has no effect on a loopback address. Add --bind and --expose.', 2);
  const program = isCheckout ? join(import.meta.dirname, 'main.ts') : join(packageRoot, 'dist', 'perch.js');
  const home = resolve(getHomeDirectory());
  const { PATH, PERCH_CHROMIUM } = process.env;
  const tls = getTlsFiles(options);
  const flags = [
    ...(expose ? ['--expose'] : []),
    ...(tls ? ['--tls-cert', tls.cert, '--tls-key', tls.key] : []),
    ...(advertise ? ['--advertise'] : []),
  ];
  return {
    command: [process.execPath, program, 'gateway', 'run', '--port', String(port), '--bind', bind, '--host', host, ...flags],
    // A service has neither the user's PATH nor this home in its environment.
    environment: { ...(PATH && { PATH }), PERCH_HOME: home, ...(PERCH_CHROMIUM && { PERCH_CHROMIUM: resolve(PERCH_CHROMIUM) }) },
    home,
    port,
  };
}

async function isAnswering({ port, bind }: Pick<InstallOptions, 'port' | 'bind'>): Promise<boolean> {
  // An exposed gateway also listens on the loopback address.
  const host = isLoopbackBind(bind) && bind !== 'localhost' ? bind : '127.0.0.1';
  return (await fetchHealth({ host, port, signal: AbortSignal.timeout(1000) })) !== undefined;
}
