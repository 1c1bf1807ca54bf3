import { join } from 'node:path';
import { getHomeDirectory } from '../home-directory.ts';
import type { ServiceMachine, ServiceProgram, ServiceManager } from './service-types.ts';
import { escapeXml } from './escape-xml.ts';

const TASK_NAME = 'Perch';

/** A Windows scheduled task that starts at logon. */
export function createScheduledTask({ home, env }: ServiceMachine): ServiceManager {
  const dir = getHomeDirectory(env, 'win32', home);
  const path = join(dir, 'service.xml');
  const end = ['schtasks', '/End', '/TN', TASK_NAME] as const;
  const user = env.USERDOMAIN ? `${env.USERDOMAIN}\\${env.USERNAME ?? ''}` : (env.USERNAME ?? '');
  return {
    name: TASK_NAME,
    path,
    text: (served) => createTaskDefinition(served, user),
    missing: async () => undefined,
    end: [end],
    start: [
      ['schtasks', '/Create', '/TN', TASK_NAME, '/XML', path, '/F'],
      ['schtasks', '/Run', '/TN', TASK_NAME],
    ],
    remove: [end, ['schtasks', '/Delete', '/TN', TASK_NAME, '/F']],
    forget: [],
    log: () => `schtasks /Query /TN ${TASK_NAME} /V /FO LIST`,
    hints: async () =>
      // A task can't set environment variables.
      env.PERCH_HOME ? [`The task reads PERCH_HOME from your environment. Set it with \`setx PERCH_HOME "${dir}"\`.`] : [],
  };
}

function createTaskDefinition({ command: [program, ...args] }: ServiceProgram, user: string): string {
  return `<?xml version="1.0"?>
<Task version="1.3" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Perch agent gateway</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>${escapeXml(user)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${escapeXml(user)}</UserId>
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
      <Command>${escapeXml(program)}</Command>
      <Arguments>${escapeXml(args.map(quoteForWindows).join(' '))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
}

/** Quotes an argument as Windows programs parse their command line (CommandLineToArgvW). */
const quoteForWindows = (word: string): string =>
  word !== '' && !/[\s"]/.test(word) ? word : `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
