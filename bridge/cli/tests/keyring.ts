import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** No keyring is reached from here: the system's own is nobody's to write to. */
export const noKeyring = (home: string) => ({
  PERCH_HOME: home,
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent',
  XDG_RUNTIME_DIR: home,
  HOME: home,
});

/** A keyring of its own on a bus of its own, and what is done while it is there. */
export const inKeyring = (home: string, script: string) =>
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
