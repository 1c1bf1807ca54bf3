import { join } from 'node:path';
import type { ServiceMachine, ServiceProgram, ServiceManager } from './service-types.ts';
import { escapeXml } from './escape-xml.ts';

const SERVICE_LABEL = 'dev.perch.gateway';

/** A launchd agent in the user's session. */
export function createLaunchdService({ home, uid }: ServiceMachine): ServiceManager {
  const path = join(home, 'Library', 'LaunchAgents', `${SERVICE_LABEL}.plist`);
  const target = `gui/${uid}/${SERVICE_LABEL}`;
  const out = ['launchctl', 'bootout', target] as const;
  return {
    name: SERVICE_LABEL,
    path,
    text: createPlist,
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
    log: (served) => getLogFile(served.home),
    hints: async () => [],
  };
}

const getLogFile = (home: string): string => join(home, 'service.log');

/** Discards standard output, which contains the link that signs a browser in. */
function createPlist({ command, environment, home }: ServiceProgram): string {
  const entries = Object.entries(environment).map(
    ([name, value]) => `    <key>${escapeXml(name)}</key>\n    <string>${escapeXml(value)}</string>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${SERVICE_LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    <string>${escapeXml(word)}</string>`).join('\n')}
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
  <string>${escapeXml(getLogFile(home))}</string>
</dict>
</plist>
`;
}
