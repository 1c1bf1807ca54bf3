import { chosenSection } from './requirement.ts';

/** The gateway as a service of the user's. */
export const service = [
  chosenSection('decisions, "Command line"', {
    'service/installs':
      '`perch gateway install` makes the gateway a service of this user’s, which answers when it ends; `uninstall` takes it away.',
    'service/systemd': 'On Linux it is a user unit of systemd, `perch.service`.',
    'service/launchd': 'On macOS it is an agent of launchd, `dev.perch.gateway`.',
    'service/task': 'On Windows it is a task, `Perch`.',
    'service/no-secrets': 'No secret of the environment it is installed from stands in the service’s definition.',
    'service/refused': 'Where the system has no such service, or refuses it, or the port is taken, one line says so.',
  }),
];
