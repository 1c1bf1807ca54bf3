import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_PORT } from '#shared/link/default-port.ts';
import { commandLine } from '../command-line.ts';
import { homeDirectory } from '../home.ts';
import { appDir, packageRoot } from '../package-root.ts';
import { askForHealth } from '../server/ask-health.ts';
import { isLoopbackBind } from '../server/listen.ts';
import { portHolder } from '../server/port-holder.ts';
import type { Machine, Served } from '../service/definition.ts';
import { installService, runHere, serviceOn, uninstallService } from '../service/service.ts';
import { CommandError } from './errors.ts';
import { tlsFilesOf } from './tls-files.ts';

export interface InstallOptions {
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
const LOOK_MS = 200;
const isCheckout = import.meta.filename.endsWith('.ts');

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const note = (line: string): void => void process.stderr.write(`${line}\n`);

const machine: Machine = { platform: process.platform, home: homedir(), uid: process.getuid?.() ?? 0, env: process.env };

/** `perch gateway install`: installs the gateway as a service of this user, and waits until it answers. */
export async function installGateway(options: InstallOptions): Promise<void> {
  const served = servedBy(options);
  const service = serviceOn(machine);
  if (options.dryRun) {
    process.stdout.write(service.text(served));
    note(`This would be written to ${service.path}. Then these commands would run:`);
    for (const step of [...service.end, ...service.start]) note(`  ${step.join(' ')}`);
    return;
  }
  if (!existsSync(join(appDir, 'index.html'))) throw new CommandError('The app is not built. Run `npm run build` or `npm start` first.');
  const { port } = options;
  if (!existsSync(service.path) && (await answers(options)))
    throw new CommandError(`Port ${port} is in use by ${await portHolder(port)}. Stop it, or choose another port with --port.`);
  if (process.env.PERCH_TOKEN) note('PERCH_TOKEN isn’t passed to the service. The service uses the token file.');
  await installService(served, { machine });
  say(`Installed the service ${service.name}: ${service.path}`);
  for (const end = performance.now() + START_MS; !(await answers(options)); await sleep(LOOK_MS))
    if (performance.now() > end)
      throw new CommandError(`The service was started, but the gateway doesn’t respond on port ${port}. See ${service.log(served)}`);
  say(
    `The gateway is running on port ${port}. Get a link to the app with \`${commandLine(port === DEFAULT_PORT ? 'open' : `open --port ${port}`)}\`.`,
  );
  for (const hint of await service.hints(runHere)) note(hint);
  if (isCheckout) note(`The service runs from ${packageRoot}. If you move that folder, install the service again.`);
}

/** `perch gateway uninstall`: stops and removes the service; Perch's data stays. */
export async function uninstallGateway(): Promise<void> {
  const { name } = serviceOn(machine);
  say((await uninstallService({ machine })) ? `Removed the service ${name}. Your chats and settings are kept.` : 'No service is installed');
}

function servedBy(options: InstallOptions): Served {
  const { port, bind, host, expose = false, advertise = false } = options;
  if (!isLoopbackBind(bind) && !expose)
    throw new CommandError(`${bind} can be reached from other computers. Use --bind 127.0.0.1, or add --expose to serve the API there.`, 2);
  if (isLoopbackBind(bind) && advertise)
    throw new CommandError('--advertise has no effect on a loopback address. Add --bind and --expose.', 2);
  const program = isCheckout ? join(import.meta.dirname, 'main.ts') : join(packageRoot, 'dist', 'perch.js');
  const home = resolve(homeDirectory());
  const { PATH, PERCH_CHROMIUM } = process.env;
  const tls = tlsFilesOf(options);
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

async function answers({ port, bind }: Pick<InstallOptions, 'port' | 'bind'>): Promise<boolean> {
  // An exposed gateway also listens on the loopback address.
  const host = isLoopbackBind(bind) && bind !== 'localhost' ? bind : '127.0.0.1';
  return (await askForHealth({ host, port, signal: AbortSignal.timeout(1000) })) !== undefined;
}
