import { join } from 'node:path';
import type { Machine, Served, Service } from './definition.ts';
import { xml } from './xml.ts';

const LABEL = 'dev.perch.gateway';

/** A launchd agent in the user's session. */
export function launchd({ home, uid }: Machine): Service {
  const path = join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`);
  const target = `gui/${uid}/${LABEL}`;
  const out = ['launchctl', 'bootout', target] as const;
  return {
    name: LABEL,
    path,
    text: plist,
    missing: async (run) => {
      const { code } = await run('launchctl', ['print', `gui/${uid}`]);
      return code === 0 ? undefined : 'No launchd session for this user. Log in on the Mac’s screen first.';
    },
    end: [out],
    start: [
      ['launchctl', 'enable', target],
      ['launchctl', 'bootstrap', `gui/${uid}`, path],
    ],
    remove: [out],
    forget: [],
    log: (served) => logFile(served.home),
    hints: async () => [],
  };
}

const logFile = (home: string): string => join(home, 'service.log');

/** Discards standard output, which contains the link that signs a browser in. */
function plist({ command, environment, home }: Served): string {
  const entries = Object.entries(environment).map(([name, value]) => `    <key>${xml(name)}</key>\n    <string>${xml(value)}</string>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    <string>${xml(word)}</string>`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${entries.join('\n')}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>10</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardErrorPath</key>
  <string>${xml(logFile(home))}</string>
</dict>
</plist>
`;
}
