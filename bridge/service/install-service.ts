import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { runProgram } from '../capabilities/system/run-program.ts';
import { CommandError } from '../cli/command-error.ts';
import { readFileIfExists, writeFileAtomically } from '../home-directory.ts';
import type { ServiceMachine, RunProgram, ServiceProgram, ServiceManager } from './service-types.ts';
import { createLaunchdService } from './launchd.ts';
import { createSystemdService } from './systemd.ts';
import { createScheduledTask } from './scheduled-task.ts';

interface InstallServiceDeps {
  machine: ServiceMachine;
  run?: RunProgram;
}

const RUN_MS = 30_000;
export const runLocally: RunProgram = (program, args) => runProgram(program, args, { timeout: RUN_MS });

/** Returns the service manager of this system. Throws if none is supported. */
export function getServiceManager(machine: ServiceMachine): ServiceManager {
  if (machine.platform === 'win32') return createScheduledTask(machine);
  if (machine.platform === 'darwin') return createLaunchdService(machine);
  if (machine.platform === 'linux') return createSystemdService(machine);
  throw new CommandError(`Services are not supported on ${machine.platform}`);
}

/** Writes the definition and starts the service, replacing an existing one. Throws a CommandError if that fails. */
export async function installService(served: ServiceProgram, { machine, run = runLocally }: InstallServiceDeps): Promise<ServiceManager> {
  const service = getServiceManager(machine);
  const reason = await service.missing(run);
  if (reason !== undefined) throw new CommandError(reason);
  await mkdir(dirname(service.path), { recursive: true });
  for (const [program, ...args] of service.end) await run(program, args);
  await writeFileAtomically(service.path, service.text(served), rename);
  for (const [program, ...args] of service.start) {
    const { code, stderr, stdout } = await run(program, args);
    if (code === 0) continue;
    const output = (stderr || stdout)
      .trim()
      .replace(/\s*\n\s*/g, ' ')
      .replace(/\.$/, '');
    throw new CommandError(`\`${[program, ...args].join(' ')}\` failed${output ? `: ${output}` : ''}. ${service.path} was written.`);
  }
  return service;
}

/** Stops the service and removes its definition. Returns false if none was installed. */
export async function uninstallService({ machine, run = runLocally }: InstallServiceDeps): Promise<boolean> {
  const service = getServiceManager(machine);
  if ((await readFileIfExists(service.path)) === undefined) return false;
  for (const [program, ...args] of service.remove) await run(program, args);
  await rm(service.path, { force: true });
  for (const [program, ...args] of service.forget) await run(program, args);
  return true;
}
