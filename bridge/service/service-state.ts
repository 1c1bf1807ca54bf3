import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createLocalTarget } from '../cli/gateway-target.ts';

const QUERY_MS = 2_000;

/** Runs a program. Returns its output and whether it succeeded; undefined if it is missing or does not answer. */
const queryProgram = (program: string, args: readonly string[]): Promise<{ ok: boolean; text: string } | undefined> =>
  new Promise((resolve) => {
    execFile(program, args, { timeout: QUERY_MS, windowsHide: true }, (error, stdout) => {
      if (error && typeof error.code !== 'number') resolve(undefined);
      else resolve({ ok: !error, text: stdout });
    });
  });

/**
 * Returns the state of the user's gateway service: a systemd user unit `perch`, a launchd agent `dev.perch.gateway` or a Windows task
 * `Perch`. If the system can't tell whether it runs, a gateway that answers on the port counts.
 */
export async function getServiceState(port: number): Promise<'running' | 'stopped' | 'not-installed'> {
  const runs = await queryServiceManager();
  if (runs === null) return 'not-installed';
  return (runs ?? (await isAnswering(port))) ? 'running' : 'stopped';
}

/** Null: not installed; undefined: unknown. */
async function queryServiceManager(): Promise<boolean | null | undefined> {
  if (process.platform === 'win32') {
    const task = await queryProgram('schtasks', ['/Query', '/TN', 'Perch', '/FO', 'CSV', '/NH']);
    // The output is localized: only the task's existence can be told.
    return task?.ok ? undefined : null;
  }
  if (process.platform === 'darwin') {
    if (!existsSync(join(homedir(), 'Library', 'LaunchAgents', 'dev.perch.gateway.plist'))) return null;
    const agent = await queryProgram('launchctl', ['print', `gui/${process.getuid?.() ?? ''}/dev.perch.gateway`]);
    return agent && agent.ok && /\bstate = running\b/.test(agent.text);
  }
  const config = process.env.XDG_CONFIG_HOME || join(homedir(), '.config');
  if (!existsSync(join(config, 'systemd', 'user', 'perch.service'))) return null;
  const unit = await queryProgram('systemctl', ['--user', 'is-active', 'perch.service']);
  return unit && (unit.text.trim() === '' ? undefined : unit.ok);
}

const isAnswering = (port: number): Promise<boolean> =>
  fetch(`${createLocalTarget(port).http}/health`, { redirect: 'error', signal: AbortSignal.timeout(QUERY_MS) }).then(
    (response) => response.ok,
    () => false,
  );
