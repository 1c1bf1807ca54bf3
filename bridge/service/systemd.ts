import { join } from 'node:path';
import type { ServiceMachine, RunProgram, ServiceProgram, ServiceManager, ProgramStep } from './service-types.ts';

const UNIT_NAME = 'perch.service';
const systemctl = (...args: string[]): ProgramStep => ['systemctl', '--user', ...args];

/** A systemd unit, run by the user's service manager. */
export function createSystemdService({ home, env }: ServiceMachine): ServiceManager {
  return {
    name: UNIT_NAME,
    path: join(env.XDG_CONFIG_HOME || join(home, '.config'), 'systemd', 'user', UNIT_NAME),
    text: createUnitFile,
    missing: async (run) => {
      const { code, stderr } = await run('systemctl', ['--user', 'show', '--property=Version']);
      if (code === 0) return undefined;
      const errorLine = stderr.trim().split('\n')[0];
      return `systemd is not running for this user${errorLine ? ` (${errorLine})` : ''}. Log in directly or by SSH, not with su or in a container.`;
    },
    end: [],
    start: [systemctl('daemon-reload'), systemctl('enable', UNIT_NAME), systemctl('restart', UNIT_NAME)],
    remove: [systemctl('disable', '--now', UNIT_NAME)],
    forget: [systemctl('daemon-reload'), systemctl('reset-failed', UNIT_NAME)],
    log: () => `journalctl --user --unit ${UNIT_NAME}`,
    hints: async (run: RunProgram) => {
      const { stdout } = await run('loginctl', ['show-user', '--property=Linger', '--value']);
      return stdout.trim() === 'no'
        ? ['The service stops when you log out. Run `loginctl enable-linger` to keep it running and start it at boot.']
        : [];
    },
  };
}

/** Discards standard output, which contains the link that signs a browser in. */
function createUnitFile({ command, environment }: ServiceProgram): string {
  const lines = Object.entries(environment).map(([name, value]) => `Environment=${quoteForSystemd(`${name}=${value}`)}`);
  return `[Unit]
Description=Perch agent gateway
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${command.map((word) => quoteForSystemd(word).replaceAll('$', '$$$$')).join(' ')}
${lines.join('\n')}
StandardOutput=null
UMask=0077
Restart=on-failure
RestartSec=5
KillMode=mixed
TimeoutStopSec=10

[Install]
WantedBy=default.target
`;
}

/** Quotes an argument for systemd (systemd.syntax, "Quoting"; `%` begins a specifier). */
const quoteForSystemd = (word: string): string => {
  const escaped = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('%', '%%');
  return /^[\w%@+=:,./-]+$/.test(escaped) ? escaped : `"${escaped}"`;
};
