import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Parser } from 'htmlparser2';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import type { ServiceMachine, RunProgram, ServiceProgram } from './service-types.ts';
import { installService, getServiceManager, uninstallService } from './install-service.ts';

let home: string;
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'perch-service-'))));
afterEach(() => rmSync(home, { recursive: true }));

const NODE = process.execPath;
/** A path with every special character. */
const ODD = '/opt/a b/"q" 100% $HOME \\ é & <x>/perch.js';

const served = (program = '/opt/perch.js'): ServiceProgram => ({
  command: [NODE, program, 'gateway', 'run', '--port', '7333'],
  environment: { PATH: '/usr/bin:/bin', PERCH_HOME: `/home/a b/50%` },
  home: '/home/a b/50%',
  port: 7333,
});
const machine = (platform: NodeJS.Platform): ServiceMachine => ({
  platform,
  home,
  uid: 501,
  env: { USERNAME: 'ann', USERDOMAIN: 'HOUSE' },
});

/** Records the commands that are run. Each succeeds unless `ends` returns a different result. */
function recorded(ends: (line: string) => { code: number; stderr?: string } | undefined = () => undefined): {
  lines: string[];
  run: RunProgram;
} {
  const lines: string[] = [];
  return {
    lines,
    run: async (program, args) => {
      const line = [program, ...args].join(' ');
      lines.push(line);
      return { stdout: '', stderr: '', code: 0, ...ends(line) };
    },
  };
}

/** Texts of the elements of an XML document that contain no other elements. */
function texts(document: string): string[] {
  const found: string[] = [];
  let text = '';
  const parser = new Parser(
    { onopentag: () => (text = ''), ontext: (part) => (text += part), onclosetag: () => (text.trim() && found.push(text), (text = '')) },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(document);
  return found;
}

verifies('service/systemd', 'the unit is written, enabled and started, and taken away again', async () => {
  const { lines, run } = recorded();
  const { path } = await installService(served(), { machine: machine('linux'), run });
  expect(path).toBe(join(home, '.config/systemd/user/perch.service'));
  expect(readFileSync(path, 'utf8')).toContain(`ExecStart=${NODE} /opt/perch.js gateway run --port 7333\n`);
  expect(await uninstallService({ machine: machine('linux'), run })).toBe(true);
  expect(existsSync(path)).toBe(false);
  expect(await uninstallService({ machine: machine('linux'), run })).toBe(false);
  expect(lines.map((line) => line.replace('systemctl --user ', ''))).toEqual([
    ...['show --property=Version', 'daemon-reload', 'enable perch.service', 'restart perch.service'],
    ...['disable --now perch.service', 'daemon-reload', 'reset-failed perch.service'],
  ]);
});

verifies('service/systemd', 'whatever stands in its paths', () => {
  const unit = getServiceManager(machine('linux')).text(served(ODD));
  expect(unit).toContain(`ExecStart=${NODE} "/opt/a b/\\"q\\" 100%% $$HOME \\\\ é & <x>/perch.js" gateway`);
  expect(unit).toContain('Environment="PERCH_HOME=/home/a b/50%%"\n');
  expect(unit).toContain('StandardOutput=null\n');
});

const analyze = spawnSync('systemd-analyze', ['--version']).status === 0;
test.runIf(analyze)('systemd finds no fault in the unit (skipped where there is no systemd-analyze)', () => {
  const verify = (name: string, text: string) => {
    const file = join(home, name);
    writeFileSync(file, text);
    return spawnSync('systemd-analyze', ['verify', '--user', file], { encoding: 'utf8', env: { ...process.env, XDG_RUNTIME_DIR: home } });
  };
  const unit = getServiceManager(machine('linux')).text(served(ODD));
  const { status, stderr } = verify('perch.service', unit);
  expect({ status, faults: stderr.split('\n').filter((line) => line.includes('perch.service')) }).toEqual({ status: 0, faults: [] });
  expect(verify('broken.service', unit.replace('KillMode=mixed', 'KillMode=gently')).stderr).toContain('gently');
});

verifies('service/launchd', 'the agent is written and started, and taken away again', async () => {
  const { lines, run } = recorded((line) => (line.includes('bootout') ? { code: 3, stderr: 'No such process' } : undefined));
  const { path } = await installService(served(ODD), { machine: machine('darwin'), run });
  expect(path).toBe(join(home, 'Library/LaunchAgents/dev.perch.gateway.plist'));
  const text = readFileSync(path, 'utf8');
  expect(texts(text)).toEqual(expect.arrayContaining(['dev.perch.gateway', NODE, ODD, 'gateway', 'run', 'PERCH_HOME', '/home/a b/50%']));
  expect(text).not.toContain('StandardOutPath');
  expect(await uninstallService({ machine: machine('darwin'), run })).toBe(true);
  expect(existsSync(path)).toBe(false);
  expect(lines.map((line) => line.replace('launchctl ', ''))).toEqual([
    ...['print gui/501', 'bootout gui/501/dev.perch.gateway', 'enable gui/501/dev.perch.gateway', `bootstrap gui/501 ${path}`],
    'bootout gui/501/dev.perch.gateway',
  ]);
});

verifies('service/task', 'the task is made and begun, and taken away again', async () => {
  const { lines, run } = recorded((line) => (line.includes('/End') ? { code: 1 } : undefined));
  const { path } = await installService(served('C:\\Program Files\\perch\\'), { machine: machine('win32'), run });
  const text = readFileSync(path, 'utf8');
  expect(texts(text)).toEqual(expect.arrayContaining(['HOUSE\\ann', NODE, '"C:\\Program Files\\perch\\\\" gateway run --port 7333']));
  expect(/^[\x20-\x7e\n]*$/.test(getServiceManager(machine('win32')).text(served(ODD)))).toBe(true);
  expect(await uninstallService({ machine: machine('win32'), run })).toBe(true);
  expect(lines).toEqual([
    ...['schtasks /End /TN Perch', `schtasks /Create /TN Perch /XML ${path} /F`, 'schtasks /Run /TN Perch'],
    ...['schtasks /End /TN Perch', 'schtasks /Delete /TN Perch /F'],
  ]);
});

verifies('service/refused', 'without a service manager, or if it refuses, it says so and writes nothing', async () => {
  const none = recorded(() => ({ code: 1, stderr: 'Failed to connect to bus: No medium found\n' }));
  await expect(installService(served(), { machine: machine('linux'), run: none.run })).rejects.toThrow(
    /^systemd is not running for this user \(Failed to connect to bus/,
  );
  expect(existsSync(getServiceManager(machine('linux')).path)).toBe(false);
  expect(none.lines).toHaveLength(1);
  const refusing = recorded((line) => (line.includes('enable') ? { code: 1, stderr: 'Unit is masked.\n' } : undefined));
  await expect(installService(served(), { machine: machine('linux'), run: refusing.run })).rejects.toThrow(
    /^`systemctl --user enable perch.service` failed: Unit is masked\. .*perch\.service was written\.$/,
  );
  expect(() => getServiceManager(machine('sunos'))).toThrow('are not supported on sunos');
});

test.runIf(process.platform !== 'win32')('only its owner can change the definition', async () => {
  const { path } = await installService(served(), { machine: machine('linux'), run: recorded().run });
  expect(execFileSync('ls', ['-l', path], { encoding: 'utf8' })).toMatch(/^-rw-------/);
});
