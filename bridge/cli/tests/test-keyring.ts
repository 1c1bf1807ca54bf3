import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Environment without access to a keyring, so that tests do not write to the system's. */
export const createEnvWithoutKeyring = (home: string) => ({
  PERCH_HOME: home,
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent',
  XDG_RUNTIME_DIR: home,
  HOME: home,
});

/** Runs a script with a separate keyring on a separate D-Bus. */
export const runInKeyring = (home: string, script: string) =>
  spawnSync(
    'dbus-run-session',
    ['--', 'sh', '-c', `printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null && ${script}`],
    {
      encoding: 'utf8',
      timeout: 60_000,
      env: { PATH: process.env['PATH'], HOME: home, XDG_RUNTIME_DIR: home, XDG_DATA_HOME: join(home, 'data'), PERCH_HOME: home },
    },
  );
export const hasKeyring = spawnSync('sh', ['-c', 'command -v gnome-keyring-daemon && command -v dbus-run-session']).status === 0;
