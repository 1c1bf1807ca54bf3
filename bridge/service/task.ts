import { join } from 'node:path';
import { homeDirectory } from '../home.ts';
import type { Machine, Served, Service } from './definition.ts';
import { xml } from './xml.ts';

const NAME = 'Perch';

/** A Windows scheduled task that starts at logon. */
export function task({ home, env }: Machine): Service {
  const dir = homeDirectory(env, 'win32', home);
  const path = join(dir, 'service.xml');
  const end = ['schtasks', '/End', '/TN', NAME] as const;
  const user = env.USERDOMAIN ? `${env.USERDOMAIN}\\${env.USERNAME ?? ''}` : (env.USERNAME ?? '');
  return {
    name: NAME,
    path,
    text: (served) => definition(served, user),
    missing: async () => undefined,
    end: [end],
    start: [
      ['schtasks', '/Create', '/TN', NAME, '/XML', path, '/F'],
      ['schtasks', '/Run', '/TN', NAME],
    ],
    remove: [end, ['schtasks', '/Delete', '/TN', NAME, '/F']],
    forget: [],
    log: () => `schtasks /Query /TN ${NAME} /V /FO LIST`,
    hints: async () =>
      // A task can't set environment variables.
      env.PERCH_HOME ? [`The task reads PERCH_HOME from your environment. Set it with \`setx PERCH_HOME "${dir}"\`.`] : [],
  };
}

function definition({ command: [program, ...args] }: Served, user: string): string {
  return `<?xml version="1.0"?>
<Task version="1.3" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Perch agent gateway</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>${xml(user)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${xml(user)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>5</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${xml(program)}</Command>
      <Arguments>${xml(args.map(quoted).join(' '))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
}

/** Quotes an argument as Windows programs parse their command line (CommandLineToArgvW). */
const quoted = (word: string): string =>
  word !== '' && !/[\s"]/.test(word) ? word : `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
