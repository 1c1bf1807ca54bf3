import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { runProgram } from '../capabilities/system/run-program.ts';
import { CommandError } from '../cli/errors.ts';
import { readIfThere, writeWhole } from '../home.ts';
import type { Machine, Run, Served, Service } from './definition.ts';
import { launchd } from './launchd.ts';
import { systemd } from './systemd.ts';
import { task } from './task.ts';

export interface ServiceDeps {
  machine: Machine;
  run?: Run;
}

const RUN_MS = 30_000;
export const runHere: Run = (program, args) => runProgram(program, args, { timeout: RUN_MS });

/** Returns the service manager of this system. Throws if none is supported. */
export function serviceOn(machine: Machine): Service {
  if (machine.platform === 'win32') return task(machine);
  if (machine.platform === 'darwin') return launchd(machine);
  if (machine.platform === 'linux') return systemd(machine);
  throw new CommandError(`Services are not supported on ${machine.platform}`);
}

/** Writes the definition and starts the service, replacing an existing one. Throws a CommandError if that fails. */
export async function installService(served: Served, { machine, run = runHere }: ServiceDeps): Promise<Service> {
  const service = serviceOn(machine);
  const why = await service.missing(run);
  if (why !== undefined) throw new CommandError(why);
  await mkdir(dirname(service.path), { recursive: true });
  for (const [program, ...args] of service.end) await run(program, args);
  await writeWhole(service.path, service.text(served), rename);
  for (const [program, ...args] of service.start) {
    const { code, stderr, stdout } = await run(program, args);
    if (code === 0) continue;
    const said = (stderr || stdout)
      .trim()
      .replace(/\s*\n\s*/g, ' ')
      .replace(/\.$/, '');
    throw new CommandError(`\`${[program, ...args].join(' ')}\` failed${said ? `: ${said}` : ''}. ${service.path} was written.`);
  }
  return service;
}

/** Stops the service and removes its definition. Returns false if none was installed. */
export async function uninstallService({ machine, run = runHere }: ServiceDeps): Promise<boolean> {
  const service = serviceOn(machine);
  if ((await readIfThere(service.path)) === undefined) return false;
  for (const [program, ...args] of service.remove) await run(program, args);
  await rm(service.path, { force: true });
  for (const [program, ...args] of service.forget) await run(program, args);
  return true;
}
