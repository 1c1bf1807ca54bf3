import { join } from 'node:path';
import type { Machine, Run, Served, Service, Step } from './definition.ts';

const UNIT = 'perch.service';
const systemctl = (...args: string[]): Step => ['systemctl', '--user', ...args];

/** A systemd unit, run by the user's service manager. */
export function systemd({ home, env }: Machine): Service {
  return {
    name: UNIT,
    path: join(env.XDG_CONFIG_HOME || join(home, '.config'), 'systemd', 'user', UNIT),
    text: unit,
    missing: async (run) => {
      const { code, stderr } = await run('systemctl', ['--user', 'show', '--property=Version']);
      if (code === 0) return undefined;
      const said = stderr.trim().split('\n')[0];
      return `systemd is not running for this user${said ? ` (${said})` : ''}. Log in directly or by SSH, not with su or in a container.`;
    },
    end: [],
    start: [systemctl('daemon-reload'), systemctl('enable', UNIT), systemctl('restart', UNIT)],
    remove: [systemctl('disable', '--now', UNIT)],
    forget: [systemctl('daemon-reload'), systemctl('reset-failed', UNIT)],
    log: () => `journalctl --user --unit ${UNIT}`,
    hints: async (run: Run) => {
      const { stdout } = await run('loginctl', ['show-user', '--property=Linger', '--value']);
      return stdout.trim() === 'no'
        ? ['The service stops when you log out. Run `loginctl enable-linger` to keep it running and start it at boot.']
        : [];
    },
  };
}

/** Discards standard output, which contains the link that signs a browser in. */
function unit({ command, environment }: Served): string {
  const lines = Object.entries(environment).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`);
  return `[Unit]
Description=Perch agent gateway
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${command.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')}
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
const quoted = (word: string): string => {
  const escaped = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('%', '%%');
  return /^[\w%@+=:,./-]+$/.test(escaped) ? escaped : `"${escaped}"`;
};
